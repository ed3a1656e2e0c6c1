"""How complex a model the data support: the same training at five levels; `selection` chooses
between them.

Errors of real recordings are correlated in time, so that the likelihood counts the same evidence
many times over and the ELBO prefers too complex a model. Errors on stretches that training has not
seen do not lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prssm.models.prssm.held_out import Fold


class Level(NamedTuple):
    """What training at one level costs (weights of the GP's KL and of the prior around the start),
    and its noise.
    """

    name: str
    gp_weight: float
    anchor_precision: float
    memory_weight: float = 0.0  # 1: the noise is correlated in time


def levels_of(complexity: str, prior_std: float) -> list[Level]:
    """The levels that are trained, from the simplest to the most complex."""
    near = 1.0 / prior_std**2
    every = [
        Level("linear", 1e3, 1e3 * near),
        Level("held", 1.0, near),
        Level("held-correlated", 1.0, near, memory_weight=1.0),
        Level("free", 1.0, 0.0),
        Level("correlated", 1.0, 0.0, memory_weight=1.0),
    ]
    return every if complexity == "auto" else [level for level in every if level.name == complexity]


@dataclass(frozen=True, eq=False)
class Group:
    """Restarts of one level, on all data or on what one fold shows."""

    level: Level
    fold: Fold | None
    restarts: slice

    @property
    def count(self) -> int:
        return self.restarts.stop - self.restarts.start


def groups_of(
    levels: Sequence[Level],
    folds: Sequence[Fold],
    restarts: int,
    fold_restarts: int,
    linear_models: int,
) -> list[Group]:
    """Who is trained: for each level all data and each fold.

    A linear model has one optimum, so one restart finds each of them; restarts that are held near
    the same start differ little, so half as many of them are enough.
    """
    groups: list[Group] = []
    end = 0
    for level in levels:
        for fold in [None, *folds]:
            count = restarts if fold is None else min(restarts, fold_restarts)
            if level.name == "linear":
                count = min(linear_models, restarts)
            elif level.anchor_precision > 0.0:
                count = (count + 1) // 2
            groups.append(Group(level, fold, slice(end, end + count)))
            end += count
    return groups
