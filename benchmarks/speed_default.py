"""Reference work D: one iteration of the default preset, all restarts, optimiser included.

Six states, ten inducing points with a full covariance, two samples of sixteen sub-trajectories of a
hundred steps, one function for each trajectory, 32 restarts. The compiled trainer does the whole
iteration; JAX does the same with the recursion by one of its engines.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from prssm.data import windows
from prssm.data.record import Record
from prssm.foundation.precision import double_precision
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.elbo import Objective
from prssm.models.prssm.fitting.fit import Fitting, schedule_of
from prssm.models.prssm.fitting.groups import groups_of, starts_of
from prssm.models.prssm.levels import levels_of
from prssm.models.prssm.starts.start import Starts
from prssm.training.optimise import CHUNK, advance, initial_state
from prssm.training.race import Moving

COMPILED = "trainer"
ENGINES = (COMPILED, "native-single", "adjoint")
ROWS = 300
REPEATS = 8


@dataclass(frozen=True, eq=False)
class Default:
    """The work: everything that a fit of one level prepares."""

    fitting: Fitting

    @classmethod
    def make(cls, restarts: int = 32, horizon: int = 100, seed: int = 0) -> "Default":
        """A record of noise: how long an iteration takes does not depend on it."""
        rng = np.random.default_rng(seed)
        record = Record(rng.normal(size=(ROWS, 1)), rng.normal(size=(ROWS, 1)))
        config = DEFAULT.replace(
            latent_dim=6,
            inducing=10,
            horizon=horizon,
            complexity="free",
            folds=0,
            restarts=restarts,
        ).resolved([record])
        of_all = Starts(config, [record])
        groups = groups_of(levels_of(config.complexity), [], of_all)
        fitting = Fitting(
            config,
            windows.sliding([record], horizon),
            groups,
            starts=starts_of(of_all, groups),
            window=config.recognition_window,
            records=[record],
        )
        return cls(fitting)

    def chunk(self, engine: str) -> Callable[[], np.ndarray]:
        """Some iterations (`CHUNK`) from the start on; the parameters after them."""
        return self._compiled() if engine == COMPILED else self._in_jax(engine)

    def _compiled(self) -> Callable[[], np.ndarray]:
        one = self.fitting.rounds()[0]
        starts = self.fitting.trained.stages[0].theta
        everybody = np.arange(len(starts))

        def run() -> np.ndarray:
            moving, _ = one.trainer.advance(
                Moving.begin(starts), everybody, one.schedule, first=0, drawn=0, steps=CHUNK
            )
            return moving.theta

        return run

    def _in_jax(self, engine: str) -> Callable[[], np.ndarray]:
        fitting = self.fitting
        config = fitting.config
        objective = Objective(
            fitting.cut.horizon,
            config.batch,
            config.samples,
            window=config.recognition_window,
            draws=config.draws,
            likelihood=config.likelihood,
        )
        objective = replace(objective, engine=engine)
        state = initial_state(fitting.starts)
        data = fitting.data()
        schedule = schedule_of(config, fitting.cut.steps)
        key = jax.random.key(config.seed)

        def run() -> np.ndarray:
            after = advance(objective, state, data, schedule=schedule, key=key)
            return fitting.trained.rows.rows(after["parameters"])

        return run


def default_iterations(restarts: int = 32) -> list[dict[str, Any]]:
    """Milliseconds of one iteration of all restarts by each engine, in turns."""
    with double_precision():
        work = Default.make(restarts)
        calls = [work.chunk(engine) for engine in ENGINES]
        for call in calls:
            call()  # compiles
        taken: list[list[float]] = [[] for _ in ENGINES]
        for _ in range(REPEATS):
            for call, seconds in zip(calls, taken, strict=True):
                begun = time.perf_counter()
                call()
                seconds.append((time.perf_counter() - begun) / CHUNK)
    return [
        {
            "engine": engine,
            "restarts": restarts,
            "min_ms": 1e3 * min(seconds),
            "median_ms": 1e3 * statistics.median(seconds),
        }
        for engine, seconds in zip(ENGINES, taken, strict=True)
    ]
