"""What the autoregressive methods share.

The lag window, the free run from the first samples, and the model file. A new method is a subclass
of NarxEstimator with `_learn`.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data.lag_windows import choose_lags, lagged
from prssm.data.record import Record
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential, squared_exponential_only
from prssm.inference.state_space import StateSpace
from prssm.models.estimator import Estimator
from prssm.models.lagged import LEAST_WARMUP
from prssm.models.narx.free_run import Run, Window, draw_paths, free_run
from prssm.models.narx.space import NarxSpace
from prssm.models.simulated import Simulated
from prssm.models.stored_arrays import MOST_LAGS, Shape, check, whole_number
from prssm.training.log import TrainingLog
from prssm.training.session import Session


class Learnt(NamedTuple):
    """What a method learns: posteriors and two noises.

    The arrays of the posteriors lead with the output axis; the noises are (Dy,).
    """

    gps: Conditional
    process_std: np.ndarray
    output_std: np.ndarray
    training: TrainingLog


@dataclass(frozen=True, eq=False)
class NarxModel:
    """What a fit has learnt: a posterior and what surrounds it.

    The arrays of the posterior lead with the output axis.
    """

    gps: Conditional
    process_std: np.ndarray  # (Dy,) noise that enters the window with each new output
    output_std: np.ndarray  # (Dy,) noise that is in the measurements alone
    usual_mean: np.ndarray  # (Dy,) training outputs: the start where nothing was measured
    usual_std: np.ndarray
    lags: int


class NarxEstimator(Estimator):
    """y_t = f(y_{t-1}..y_{t-L}, u_{t-1}..u_{t-L}) + process noise, one GP for each output.

    All GPs have the same window. It holds outputs without sensor noise; a method whose window is
    the measurements has no sensor noise.

    A free run is given the first L samples and reproduces them; it predicts from row L on. The
    `warmup` rows after that serve only to bridge gaps among the first L. Without any measured
    output it starts from the training mean and spread.
    """

    config: Any
    model_: NarxModel

    @property
    def warmup(self) -> int:
        lags = self.model_.lags if hasattr(self, "model_") else self.config.lags or 1
        return max(LEAST_WARMUP, lags + 1)

    @property
    def lags_(self) -> int:
        """The number of lags in use."""
        return self.model_.lags

    @abstractmethod
    def _learn(self, records: list[Record], lags: int, session: Session) -> Learnt:
        """The method's own part of a fit, from scaled records."""

    def _fit(self, records: list[Record], session: Session) -> None:
        lags = self.config.lags or choose_lags(records)
        learnt = self._learn(records, lags, session)
        y = np.concatenate([record.y for record in records])
        self.model_ = NarxModel(
            learnt.gps,
            np.asarray(learnt.process_std),
            np.asarray(learnt.output_std),
            usual_mean=np.nanmean(y, axis=0),
            usual_std=np.nanstd(y, axis=0),
            lags=lags,
        )
        self.training_ = learnt.training

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        model = self.model_
        lags = min(self.model_.lags, len(u))
        given, given_var = self._given_rows(y_start, lags)
        process_var = model.process_std**2
        output_var = model.output_std**2
        start_std = np.sqrt(given_var + process_var + output_var)
        start = Window(given[::-1].ravel(), np.diag((given_var + output_var)[::-1].ravel()))
        if len(u) <= model.lags:
            run = _nothing_to_run(start, len(output_var))
        else:
            run = free_run(
                model.gps,
                jnp.asarray(process_var),
                jax.tree.map(jnp.asarray, start),
                u=jnp.asarray(lagged(u, lags)),
                propagation=self.config.propagation,
            )
            run = jax.tree.map(np.asarray, run)
        std = np.sqrt(
            np.maximum(np.diagonal(run.covariance, axis1=1, axis2=2), 0.0)
            + process_var
            + output_var
        )
        drawn = None
        if samples is not None:
            random = np.random.default_rng(seed)
            first = given + start_std * random.standard_normal((samples, *given.shape))
            path = draw_paths(run, process_var, start, count=samples, random=random)
            path += model.output_std * random.standard_normal(path.shape)
            drawn = np.concatenate([first, path], axis=1)
        return Simulated(np.concatenate([given, run.mean]), np.concatenate([start_std, std]), drawn)

    def _state_space(self) -> StateSpace:
        model = self.model_
        return NarxSpace(
            model.gps,
            model.lags,
            process_var=model.process_std**2,
            output_var=model.output_std**2,
            usual_mean=model.usual_mean,
            usual_std=model.usual_std,
        )

    def _given_rows(self, y_start: np.ndarray, lags: int) -> tuple[np.ndarray, np.ndarray]:
        """The first L outputs (gaps bridged) and their variance.

        The variance is zero, or the training spread where no value was measured.
        """
        model = self.model_
        shape = (lags, len(model.output_std))
        if len(y_start) < lags or len(y_start) < 2:
            y_start = np.concatenate(
                [y_start, np.full((max(lags, 2) - len(y_start), shape[1]), np.nan)]
            )
        filled = Record(None, y_start).outputs_filled()[:lags]
        unknown = np.isnan(y_start).all(axis=0)
        return (
            np.where(unknown, model.usual_mean, filled),
            np.where(unknown, model.usual_std**2, np.zeros(shape)),
        )

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        model = self.model_
        gps = self.model_.gps
        kernel = squared_exponential_only(gps.kernel)
        arrays = {
            "log_std": kernel.log_std,
            "log_lengthscale": kernel.log_lengthscale,
            "zeta": gps.zeta,
            "weights": gps.weights,
            "quadratic": gps.quadratic,
            "process_std": model.process_std,
            "output_std": model.output_std,
            "usual_mean": model.usual_mean,
            "usual_std": model.usual_std,
        }
        values, curves = self.training_.to_parts() if self.training_ else ({}, {})
        return (
            {"lags": model.lags, "training": values},
            {name: np.asarray(array) for name, array in arrays.items()}
            | {f"training.{name}": array for name, array in curves.items()},
        )

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        outputs = len(self.output_names_)
        lags = whole_number(values, "lags", least=1, most=MOST_LAGS)
        window = lags * (outputs + len(self.input_names_))
        check(arrays, _STORED, y=outputs, window=window)
        kernel = SquaredExponential(
            jnp.asarray(arrays["log_std"]), jnp.asarray(arrays["log_lengthscale"])
        )
        gps = Conditional(
            kernel, *(jnp.asarray(arrays[name]) for name in ("zeta", "weights", "quadratic"))
        )
        self.model_ = NarxModel(
            gps,
            arrays["process_std"],
            arrays["output_std"],
            usual_mean=arrays["usual_mean"],
            usual_std=arrays["usual_std"],
            lags=lags,
        )
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)


# lengths: outputs, lags of outputs and inputs, points
_STORED: dict[str, Shape] = {
    "log_std": ("y",),
    "log_lengthscale": ("y", "window"),
    "zeta": ("y", "n", "window"),
    "weights": ("y", "n"),
    "quadratic": ("y", "n", "n"),
    "process_std": ("y",),
    "output_std": ("y",),
    "usual_mean": ("y",),
    "usual_std": ("y",),
}


def stacked(parts: Sequence[Any]) -> Any:
    """Equal trees, one for each output, as one tree whose arrays lead with the output axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts)


def _nothing_to_run(start: Window, outputs: int) -> Run:
    """The run of a record that ends within the given rows."""
    size = len(start.mean)
    return Run(
        np.zeros((0, outputs)),
        np.zeros((0, outputs, outputs)),
        np.zeros((0, size, outputs)),
        window=Window(np.zeros((0, size)), np.zeros((0, size, size))),
    )
