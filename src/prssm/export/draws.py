"""The random numbers of a set of sampled trajectories: those of `simulate`, or a fixed set.

The fixed set is what exported code carries. First states and functions are drawn once, here, and
become tables. The noise of each step is read from a table of normal quantiles at a place that a
hash of the step, the trajectory and the state gives, so that it needs no memory and no library,
and is the same in every language.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from prssm.export.description import Description
from prssm.foundation.errors import OptionError
from prssm.prediction.paired_draws import paired_normal

TABLE_BITS = 10
TABLE = 1 << TABLE_BITS
# An integer hash of 32 bits: odd multipliers and shifts.
HASH = ((16, 0x7FEB352D), (15, 0x846CA68B))
_BLOCK = 2048  # steps for which `simulate` draws at a time


@dataclass(frozen=True, eq=False)
class Draws:
    """Standard normal numbers for each member, of its own `share` of the trajectories."""

    share: int
    first: tuple[np.ndarray, ...]  # (Dx, S) of the first state
    function: tuple[np.ndarray, ...] | None  # (Dx, P, S) where a trajectory keeps its function
    step: Callable[[int, int], np.ndarray]  # of a member and a step: (Dx, S)


def share_of(description: Description, samples: int) -> int:
    """Trajectories of each member, so that there are at least so many in all.

    A linear model's are as many as make its band exact.
    """
    members = len(description.members)
    if samples < 2:
        raise OptionError(f"samples: expected 0 (the mean alone) or at least 2, got {samples}")
    if description.points == 0:
        samples = max(samples, members * (description.states + 1))
    return -(-samples // members)


def fixed(description: Description, samples: int, seed: int = 0) -> Draws:
    """The set that exported code carries."""
    share = share_of(description, samples)
    members = len(description.members)
    states = description.states
    first = []
    function = []
    for index in range(members):
        rng = np.random.default_rng([seed, index])
        if description.points == 0:
            first.append(_exact_moments(rng.standard_normal((states, share))))
        else:
            first.append(paired_normal(rng, (states, share)))
        function.append(paired_normal(rng, (states, description.points, share)))
    quantiles = quantile_table()
    places = (np.arange(members * share * states)).reshape(members, share, states)

    def step(index: int, at: int) -> np.ndarray:
        count = members * share * states
        counter = (np.uint64(at) * np.uint64(count) + places[index].astype(np.uint64)) % (1 << 32)
        return quantiles[hashed(counter.astype(np.uint32)) >> np.uint32(32 - TABLE_BITS)].T

    keeps = description.draws == "trajectory"
    return Draws(share, tuple(first), tuple(function) if keeps else None, step)


def of_simulate(description: Description, rows: int, samples: int, seed: int) -> Draws:
    """The numbers that `simulate(..., samples, seed)` of a PRSSM draws over so many rows."""
    members = len(description.members)
    share = -(-samples // members)
    states = description.states
    first = []
    function = []
    noise = []
    for index in range(members):
        rng = np.random.default_rng([seed, index])
        first.append(paired_normal(rng, (states, share)))
        if description.draws == "trajectory":
            function.append(paired_normal(rng, (states, description.points, share)))
        noise.append(_step_noise(rng, rows, (states, share)))
    keeps = description.draws == "trajectory"
    return Draws(
        share,
        tuple(first),
        tuple(function) if keeps else None,
        lambda index, at: noise[index][at],
    )


def quantile_table() -> np.ndarray:
    """Normal quantiles at the middles of equal shares, scaled to unit variance."""
    values = ndtri((np.arange(TABLE) + 0.5) / TABLE)
    return values / np.sqrt(np.mean(values**2))


def hashed(counter: np.ndarray) -> np.ndarray:
    """32 well-mixed bits for each counter (uint32); the high ones are used."""
    value = counter
    for shift, factor in HASH:
        value = (value ^ (value >> np.uint32(shift))) * np.uint32(factor)
    return value ^ (value >> np.uint32(16))


def _step_noise(rng: np.random.Generator, rows: int, shape: tuple[int, int]) -> np.ndarray:
    """(T, Dx, S), block by block as a free run draws.

    A block repeats the last state of the one before it, whose numbers come anew.
    """
    noise = np.zeros((rows, *shape))
    begin = 0
    while begin < rows:
        end = min(begin + _BLOCK, rows)
        before = max(begin - 1, 0)
        noise[before:end] = paired_normal(rng, (end - before, *shape))
        begin = end
    return noise


def _exact_moments(drawn: np.ndarray) -> np.ndarray:
    """Draws (Dx, S) turned so that their mean is 0 and their sample covariance the identity.

    Through a linear model they then give exactly its variance.
    """
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    q, _ = np.linalg.qr(centred.T)
    return q.T * np.sqrt(drawn.shape[1] - 1)
