"""A mixture of recurrent networks as a contender of what the race between levels has found."""

from typing import cast

import numpy as np

from prssm.models.prssm.config import ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.fitting.contest import Contender, Contest, is_long
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.fitting.prepare import prepared
from prssm.models.prssm.levels import NETWORK
from prssm.models.prssm.networks.race import (
    EVERYTHING,
    FOLD_SEEDS,
    SEEDS,
    NetworkRace,
    parts_of,
)
from prssm.models.prssm.selection import choose
from prssm.models.prssm.starts.network_start import longer_window, network_model
from prssm.models.prssm.starts.start import Starts

# Of long data, steps of growth that may gain nothing before one that does.
_PATIENCE = 1
_POINTS = 1  # inducing points of a GP that plays no part


class NetworkStarts(Starts):
    """Restarts are the networks that a race has trained."""

    def __init__(
        self, config: ResolvedConfig, of_all: Starts, race: NetworkRace, fold: int = EVERYTHING
    ) -> None:
        super().__init__(config, race.parts[fold].records, of_all)
        self.race = race
        self.fold = fold
        self.folds: list[Fold] = []

    def on(self, fold: Fold) -> "NetworkStarts":
        return NetworkStarts(self.config, self, self.race, self.folds.index(fold))

    def network_model(self, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        return network_model(self.config, self.race.network(self.fold, restart), rng)


def network_contender(contest: Contest, now: Contender) -> Contender | None:
    """Trained networks beside what there is; None where they come nowhere near it."""
    phase = contest.phase("network", "training networks")
    folds = now.judges() if is_long(now) else now.folds
    if phase is None or not folds:
        return None
    judges = now.judges()
    config = now.fitting.config
    linear = [now.starts.on(fold).linear[0].system for fold in folds]
    everything = (now.fitting.records, now.starts.linear[0].system)
    race = NetworkRace(
        parts_of(folds, everything, linear),
        judges=[folds.index(fold) for fold in judges],
        window=now.fitting.window,
        seed=config.seed,
        target=now.held_out(judges).typical,
        states=contest.config.latent_dim,
        patience=_PATIENCE if is_long(now) else 0,
    )
    race.run(*phase)
    if race.path is None:
        return None
    size = race.path[-1]
    window = longer_window(size, race.window) if is_long(now) else race.window
    sized = cast(
        ResolvedConfig,
        config.replace(
            latent_dim=size.states,
            neurons=size.neurons,
            inducing=_POINTS,
            restarts=SEEDS,
            fold_restarts=FOLD_SEEDS,
            recognition_window=window,
            recognition_hidden=race.network(EVERYTHING, 0).recognition_hidden(window),
        ),
    )
    starts = NetworkStarts(sized, now.starts, race)
    starts.folds = list(folds)
    fitting = prepared(
        starts, now.fitting.cut, levels=[NETWORK], folds=folds, records=now.fitting.records
    )
    return Contender(fitting, starts, choose(fitting.trained), now.stride)
