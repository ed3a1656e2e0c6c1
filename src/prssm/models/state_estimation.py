"""What a fitted model says of the state given measurements: the part of the contract for that.

A method provides `_state_space`, its model as the filters see it. All that a user calls is here:
`observer`, `filter`, `smooth`, `predict` and `residuals`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from prssm.data.coerce import is_collection
from prssm.data.domain import Domain
from prssm.data.preprocessing.pipeline import Prepared, Preprocessing
from prssm.data.record import Record
from prssm.data.resample import at_all_rows, thinned_inputs
from prssm.data.scaling import Scaler
from prssm.foundation.errors import DataError, OptionError, warn
from prssm.inference.filtering import Filtered, ahead, filter_rows, rule_of
from prssm.inference.mixing import mixed
from prssm.inference.observer import Names, Observer
from prssm.inference.smoother import smooth
from prssm.inference.spaces.noisier import Noisier
from prssm.inference.state_space import Belief, StateSpace, windows
from prssm.prediction.estimate import Estimate
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import LAGS, Residuals

T = TypeVar("T")


class StateEstimation:
    """The methods that take measurements in; a method of the registry gives `_state_space`."""

    scaler_: Scaler
    input_names_: tuple[str, ...]
    output_names_: tuple[str, ...]
    dt_: float | None
    stride_: int
    preprocessing_: Preprocessing
    domain_: Domain

    @abstractmethod
    def _state_space(self) -> StateSpace:
        """The fitted model as the filters see it, in scaled units and at its own rate."""

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @abstractmethod
    def _coerced(self, data: Any, y: Any) -> list[Prepared]: ...

    @abstractmethod
    def simulate(self, data: Any, y: Any = None) -> Any: ...

    def observer(self) -> Observer:
        """A filter that takes in one sample after another, for a running system."""
        self._check_fitted()
        self.preprocessing_.check_row_by_row("observer")
        names = Names(self.input_names_, self.output_names_, self.dt_, self.stride_)
        return Observer(self._state_space(), self.scaler_, names, domain=self.domain_)

    @overload
    def filter(self, data: Record, y: None = None, *, method: str = "extended") -> Estimate: ...

    @overload
    def filter(self, data: Any, y: Any = None, *, method: str = "extended") -> Any: ...

    def filter(self, data: Any, y: Any = None, *, method: str = "extended") -> Any:
        """State and outputs at every row, given the measurements up to that row.

        `method` is 'extended' or 'unscented'. Lists of experiments give lists, as in `simulate`.
        """
        return self._each(data, y, lambda log: self._filtered(log, method))

    @overload
    def smooth(self, data: Record, y: None = None, *, method: str = "extended") -> Estimate: ...

    @overload
    def smooth(self, data: Any, y: Any = None, *, method: str = "extended") -> Any: ...

    def smooth(self, data: Any, y: Any = None, *, method: str = "extended") -> Any:
        """State and outputs at every row, given the measurements of the whole recording."""
        return self._each(data, y, lambda log: self._smoothed(log, method))

    def predict(
        self,
        data: Any,
        y: Any = None,
        *,
        horizon: int | None = None,
        method: str = "extended",
    ) -> Any:
        """Every row from the measurements up to `horizon` rows before it, as a Prediction.

        Inputs count as known up to the row itself. The first `horizon` rows have no measurement
        behind them and come from the prior of the first state. Without a horizon this is
        scikit-learn's `predict`: the mean of the free run as an array.
        """
        if horizon is None:
            self._check_fitted()
            runs = self.simulate(data, y)
            return [run.mean for run in runs] if isinstance(runs, list) else runs.mean
        whole = isinstance(horizon, int | np.integer) and not isinstance(horizon, bool)
        if not whole or horizon < 1:
            raise OptionError(f"horizon: expected a number of rows of at least 1, got {horizon!r}")
        return self._each(data, y, lambda log: self._predicted(log, int(horizon), method))

    def residuals(self, data: Any, y: Any = None, *, lags: int = LAGS) -> Residuals:
        """Errors one step ahead: are they white, and independent of past inputs?

        What they still hold, a better model would know. Experiments are pooled.
        """
        self._check_fitted()
        parts = []
        inputs = []
        for log in self._coerced(data, y):
            found, steps, _ = self._run(log, "extended")
            weight = found.weight_before()
            variance = np.diagonal(found.seen.variance, axis1=-2, axis2=-1)
            mean, spread = mixed(weight, found.output, variance)
            parts.append((steps.y - mean) / np.sqrt(spread))
            inputs.append(steps.u)
        return Residuals.of(
            parts,
            inputs,
            lags=lags,
            output_names=self.output_names_,
            input_names=self.input_names_,
        )

    # ---- shared work ----

    def _each(self, data: Any, y: Any, work: Callable[[Prepared], T]) -> T | list[T]:
        self._check_fitted()
        with np.errstate(all="ignore"):  # a member that is lost shows in its weight
            found = [work(log) for log in self._coerced(data, y)]
        return found if is_collection(data, y) else found[0]

    def _run(self, log: Prepared, method: str) -> tuple[Filtered, Record, StateSpace]:
        """The filter over a recording; its rows as steps of the model; the model."""
        record = log.seen
        if not record.output_dim or np.isnan(record.y).all():
            raise DataError(f"{record.name}: expected measured outputs, got none")
        rule = rule_of(method)
        scaled = self.scaler_.scale(record)
        stride = self.stride_
        u = thinned_inputs(scaled.u, stride)
        y = scaled.y[::stride]
        beyond = np.full((len(u) - len(y), y.shape[1]), np.nan)
        steps = Record(u, np.concatenate([y, beyond]), name=record.name)
        space = self._noisy_space()
        with np.errstate(all="ignore"):
            found = filter_rows(space, steps.u, steps.y, rule)
        if not np.isfinite(found.evidence).all():
            row = int(np.flatnonzero(~np.isfinite(found.evidence))[0]) * stride
            raise DataError(
                f"{record.name}: row {row} is so far from what was expected that the model knows "
                "no state for it"
            )
        return found, steps, space

    def _noisy_space(self) -> StateSpace:
        """The model as the filters see it; what a low-pass took from outputs is noise of them."""
        lost = self.preprocessing_.lost_variance
        space = self._state_space()
        return Noisier(space, lost / self.scaler_.y_std**2) if np.any(lost) else space

    def _filtered(self, log: Prepared, method: str) -> Estimate:
        record = log.measured
        found, steps, space = self._run(log, method)
        weight = np.exp(found.log_weight)
        now = self._outputs(space, found.filtered, steps.u, weight=weight, method=method)
        ahead_weight = found.weight_before()
        variance = np.diagonal(found.seen.variance, axis1=-2, axis2=-1)
        expected, spread = mixed(ahead_weight, found.output, variance)
        before = self._outputs(space, found.predicted, steps.u, weight=ahead_weight, method=method)
        stride = self.stride_
        rows = len(record)
        mean, std = (
            _towards(here, there[1:], stride, rows=rows)
            for here, there in zip(now, before, strict=True)
        )
        return self._estimate(
            record,
            mean,
            std,
            state=_towards_state(space, found, stride, rows),
            innovation=_at_steps(steps.y - expected, stride, rows),
            innovation_std=_at_steps(np.sqrt(spread), stride, rows),
            evidence=found.evidence,
            known=~np.isnan(steps.y),
        )

    def _smoothed(self, log: Prepared, method: str) -> Estimate:
        record = log.measured
        found, steps, space = self._run(log, method)
        belief = smooth(space, found, steps.u, rule_of(method))
        weight = np.broadcast_to(np.exp(found.log_weight[:, -1:]), found.log_weight.shape)
        slow = self._outputs(space, belief, steps.u, weight=weight, method=method)
        state = Belief(belief.mean[:1], belief.covariance[:1])
        variance = np.diagonal(state.covariance, axis1=-2, axis2=-1)[0, :, : space.shown]
        parts = (*slow, state.mean[0, :, : space.shown], np.sqrt(np.maximum(variance, 0.0)))
        mean, std, state_mean, state_std = (
            at_all_rows(part, self.stride_, len(record)) for part in parts
        )
        return self._estimate(record, mean, std, state=(state_mean, state_std))

    def _outputs(
        self, space: StateSpace, belief: Belief, u: np.ndarray, *, weight: np.ndarray, method: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of the outputs without the sensors' white noise, (T, Dy)."""
        inputs = windows(u, space.lags)
        expected = rule_of(method).predict_output(space, belief, inputs)
        noise = space.output(belief.mean, inputs).noise
        variance = np.diagonal(expected.variance - noise, axis1=-2, axis2=-1)
        mean, spread = mixed(weight, expected.output, np.maximum(variance, 0.0))
        return mean, np.sqrt(spread)

    def _estimate(
        self,
        record: Record,
        mean: np.ndarray,
        std: np.ndarray,
        *,
        state: tuple[np.ndarray, np.ndarray],
        innovation: np.ndarray | None = None,
        innovation_std: np.ndarray | None = None,
        evidence: np.ndarray | None = None,
        known: np.ndarray | None = None,
    ) -> Estimate:
        """In the data's own units."""
        scaler = self.scaler_
        rows = None
        if evidence is not None and known is not None:
            density = evidence - known @ np.log(scaler.y_std)
            rows = _at_steps(density[:, None], self.stride_, len(record), empty=0.0)[:, 0]
        return Estimate(
            mean=self.preprocessing_.undone(scaler.outputs(mean), record),
            std=scaler.spreads(std),
            state_mean=state[0],
            state_std=state[1],
            measured=record.y,
            inputs=record.u,
            dt=record.dt or self.dt_,
            input_names=self.input_names_,
            output_names=self.output_names_,
            name=record.name,
            stamps=record.stamps,
            library=record.library,
            label="estimate",
            innovation=None if innovation is None else scaler.spreads(innovation),
            innovation_std=None if innovation_std is None else scaler.spreads(innovation_std),
            row_log_likelihood=rows,
        )

    def _predicted(self, log: Prepared, horizon: int, method: str) -> Prediction:
        record = log.measured
        if horizon >= len(record):
            warn(
                f"{record.name}: no row is predicted from a measurement: horizon is {horizon}, but "
                f"the recording has {len(record)} rows"
            )
        found, steps, space = self._run(log, method)
        mean, std = self._ahead(found, steps, space, rows=len(record), horizon=horizon)
        return Prediction(
            mean=self.preprocessing_.undone(self.scaler_.outputs(mean), record),
            std=self.scaler_.spreads(std),
            measured=record.y,
            inputs=record.u,
            dt=record.dt or self.dt_,
            input_names=self.input_names_,
            output_names=self.output_names_,
            name=record.name,
            stamps=record.stamps,
            library=record.library,
            label=f"{horizon} row{'s' if horizon > 1 else ''} ahead",
        )

    def _ahead(
        self, found: Filtered, steps: Record, space: StateSpace, *, rows: int, horizon: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and deviation of every row's measurement, (rows, Dy), in scaled units.

        At a slow rate a row lies between two steps, both predicted from the step at or before
        `horizon` rows ago.
        """
        stride = self.stride_
        if stride == 1:
            return _moments(ahead(space, found, steps.u, horizon))
        row = np.arange(rows)
        step = row // stride
        origin = (row - horizon) // stride
        origin[row < horizon] = -1
        share = (row % stride / stride)[:, None]
        parts = [np.zeros((rows, space.output_dim)) for _ in range(2)]
        for more, part_share in ((0, 1.0 - share), (1, share)):
            target = np.minimum(step + more, len(steps) - 1)
            for distance in np.unique(target - origin):
                mine = target - origin == distance
                slow = self._slow_ahead(found, steps, space, distance=int(distance))
                for part, values in zip(parts, slow, strict=True):
                    part[mine] += (part_share * values[target])[mine]
        return parts[0], parts[1]

    def _slow_ahead(
        self, found: Filtered, steps: Record, space: StateSpace, *, distance: int
    ) -> tuple[np.ndarray, np.ndarray]:
        return _moments(ahead(space, found, steps.u, distance))


def _moments(found: Any) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = mixed(found.weight, found.output, found.variance)
    return mean, np.sqrt(variance)


def _towards(now: np.ndarray, following: np.ndarray, stride: int, rows: int) -> np.ndarray:
    """Values at all rows, without a look at later measurements.

    At a step what is known there, then on a straight line towards what is expected of the next.
    """
    if stride == 1:
        return now
    row = np.arange(rows)
    step = row // stride
    share = (row % stride / stride)[:, None]
    there = np.concatenate([following, now[-1:]])
    return (1.0 - share) * now[step] + share * there[step]


def _towards_state(
    space: StateSpace, found: Filtered, stride: int, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the first member's state at all rows."""
    parts = []
    for belief in (found.filtered, found.predicted):
        variance = np.diagonal(belief.covariance[0], axis1=-2, axis2=-1)
        deviation = np.sqrt(np.maximum(variance, 0.0))
        parts.append((belief.mean[0][:, : space.shown], deviation[:, : space.shown]))
    (mean, std), (next_mean, next_std) = parts
    return (
        _towards(mean, next_mean[1:], stride, rows=rows),
        _towards(std, next_std[1:], stride, rows=rows),
    )


def _at_steps(values: np.ndarray, stride: int, rows: int, empty: float = np.nan) -> np.ndarray:
    """Values of the steps in their rows, and nothing between them."""
    found = np.full((rows, values.shape[1]), empty)
    found[::stride] = values[: len(found[::stride])]
    return found
