"""Free runs of a fitted model in the user's units: the part of the contract for that.

A method provides `warmup` and `_simulate`, in scaled units and at its own rate. All that a user
calls is here: `simulate`, `free_runs`, `evaluate` and `score`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from prssm.data.coerce import is_collection
from prssm.data.domain import Domain
from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.record import Record
from prssm.data.resample import thinned_inputs
from prssm.data.scaling import Scaler
from prssm.foundation.errors import warn
from prssm.foundation.precision import double_precision
from prssm.models.checks import cautions_about, checked_start, prepared_for_run, records_for
from prssm.models.simulated import Simulated
from prssm.models.whereabouts import Whereabouts
from prssm.prediction.cautions import about_lost, about_seen
from prssm.prediction.metrics import evaluate, r_squared
from prssm.prediction.prediction import Prediction

_CAUTIONS = 3  # lines that a call says at most


class FreeRunning(Whereabouts):
    """The methods that run a model without measurements; a method of the registry is one."""

    scaler_: Scaler
    input_names_: tuple[str, ...]
    output_names_: tuple[str, ...]
    dt_: float | None
    stride_: int = 1  # rows of a recording that one step of the model takes
    domain_: Domain = Domain()  # what the training data covered
    preprocessing_: Preprocessing = Preprocessing()  # what data pass before the model sees them

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @property
    @abstractmethod
    def warmup(self) -> int:
        """How many first samples of a recording a simulation may look at."""

    @abstractmethod
    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        """Free run over scaled inputs (T, Du) from the first outputs.

        These have at most `warmup` rows, NaN where missing.
        """

    def _simulate_briefly(
        self, u: np.ndarray, y: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        """As `_simulate` where fewer outputs may be read: those of all of the first rows.

        Override where a method can make more of them than of the first steps' alone.
        """
        return self._simulate(u, y[:: self.stride_], samples, seed=seed)

    @overload
    def simulate(
        self,
        data: Record,
        y: None = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
    ) -> Prediction: ...

    @overload
    def simulate(
        self,
        data: Sequence[Record],
        y: None = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
    ) -> list[Prediction]: ...

    @overload
    def simulate(
        self,
        data: Any,
        y: Any = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        time: str | None = None,
    ) -> Any: ...

    def simulate(
        self,
        data: Any,
        y: Any = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        time: str | None = None,
    ) -> Any:
        """Free run over the inputs of `data`, started from its first `warmup` outputs.

        Later outputs are never read. `start` is a smaller number of first rows to read outputs of.

        Data are as in `fit`; columns are those of training where none are named. One experiment
        gives a Prediction; a list or tuple of experiments, also of one, gives a list of them.
        Outputs may be NaN or absent; without any, the run starts from the prior over the first
        state. A `PrssmWarning` says what the run must be distrusted for.
        """
        predictions = self._runs(
            data,
            y,
            samples=samples,
            seed=seed,
            start=start,
            inputs=inputs,
            outputs=outputs,
            time=time,
        )
        several = is_collection(data, y) or len(predictions) > 1
        return predictions if several else predictions[0]

    def free_runs(
        self,
        data: Any,
        y: Any = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
        **columns: Any,
    ) -> list[Prediction]:
        """As `simulate`, always a list and without a warning: for programs that read `cautions`."""
        self._check_fitted()
        start = None if start is None else checked_start(start)
        records = records_for(self, data, y, **columns)
        return [self._simulate_record(record, samples, seed, start=start) for record in records]

    def evaluate(
        self,
        data: Any,
        y: Any = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        start: int | None = None,
        **columns: Any,
    ) -> dict[str, float]:
        """Metrics of the free run against what was measured, pooled over records.

        They are the RMSE, the fit, the log-likelihood and the coverage of the band. Data, `start`
        and columns (`inputs`, `outputs`, `time`) are as in `simulate`.
        """
        predictions = self._runs(data, y, samples=samples, seed=seed, start=start, **columns)
        return evaluate(predictions, self.scaler_.y_std)

    def score(self, data: Any, y: Any = None, **columns: Any) -> float:
        """R2 of the free run, averaged over outputs; `evaluate` gives all metrics.

        1 is perfect, 0 as good as the mean of what was measured.
        """
        return r_squared(self._runs(data, y, **columns))

    def _runs(self, data: Any, y: Any, **options: Any) -> list[Prediction]:
        """Free runs over all experiments; what they must be distrusted for is said."""
        predictions = self.free_runs(data, y, **options)
        said = [text for prediction in predictions for text in prediction.cautions]
        for text in said[:_CAUTIONS]:
            warn(text)
        if len(said) > _CAUTIONS:
            warn(f"and {len(said) - _CAUTIONS} more such lines: see `cautions` of the other runs")
        return predictions

    def _simulate_record(
        self, record: Record, samples: int | None, seed: int, *, start: int | None
    ) -> Prediction:
        """`start` is how many first rows' outputs may be read; none: the warm-up's."""
        steps = self.preprocessing_
        given = len(record)
        record, seen = prepared_for_run(self, record, start)
        read = self.warmup
        if start is not None:  # rows as the model sees them
            read = min(read, max(1, start * len(seen) // given))
        cautions = cautions_about(self, seen)
        scaled = self.scaler_.scale(seen)
        y_start = scaled.y[:read] if record.output_dim else np.zeros((0, len(self.output_names_)))
        with double_precision():
            u = thinned_inputs(scaled.u, self.stride_)
            if read < self.warmup:
                run = self._simulate_briefly(u, y_start, samples, seed=seed)
            else:
                run = self._simulate(u, y_start[:: self.stride_], samples, seed=seed)
            distance = self._distance(run, u)
            run = run if distance is None else self._widened(run, distance)
        run = run.at_all_rows(self.stride_, len(record)) if self.stride_ > 1 else run
        if np.any(steps.lost_variance):
            lost = steps.lost_variance / self.scaler_.y_std**2
            run = run.with_std(np.sqrt(run.std**2 + lost))
        prediction = Prediction(
            mean=steps.undone(self.scaler_.outputs(run.mean), record),
            std=self.scaler_.spreads(run.std),
            samples=None
            if run.samples is None
            else steps.undone(self.scaler_.outputs(run.samples), record),
            state_mean=run.state_mean,
            state_std=run.state_std,
            measured=record.y if record.output_dim else None,
            inputs=record.u,
            warmup=min(len(y_start), len(record)),
            dt=record.dt or self.dt_,
            input_names=self.input_names_,
            output_names=self.output_names_,
            name=record.name,
            distance=self._distance_at_all_rows(distance, scaled.u),
            inputs_outside=self.domain_.outside(seen),
            stamps=record.stamps,
            library=record.library,
            origin=record.origin,
        )
        # One line is enough: the range of the inputs says more than the distance does.
        far = "" if np.any(prediction.inputs_outside) else about_seen(prediction)
        said = [*cautions, far, about_lost(prediction)]
        return replace(prediction, cautions=tuple(text for text in said if text))
