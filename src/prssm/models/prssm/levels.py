"""How complex a model the data support: the same training at several levels.

`selection` chooses between them.

Errors of real recordings are correlated in time, so that the likelihood counts the same evidence
many times over and the ELBO prefers too complex a model. Errors on stretches that training has not
seen do not lie.

A level owns all that makes it different: where its restarts start, how many there are, and what
leaving the start costs. A new one is a class here and a line in `LEVELS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from prssm.models.prssm.elbo import StateSpaceModel
    from prssm.models.prssm.starts.start import Starts

AUTO = "auto"  # all levels, and the data choose


class Level(ABC):
    """One level; subclasses say where it starts."""

    name: ClassVar[str]
    trained: ClassVar[bool] = True
    gp_weight: ClassVar[float] = 1.0  # of the GP's KL
    # Deviation of the prior that holds it near its start, relative to the option `prior_std`;
    # infinite: there is none.
    reach: ClassVar[float] = np.inf
    memory_weight: ClassVar[float] = 0.0  # 1: the noise is correlated in time
    # How far the band goes, in the logarithm, from the errors of the folds' models on held-out
    # stretches to those of the final model, which has seen them (docs/explanation/calibration.md).
    seen_share: ClassVar[float] = 0.3
    # How much of the disagreement of the folds' models the band has (band/witnesses.py).
    doubt: ClassVar[float] = 0.5

    @abstractmethod
    def start(self, starts: Starts, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        """Restart number `restart`; override with one of the ways that `starts` offers."""

    def restarts(self, asked: int, starts: Starts) -> int:
        """How many restarts are trained where so many were asked for."""
        return asked

    def anchor_precision(self, prior_std: float) -> float:
        """Of the prior around the start; 0 is none."""
        return 1.0 / (self.reach * prior_std) ** 2


class Linear(Level):
    """A linear model of the data as it is: no GP, nothing to train."""

    name = "linear"
    trained = False
    seen_share = 0.0  # few numbers lose little by fewer data: folds' models err as the final one

    def start(self, starts: Starts, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        return starts.linear_model(restart, rng, with_gp=False)

    def restarts(self, asked: int, starts: Starts) -> int:
        """The best linear model there is, or those whose mean is better than any of them."""
        return starts.together


class Held(Level):
    """A prior holds mean, emission and recognition model near a linear model.

    The GP learns the rest.
    """

    name = "held"
    reach = 1.0

    def start(self, starts: Starts, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        return starts.linear_model(restart, rng)

    def restarts(self, asked: int, starts: Starts) -> int:
        """A quarter: restarts that are held near the same start differ little."""
        return -(-asked // 4)


class HeldCorrelated(Held):
    """The same with noise that is correlated in time, and held nearer.

    Where something that nobody measures moves the system, a model that may go far learns it.
    """

    name = "held-correlated"
    memory_weight = 1.0
    reach = 0.3


class Free(Level):
    """As in the paper, from a random walk.

    From there training finds far better optima of strongly nonlinear systems than from the best
    linear model.
    """

    name = "free"

    def start(self, starts: Starts, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        return starts.random_walk(rng)


class Correlated(Free):
    """The same with noise that is correlated in time."""

    name = "correlated"
    memory_weight = 1.0


class Network(Level):
    """A small recurrent network that was trained on its free runs: no GP, nothing to train.

    It takes no part in the race; see `networks.contender`.
    """

    name = "network"
    trained = False
    seen_share = 0.8  # kept where it explains all but noise; networks of few data err far more
    doubt = 0.3  # and differ far more than the final ones err

    def start(self, starts: Starts, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        return starts.network_model(restart, rng)


NETWORK = Network()
# From the simplest to the most complex.
LEVELS: dict[str, Level] = {
    level.name: level for level in (Linear(), Held(), HeldCorrelated(), Free(), Correlated())
}


def doubt_of(mixed: str) -> float:
    """How much disagreement counts where these levels, joined by plus signs, are mixed."""
    every = {level.name: level for level in (*LEVELS.values(), NETWORK)}
    return max(every[name].doubt for name in mixed.split("+"))


def levels_of(complexity: str) -> list[Level]:
    """The levels that the option names."""
    return list(LEVELS.values()) if complexity == AUTO else [LEVELS[complexity]]
