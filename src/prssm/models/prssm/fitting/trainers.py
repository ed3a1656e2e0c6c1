"""PR-SSM's restarts in the race.

What each is shown of the data, and the compiled code that trains them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from prssm.data.windows import Windows
from prssm.dynamics.engines.choice import compiled_trainer as native
from prssm.models.prssm.compiled import Rows, kinds
from prssm.models.prssm.config import PRSSMConfig
from prssm.models.prssm.elbo import Shown, StateSpaceModel
from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.fitting.held_out import Fold
from prssm.training.race import Moving
from prssm.training.schedule import Schedule

# What of a problem is each restart's own.
_OWN = ("part", "anchors", "gp_weight", "anchor_precision", "memory_weight")


class CompiledTrainer:
    """A `training.race.Trainer` in compiled code.

    Random numbers of an iteration depend on seed and number alone, and are the same for all
    restarts, so that these compare fairly.
    """

    def __init__(
        self,
        config: PRSSMConfig,
        cut: Windows,
        groups: Sequence[Group],
        starts: StateSpaceModel,
        window: int,
        shown: Mapping[int, Shown],
    ) -> None:
        """`window`: first samples that the recognition model reads; 0 without one.

        `shown` has what each fold, by its id, shows of the windows.
        """
        self.rows = Rows.of(starts)
        self.seed = config.seed
        self.kind = np.float32 if config.engine.endswith("-single") else np.float64
        _, dx, points, din = starts.transition.gp.zeta.shape
        full = config.scheme == "full"
        self.sizes = native.Sizes(
            dx=dx,
            du=din - dx,
            dy=cut.y.shape[1],
            points=points,
            steps=cut.horizon,
            batch=len(cut.starts) if full else config.batch,
            samples=config.samples,
            window=window,
            per_step=int(config.draws == "step"),
            full=int(full),
            rows=len(cut.y),
            windows=len(cut.starts),
            **kinds(starts),
        )
        self.problem = self._problem(config, cut, groups, starts=starts, shown=shown)

    def _problem(
        self,
        config: PRSSMConfig,
        cut: Windows,
        groups: Sequence[Group],
        starts: StateSpaceModel,
        shown: Mapping[int, Shown],
    ) -> native.Problem:
        parts = [Fold.nothing_held_out(cut).shown, *shown.values()]
        numbers = {key: 1 + index for index, key in enumerate(shown)}
        each = [group for group in groups for _ in range(group.count)]
        levels = [group.level for group in each]
        precisions = [level.anchor_precision(config.prior_std) for level in levels]
        return native.Problem(
            self.sizes,
            self.rows.offsets(),
            np.ascontiguousarray(cut.u),
            y=np.ascontiguousarray(cut.y),
            filled=np.ascontiguousarray(cut.y_filled),
            part=np.array([numbers.get(id(group.fold), 0) for group in each]),
            shown=np.stack([np.asarray(part.rows) for part in parts]).astype(np.uint8),
            starts=np.stack([np.asarray(part.starts) for part in parts]).astype(np.int64),
            steps=np.array([float(part.steps) for part in parts]),
            anchors=self.rows.rows(starts),
            gp_weight=np.array([level.gp_weight for level in levels]),
            anchor_precision=np.array(precisions),
            memory_weight=np.array([level.memory_weight for level in levels]),
        )

    def only(self, restarts: np.ndarray) -> "CompiledTrainer":
        """The trainer of some of the restarts, which are numbered anew."""
        mine = {name: getattr(self.problem, name)[restarts] for name in _OWN}
        self.problem = replace(self.problem, **mine)
        return self

    def advance(
        self,
        moving: Moving,
        chosen: np.ndarray,
        schedule: Schedule,
        *,
        first: int,
        drawn: int,
        steps: int,
    ) -> tuple[Moving, np.ndarray]:
        """See `training.race.Trainer`."""
        mine = {name: getattr(self.problem, name)[chosen] for name in _OWN}
        trained = moving.of(chosen)
        values = native.advance(
            replace(self.problem, **mine),
            trained,
            self._draws(drawn, steps),
            schedule=tuple(schedule),
            first=first,
        )
        return trained, values

    def _draws(self, drawn: int, steps: int) -> native.Draws:
        """The random numbers of `steps` iterations from number `drawn` on."""
        n = self.sizes
        trajectories = n.batch * n.samples
        windows = np.empty((steps, n.batch), dtype=np.int64)
        eps = np.empty((steps, n.steps, n.dx, trajectories), self.kind)
        function = None
        if not n.per_step:
            function = np.empty((steps, n.dx, n.points, trajectories), self.kind)
        for index in range(steps):
            rng = np.random.default_rng([self.seed, drawn + index])
            windows[index] = np.arange(n.batch) if n.full else rng.integers(n.windows, size=n.batch)
            rng.standard_normal(dtype=self.kind, out=eps[index])
            if function is not None:
                rng.standard_normal(dtype=self.kind, out=function[index])
        return native.Draws(windows, eps, function)
