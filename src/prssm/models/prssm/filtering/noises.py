"""The noises with which a PR-SSM is filtered; a free run keeps the trained ones.

They are those under which two things are most likely together: stretches of the data under models
of the folds, which have not seen them, and the training data under the final models. The models of
the folds err more than the final ones will, and nothing errs less than a model on its own data.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from prssm.data.record import Record
from prssm.inference.noise_search import (
    CANDIDATES,
    Likelihood,
    NoiseFactors,
    log_likelihoods,
    most_likely,
)
from prssm.inference.state_space import Array
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.space import PRSSMSpace, is_plain, space_of
from prssm.models.prssm.selection import Choice
from prssm.models.prssm.trained import Trained

_ROWS = 250  # of each of the two, which are enough to tell five numbers
_FEW_ROWS = 80  # where JAX computes every step, which takes longer
_MEMBERS = 2  # of each mixture, its best ones: they tell the same, and many take long
_LEAST_ROWS = 20  # of a stretch after the window from which its first state is found


class Heard(NamedTuple):
    """Models, and what their filter is judged on."""

    models: StateSpaceModel  # arrays lead with the members
    records: Sequence[Record]


def heard_by_folds(trained: Trained, choice: Choice) -> list[Heard]:
    """The folds' models of the chosen levels, with the stretches that they have not seen."""
    found = []
    for one in choice.candidates:
        for group in trained.groups:
            if group.level is one.level and group.fold is not None:
                mixture = trained.mixture(one.round, trained.members(group, one.round))
                found.append(Heard(mixture.models, group.fold.held_out_records))
    return found


def trained_noises(models: StateSpaceModel) -> NoiseFactors:
    """As training left them: white, or coloured where a level has trained a memory."""
    coloured = bool(np.any(models.correlation_of(np) != 0.0))
    return NoiseFactors(sensor=0.0, coloured=1.0) if coloured else NoiseFactors()


def estimated_noises(folds: Sequence[Heard], final: Heard, window: int) -> NoiseFactors | None:
    """None where there are too few data to tell."""
    each = [_likelihood(parts, window) for parts in (folds, [final])]
    known = [one for one in each if one is not None]
    if not known:
        return None
    return most_likely(lambda candidates: np.sum([one(candidates) for one in known], axis=0))


def _likelihood(parts: Sequence[Heard], window: int) -> Likelihood | None:
    """The mean over the members of the log-density of all stretches."""
    rows = sum(len(record) for part in parts for record in part.records)
    most = _ROWS if all(is_plain(part.models) for part in parts) else _FEW_ROWS
    share = min(1.0, most / max(rows, 1))
    stretches: list[tuple[PRSSMSpace, Record]] = []
    for part in parts:
        many = jax.tree.map(
            lambda leaf: np.repeat(np.asarray(leaf)[:_MEMBERS], CANDIDATES, axis=0), part.models
        )
        space = space_of(many, window, NoiseFactors(coloured=1.0))
        for record in part.records:
            cut = record[: max(round(share * len(record)), window + _LEAST_ROWS)]
            if len(cut) >= window + _LEAST_ROWS:
                stretches.append((space, cut))
    if not stretches:
        return None

    def likelihood(candidates: Sequence[NoiseFactors]) -> Float[Array, " K"]:
        padded = [*candidates, *[candidates[0]] * (CANDIDATES - len(candidates))]
        total = np.zeros(CANDIDATES)
        for space, record in stretches:
            own = space.with_noises(padded * (space.members // CANDIDATES))
            start = own.recognised(record.u[:window], record.y[:window]) if window else None
            belief = start[1] if start else own.first()
            density = log_likelihoods(own, record.u, record.y, belief=belief, skip=window)
            total += density.reshape(-1, CANDIDATES).mean(axis=0)
        return total[: len(candidates)]

    return likelihood
