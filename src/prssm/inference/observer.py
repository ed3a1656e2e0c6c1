"""The state of a running system, one sample after another.

    observer = model.observer()
    for u, y in samples:
        observer.update(u, y)
        observer.state.mean, observer.output.std, observer.innovation.value
    observer.forecast(u_future).plot()

All that changes with a sample is one immutable `Memory`: an update makes a new one and puts it in
place last, so that a bad sample leaves the observer as it was.
"""

import copy
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from prssm.data.domain import Domain
from prssm.data.record import TIME_TOLERANCE
from prssm.data.resample import at_all_rows, thinned_inputs
from prssm.data.scaling import Scaler
from prssm.foundation import storage
from prssm.foundation.errors import DataError, ModelFileError, OptionError, warn
from prssm.foundation.fingerprint import fingerprint
from prssm.foundation.show.cards import Cell, card, grid, shown_in_notebooks
from prssm.inference.filtering import rows_from
from prssm.inference.forecast import drawn, moments
from prssm.inference.gaussian import extended
from prssm.inference.mixing import mixed, weighed
from prssm.inference.state_space import Array, Belief, StateSpace, windows
from prssm.prediction.prediction import Prediction


class Gauss(NamedTuple):
    """A Gaussian vector by its mean and its deviations."""

    mean: Array
    std: Array


class Innovation(NamedTuple):
    """Measured minus expected, in physical units, and the variance that was expected of it.

    NaN where nothing was measured.
    """

    value: Float[Array, " Dy"]
    variance: Float[Array, "Dy Dy"]


@dataclass(frozen=True)
class Names:
    """What the model's data were called, and how fast they were sampled."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dt: float | None = None
    stride: int = 1


@dataclass(frozen=True, eq=False)
class Memory:
    """All that an observer remembers, in scaled units."""

    belief: Belief  # at the last step of the model
    log_weight: Float[Array, " M"]
    inputs: Float[Array, "lags Du"]  # of the steps before the present one, newest first
    block: Float[Array, "rows Du"]  # since the present step began
    early_u: Float[Array, "steps Du"]  # the first steps, until the model's window is full
    early_y: Float[Array, "steps Dy"]
    # The last measurement, NaN where there was none, and what each member expected of it.
    measured: Float[Array, " Dy"]
    expected: Float[Array, "M Dy"]
    expected_variance: Float[Array, "M Dy Dy"]
    expected_weight: Float[Array, " M"]
    rows: int = 0
    log_likelihood: float = 0.0
    time: float | None = None


class Observer:
    """Takes in samples by `update`, and says where the system is and what comes next.

    `model.observer()` makes one. Members of a mixture are weighed by how well each has foretold the
    measurements.
    """

    def __init__(
        self, space: StateSpace, scaler: Scaler, names: Names, *, domain: Domain | None = None
    ) -> None:
        self._space = space
        self._scaler = scaler
        self._names = names
        self._domain = domain or Domain()  # what training covered
        self._has_warned = False  # a controller asks often, and is told once
        self._u_factor = 1.0 / scaler.u_std
        self._y_factor = 1.0 / scaler.y_std
        self.reset()

    def reset(self) -> None:
        """Forget every sample."""
        space = self._space
        inputs = len(self._names.inputs)
        outputs = len(self._names.outputs)
        self._memory = Memory(
            space.first(),
            space.first_log_weight,
            inputs=np.zeros((space.lags, inputs)),
            block=np.zeros((0, inputs)),
            early_u=np.zeros((0, inputs)),
            early_y=np.zeros((0, outputs)),
            measured=np.full(outputs, np.nan),
            expected=np.full((space.members, outputs), np.nan),
            expected_variance=np.full((space.members, outputs, outputs), np.nan),
            expected_weight=np.exp(space.first_log_weight),
        )

    def __repr__(self) -> str:
        return (
            f"Observer(inputs: {', '.join(self._names.inputs) or 'none'}, outputs: "
            f"{', '.join(self._names.outputs)}, {self._memory.rows} rows taken in)"
        )

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        now = self.output
        rows: list[list[Cell]] = [
            [name, float(mean), float(std)]
            for name, mean, std in zip(self._names.outputs, now.mean, now.std, strict=True)
        ]
        facts = [
            ("rows", f"{self._memory.rows} taken in"),
            ("inputs", ", ".join(self._names.inputs) or "none"),
            ("log-likelihood", f"{self._memory.log_likelihood:.4g}"),
        ]
        return card("Observer", facts, table=grid(["output", "mean", "std"], rows))

    # ---- samples ----

    def update(
        self, u: ArrayLike | None = None, y: ArrayLike | None = None, *, time: float | None = None
    ) -> Self:
        """Take in the next sample in physical units: inputs (Du,) and outputs (Dy,).

        `y=None` or NaN in a channel: not measured, only predicted. `time` in seconds, where given,
        must be one sampling time after that of the sample before. A model at a slower rate takes
        in the outputs of the rows at which its steps begin.
        """
        names = self._names
        given_u = _vector(u, "u", names.inputs)
        given_y = _vector(y, "y", names.outputs) if y is not None else None
        if not np.isfinite(given_u).all():
            raise DataError(f"update: expected finite inputs, got u = {given_u}")
        if given_y is not None and np.isinf(given_y).any():
            raise DataError(f"update: expected finite outputs or NaN, got y = {given_y}")
        if time is not None:
            self._check_time(time)
        scaled_u = (given_u - self._scaler.u_mean) * self._u_factor
        scaled_y = None
        if given_y is not None:
            scaled_y = (given_y - self._scaler.y_mean) * self._y_factor
        memory = self._memory
        begins = memory.rows % names.stride == 0
        if not begins:
            self._memory = _same_step(memory, scaled_u, time)
            return self
        with np.errstate(all="ignore"):  # what is lost is said below, in words
            self._memory = self._new_step(scaled_u, scaled_y, time)
        return self

    def _new_step(
        self, u: Float[Array, " Du"], y: Float[Array, " Dy"] | None, time: float | None
    ) -> Memory:
        space = self._space
        memory = self._memory
        belief = memory.belief
        inputs = memory.inputs
        if memory.rows == 0:
            inputs = np.repeat(u[None], space.lags, axis=0)  # as if it had been there before
        else:
            before = memory.block[0] if len(memory.block) == 1 else memory.block.mean(axis=0)
            inputs = before[None] if space.lags == 1 else np.stack([before, *inputs[:-1]])
            belief = extended.predict(space, belief, inputs.reshape(1, -1))
        now = u[None] if space.lags == 1 else np.stack([u, *inputs[:-1]])
        if y is None:
            y = np.full(space.output_dim, np.nan)
        known = ~np.isnan(y)
        expected = extended.predict_output(space, belief, now.reshape(1, -1))
        belief, seen = extended.condition(belief, expected, y, known)
        log_weight = memory.log_weight
        log_likelihood = memory.log_likelihood
        if known.any():
            log_weight, evidence = weighed(log_weight, seen.log_likelihood[:, 0])
            if not np.isfinite(evidence):
                raise DataError(
                    f"update: y = {self._scaler.outputs(y)} is so far from what was expected that "
                    "the model knows no state for it; the sample was not taken in"
                )
            log_likelihood += evidence - float(np.log(self._scaler.y_std[known]).sum())
        new = Memory(
            belief,
            log_weight,
            inputs=inputs,
            block=u[None],
            early_u=memory.early_u,
            early_y=memory.early_y,
            measured=y,
            expected=expected.output[:, 0],
            expected_variance=expected.variance[:, 0],
            expected_weight=np.exp(memory.log_weight),
            rows=memory.rows + 1,
            log_likelihood=log_likelihood,
            time=time,
        )
        return self._begun_anew(new, u, y) if len(memory.early_u) < space.window else new

    def _begun_anew(self, memory: Memory, u: Array, y: Array) -> Memory:
        """From the model's own first state, once the samples are there that it is found from."""
        space = self._space
        early_u = np.concatenate([memory.early_u, u[None]])
        early_y = np.concatenate([memory.early_y, y[None]])
        memory = replace(memory, early_u=early_u, early_y=early_y)
        if len(early_u) < space.window:
            return memory
        found = space.recognised(early_u, early_y)
        if found is None:
            return memory
        begin, belief = found
        run = rows_from(space, early_u, early_y, belief=belief, begin=begin)
        last = Belief(*(part[:, -1:] for part in run.filtered))
        return replace(memory, belief=last, log_weight=run.log_weight[:, -1])

    def _check_time(self, time: float) -> None:
        if not isinstance(time, int | float) or not np.isfinite(time):
            raise DataError(f"update: expected a time in seconds, got {time!r}")
        before = self._memory.time
        if before is None:
            return
        step = time - before
        if step <= 0.0:
            raise DataError(f"update: expected a time after {before:g} s, got {time:g} s")
        dt = self._names.dt
        if dt is not None and abs(step - dt) > TIME_TOLERANCE * dt:
            raise DataError(
                f"update: expected a sample every {dt:g} s as in training, got one after {step:g} s"
            )

    # ---- what is known ----

    @property
    def rows(self) -> int:
        """How many samples were taken in."""
        return self._memory.rows

    @property
    def state(self) -> Gauss:
        """The latent state at the present step, in the model's own units, of the first member."""
        mean, covariance = (part[0, 0] for part in self._memory.belief)
        shown = self._space.shown
        variance = np.maximum(np.diagonal(covariance), 0.0)
        return Gauss(mean[:shown], np.sqrt(variance[:shown]))

    @property
    def output(self) -> Gauss:
        """The outputs of the present sample without the sensors' white noise."""
        mean, variance = self._slow_outputs(with_noise=False)
        share = max(len(self._memory.block) - 1, 0) / self._names.stride
        between = (1.0 - share) * mean[0] + share * mean[-1]
        std = (1.0 - share) * np.sqrt(variance[0]) + share * np.sqrt(variance[-1])
        return Gauss(self._scaler.outputs(between), self._scaler.spreads(std))

    def _slow_outputs(self, with_noise: bool) -> tuple[Array, Array]:
        """At the present step of the model and, for rows after its beginning, at the next one."""
        memory = self._memory
        space = self._space
        inputs = self._step_inputs(memory.block.mean(axis=0) if len(memory.block) else None)
        belief = memory.belief
        found = []
        for more in range(2 if len(memory.block) > 1 else 1):
            if more:
                belief = extended.predict(space, belief, inputs)
            expected = extended.predict_output(space, belief, inputs)
            noise = 0.0 if with_noise else space.output(belief.mean, inputs).noise
            spread = np.diagonal(expected.variance - noise, axis1=-2, axis2=-1)[:, 0]
            weight = np.exp(memory.log_weight)
            found.append(mixed(weight, expected.output[:, 0], np.maximum(spread, 0.0)))
        means, variances = zip(*found, strict=True)
        return np.array(means), np.array(variances)

    def _step_inputs(self, now: Float[Array, " Du"] | None) -> Float[Array, "1 U"]:
        """The window of inputs of the present step."""
        inputs = self._memory.inputs
        if now is None:
            return inputs.reshape(1, -1)
        return np.concatenate([now[None], inputs[: self._space.lags - 1]]).reshape(1, -1)

    @property
    def weights(self) -> Float[Array, " M"]:
        """Of the members of the mixture."""
        return np.exp(self._memory.log_weight)

    @property
    def innovation(self) -> Innovation:
        """Of the last sample that the model has taken in."""
        scale = self._scaler.y_std
        memory = self._memory
        heard = memory.expected_weight > 0.0  # a member that is lost may hold anything
        weight = memory.expected_weight[heard]
        mean = weight @ memory.expected[heard]
        off = memory.expected[heard] - mean
        variance = np.tensordot(weight, memory.expected_variance[heard], 1)
        variance = variance + (weight[:, None] * off).T @ off  # the law of total variance
        return Innovation((memory.measured - mean) * scale, variance * np.outer(scale, scale))

    @property
    def log_likelihood(self) -> float:
        """Log-density, in physical units, of all measurements that were taken in."""
        return self._memory.log_likelihood

    def forecast(
        self,
        u_future: ArrayLike | None = None,
        *,
        samples: int | None = None,
        seed: int = 0,
        rows: int | None = None,
    ) -> Prediction:
        """The measurements of the next rows, for inputs (rows, Du) in physical units.

        With `samples`, that many trajectories are drawn, and the band is theirs; without, it is a
        Gaussian filter's. A system without inputs is told the number of `rows`. Inputs beyond what
        training saw are marked, and said in `cautions`; the first time a `PrssmWarning` says it.
        """
        names = self._names
        if samples is not None and samples < 2:
            raise OptionError(f"samples: expected at least 2 trajectories, got {samples}")
        future = self._future(u_future, rows)
        scaled = (future - self._scaler.u_mean) * self._u_factor
        memory = self._memory
        known = memory.block if memory.rows else np.zeros((0, len(names.inputs)))
        slow = thinned_inputs(np.concatenate([known, scaled]), names.stride)
        past = memory.inputs[::-1][1:] if memory.rows else memory.inputs[:0]
        inputs = windows(np.concatenate([past, slow]), self._space.lags)[len(past) :]
        weight = self.weights
        paths = None
        if samples is None:
            mean, std = moments(self._space, memory.belief, weight, inputs)
        else:
            rng = np.random.default_rng(seed)
            paths = drawn(self._space, memory.belief, weight, inputs, samples=samples, rng=rng)
            mean, std = paths.mean(axis=0), paths.std(axis=0, ddof=1)
        shown = slice(len(known), None)
        length = len(known) + len(future)
        mean, std = (at_all_rows(part, names.stride, length)[shown] for part in (mean, std))
        if paths is not None:
            paths = self._scaler.outputs(at_all_rows(paths, names.stride, length)[:, shown])
        return Prediction(
            mean=self._scaler.outputs(mean),
            std=self._scaler.spreads(std),
            samples=paths,
            inputs=future,
            dt=names.dt,
            input_names=names.inputs,
            output_names=names.outputs,
            name="forecast",
            label="forecast",
            inputs_outside=self._domain.inputs_beyond(future),
            cautions=self._cautions(future),
        )

    def _cautions(self, future: Float[Array, "T Du"]) -> tuple[str, ...]:
        """What a forecast must be distrusted for; only the first time it is a warning, too."""
        found = self._domain.about_inputs(future, self._names.inputs, "forecast")
        for text in found if not self._has_warned else ():
            warn(text)
        self._has_warned = self._has_warned or bool(found)
        return tuple(found)

    def _future(self, u_future: ArrayLike | None, rows: int | None) -> Float[Array, "T Du"]:
        count = len(self._names.inputs)
        if u_future is None:
            if count or rows is None or rows < 1:
                wanted = f"inputs (rows, {count})" if count else "rows, a number of at least 1"
                raise DataError(f"forecast: expected {wanted}, got {rows if count == 0 else None}")
            return np.zeros((rows, 0))
        try:
            future = np.asarray(u_future, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("forecast: u_future is not an array of numbers") from None
        if future.ndim == 1 and count == 1:
            future = future[:, None]
        if future.ndim != 2 or future.shape[1] != count or not len(future):
            raise DataError(
                f"forecast: expected inputs (rows, {count}), got an array of shape {future.shape}"
            )
        if not np.isfinite(future).all():
            raise DataError("forecast: expected finite inputs, got NaN or infinity")
        return future

    # ---- copies and files ----

    def copy(self) -> Self:
        """Another observer at the same point; what one takes in, the other does not know."""
        return copy.copy(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write what the observer remembers to a small file; `restore` reads it."""
        memory = self._memory
        arrays = {
            field.name: getattr(memory, field.name)
            for field in fields(Memory)
            if isinstance(getattr(memory, field.name), np.ndarray)
        }
        arrays |= {"mean": memory.belief.mean, "covariance": memory.belief.covariance}
        header = {
            "model": self._identity(),
            "rows": memory.rows,
            "log_likelihood": memory.log_likelihood,
            "time": memory.time,
        }
        return storage.write(path, "observer", header, arrays)

    def restore(self, path: str | os.PathLike[str]) -> Self:
        """Go on where an observer of the same model was saved."""
        header, arrays = storage.read(path, "observer")
        if header.get("model") != self._identity():
            raise ModelFileError(f"{path}: this observer was saved with another model")
        belief = Belief(arrays.pop("mean"), arrays.pop("covariance"))
        parts: dict[str, Any] = {
            **arrays,
            **{name: header[name] for name in ("rows", "log_likelihood", "time")},
        }
        self._memory = Memory(belief=belief, **parts)
        return self

    def _identity(self) -> str:
        """A checksum by which another model is told from this one."""
        first = self._space.first()
        still = np.zeros((1, self._space.lags * len(self._names.inputs)))
        step = self._space.step(first.mean, still)
        seen = self._space.output(first.mean, still)
        parts: list[Any] = [*first, *step, *seen, *self._scaler.to_arrays().values()]
        return fingerprint([np.round(np.asarray(part), 9) for part in parts])


def _same_step(memory: Memory, u: Float[Array, " Du"], time: float | None) -> Memory:
    """A row between two steps of a model at a slower rate: its inputs count, its outputs do not."""
    return replace(
        memory,
        block=np.concatenate([memory.block, u[None]]),
        measured=np.full_like(memory.measured, np.nan),
        rows=memory.rows + 1,
        time=time,
    )


def _vector(values: ArrayLike | None, name: str, expected: tuple[str, ...]) -> Array:
    """One number for each name."""
    try:
        vector = np.asarray([] if values is None else values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"update: {name} is not an array of numbers, got {values!r}") from None
    if vector.ndim == 0:
        vector = vector[None]
    if vector.shape != (len(expected),):
        raise DataError(
            f"update: expected {name} of shape ({len(expected)},): {', '.join(expected) or 'none'};"
            f" got {vector.shape}"
        )
    return vector
