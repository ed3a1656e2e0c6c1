"""Who is trained: for each level some restarts on all data, and some on what each fold shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.levels import Level
from prssm.models.prssm.starts.start import Starts


@dataclass(frozen=True, eq=False)
class Group:
    """Restarts of one level, on all data (`fold` is None) or on what one fold shows."""

    level: Level
    fold: Fold | None
    restarts: np.ndarray  # their indices

    @property
    def count(self) -> int:
        return len(self.restarts)


def groups_of(levels: Sequence[Level], folds: Sequence[Fold], starts: Starts) -> list[Group]:
    """All groups, level by level; restarts are numbered through."""
    config = starts.config
    groups: list[Group] = []
    end = 0
    for level in levels:
        for fold in [None, *folds]:
            asked = config.restarts if fold is None else min(config.restarts, config.fold_restarts)
            count = level.restarts(asked, starts)
            groups.append(Group(level, fold, np.arange(end, end + count)))
            end += count
    return groups


def starts_of(of_all: Starts, groups: Sequence[Group]) -> StateSpaceModel:
    """The restarts of all groups, stacked. Those of a fold start from what they are shown."""
    parts = [
        (of_all.on(group.fold) if group.fold else of_all).create(group.level, group.count)
        for group in groups
    ]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
