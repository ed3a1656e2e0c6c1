"""Noises by the filter's marginal likelihood, with the dynamics as they are.

A free run does not tell process noise from sensor noise: nothing is corrected by data there, so
process noise earns nothing. One-step predictions tell them apart, because a filter believes the
sensors more the more the state is disturbed. The search is over a few logarithms; all of its
candidates are members of one filter, so that they cost little more than one.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from jaxtyping import Bool, Float

from prssm.foundation.errors import ModelFileError
from prssm.inference.gaussian import extended
from prssm.inference.state_space import Array, Belief, StateSpace, windows

CANDIDATES = 11  # that a likelihood is asked for at once
_STEP = 1.0
_LEAST_STEP = 0.25
_ROUNDS = 14
_LARGEST = 1e100  # of a deviation; a square of more may be no number
# Logarithms of process, sensor and coloured noise, and hyperbolic arc tangents of its two poles.
_LOW = np.array([-9.0, -6.0, -6.0, 0.0, 0.0])
_HIGH = np.array([0.0, 1.5, 1.5, 3.0, 2.0])
_STARTS = np.array(
    [
        [-4.0, -1.0, -1.0, 1.5, 0.0],  # some of each
        [-4.0, -0.5, -3.0, 1.0, 0.0],  # white sensors
        [-2.5, -1.0, -2.0, 1.0, 0.0],  # a disturbed state
        [-6.0, -2.0, -0.3, 2.0, 0.0],  # a disturbed output
        [-5.0, -3.0, -0.3, 1.5, 1.0],  # one that keeps its direction
    ]
)


@dataclass(frozen=True)
class NoiseFactors:
    """The noises of a filter in terms of a model's own, the same for all members.

    process: deviation that the state gains in a step beside its own noise, in the state's units.
    sensor: white noise relative to the trained deviation of the sensors. coloured: noise with a
    memory, relative to it too. memory and second: its poles (`spaces/coloured.py`); a memory of
    None is the trained one.
    """

    process: float = 0.0
    sensor: float = 1.0
    coloured: float = 0.0
    memory: float | None = None
    second: float = 0.0

    @classmethod
    def at(cls, place: Float[Array, " 5"]) -> Self:
        """Of a place of the search."""
        process, sensor, coloured = np.exp(place[:3])
        memory, second = np.tanh(place[3:])
        return cls(
            float(process),
            float(sensor),
            float(coloured),
            memory=float(memory),
            second=float(second),
        )

    def larger(self, factor: float) -> Self:
        """All deviations times a factor."""
        return replace(
            self,
            process=factor * self.process,
            sensor=factor * self.sensor,
            coloured=factor * self.coloured,
        )

    def to_dict(self) -> dict[str, Any]:
        """For a model file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """What `to_dict` gave, or a ModelFileError."""
        known = {field.name for field in fields(cls)}
        whole = isinstance(values, dict) and values.keys() <= known
        if not whole or not all(_is_noise(name, value) for name, value in values.items()):
            raise ModelFileError(f"noises: expected numbers for {', '.join(known)}, got {values!r}")
        return cls(**values)


def _is_noise(name: str, value: Any) -> bool:
    """Deviations are not below 0, poles are within the unit circle."""
    if name == "memory" and value is None:
        return True
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) < 1.0 if name in ("memory", "second") else 0.0 <= value < _LARGEST


# Candidates -> their log-likelihoods (K,), or what else is to be as large as possible.
Likelihood = Callable[[Sequence[NoiseFactors]], Float[Array, " K"]]


def most_likely(likelihood: Likelihood, rounds: int = _ROUNDS) -> NoiseFactors | None:
    """The best place of a pattern search; None where no start has a likelihood that is a number.

    From the best of the starts it tries a step to either side along every coordinate, and once
    more the step that was best before, all at once, and goes to the best. Where none is better,
    the step shrinks.
    """

    def values(places: Array) -> Array:
        found = likelihood([NoiseFactors.at(place) for place in places])
        return np.where(np.isfinite(found), found, -np.inf)

    heights = values(_STARTS)
    if not np.isfinite(heights).any():
        return None
    best = _STARTS[heights.argmax()]
    height = heights.max()
    count = len(best)
    moves = np.concatenate([np.eye(count), -np.eye(count)])
    step = _STEP
    last = np.zeros(count)
    for _ in range(rounds):
        if step < _LEAST_STEP:
            break
        tried = np.clip(best + step * np.concatenate([moves, last[None]]), _LOW, _HIGH)
        heights = values(tried)
        if heights.max() > height:
            last = np.sign(tried[heights.argmax()] - best)
            best = tried[heights.argmax()]
            height = heights.max()
        else:
            step *= 0.5
            last = np.zeros(count)
    return NoiseFactors.at(best)


def log_likelihoods(
    space: StateSpace,
    u: Float[Array, "T Du"],
    y: Float[Array, "T Dy"],
    *,
    belief: Belief,
    skip: int = 0,
) -> Float[Array, " M"]:
    """Log-density of the rows after the first `skip`, for every member by itself."""
    inputs = windows(u, space.lags)
    known = ~np.isnan(y)
    total = np.zeros(space.members)
    with np.errstate(all="ignore"):  # a candidate that is lost has a likelihood of NaN
        for t in range(len(inputs)):
            if t > 0:
                belief = extended.predict(space, belief, inputs[t - 1 : t])
            belief, seen = extended.update(space, belief, inputs[t : t + 1], y=y[t], known=known[t])
            if t >= skip:
                total += seen.log_likelihood[:, 0]
    return total


class Errors(NamedTuple):
    """How far each member (M,) is from what was measured, by its mean squares."""

    near: Float[Array, " M"]  # one row ahead
    far: Float[Array, " M"]  # some rows ahead
    relative: Float[Array, " M"]  # one row ahead, relative to the variance that it expects


def prediction_errors(
    space: StateSpace,
    u: Float[Array, "T Du"],
    y: Float[Array, "T Dy"],
    *,
    belief: Belief,
    skip: int,
    horizon: int,
) -> Errors:
    """Of the rows after the first `skip`, one row and `horizon` rows ahead, by each member."""
    inputs = windows(u, space.lags)
    known = ~np.isnan(y)
    beliefs = []
    near = []
    relative = []
    with np.errstate(all="ignore"):  # a candidate that is lost has errors of NaN
        for t in range(len(inputs)):
            if t > 0:
                belief = extended.predict(space, belief, inputs[t - 1 : t])
            belief, seen = extended.update(space, belief, inputs[t : t + 1], y=y[t], known=known[t])
            variance = np.diagonal(seen.variance, axis1=-2, axis2=-1)
            near.append(seen.innovation**2)
            relative.append(seen.innovation**2 / variance)
            beliefs.append(belief)
        origins = np.arange(max(skip - 1, 0), len(inputs) - horizon)
        ahead = Belief(*(np.concatenate(part, axis=1) for part in zip(*beliefs, strict=True)))
        ahead = Belief(*(part[:, origins] for part in ahead))
        for k in range(horizon):
            ahead = extended.predict(space, ahead, inputs[origins + k])
        expected = extended.predict_output(space, ahead, inputs[origins + horizon])
        far = (y[origins + horizon] - expected.output) ** 2
        return Errors(
            _mean(np.concatenate(near, axis=1)[:, skip:], known[skip:]),
            _mean(far, known[origins + horizon]),
            relative=_mean(np.concatenate(relative, axis=1)[:, skip:], known[skip:]),
        )


def _mean(values: Float[Array, "M T Dy"], known: Bool[Array, "T Dy"]) -> Float[Array, " M"]:
    """Of what was measured; NaN for a member that is lost."""
    return np.where(known, values, 0.0).sum(axis=(1, 2)) / known.sum()
