"""Free runs of a mixture of trained PR-SSMs: every member has its share of the trajectories."""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import numpy as np

from prssm.data.record import Record
from prssm.dynamics.engines.choice import Engine
from prssm.models.prssm.elbo import Draws, StateSpaceModel
from prssm.models.prssm.filtering.polished import is_network, polished
from prssm.models.prssm.filtering.short_start import Firsts, spread_of
from prssm.models.prssm.filtering.usual_states import usual_states
from prssm.models.prssm.free_run import FreeRuns
from prssm.models.simulated import Simulated
from prssm.prediction.moments import Moments
from prssm.prediction.paired_draws import paired_normal


class Mixture(eqx.Module):
    """Members of equal weight, the best one first."""

    models: StateSpaceModel  # arrays lead with the members
    # First samples that the recognition model reads; 0 without one.
    window: int = eqx.field(static=True)
    draws: Draws = eqx.field(static=True)
    engine: Engine = eqx.field(static=True, default="auto")
    usual: Firsts | None = None  # the states that training has shown, where that is known

    def run(
        self,
        u: np.ndarray,
        y_start: np.ndarray,
        count: int,
        seed: int,
        *,
        quick: bool = False,
        keep: bool = True,
        first: Firsts | None = None,
    ) -> Simulated:
        """A free run of `count` trajectories over scaled inputs (T, Du).

        It starts from what the recognition model makes of the first outputs, or from `first`.

        `quick` runs in single precision and gives no samples and no states. Without `keep` there
        are no samples either, and memory is that of the means and deviations alone.
        """
        means, factors = first or self.firsts(u, y_start)
        members = len(means)
        share = -(-count // members)
        kind = np.float32 if quick else np.float64
        runs = FreeRuns(self.models, self.draws, self.engine)
        width = self.models.log_output_std.shape[1]
        seen = Moments(len(u), width)
        inside = None if quick else Moments(len(u), means.shape[1])
        kept = np.empty((len(u), width, members * share)) if keep and not quick else None
        for index in range(members):
            rng = np.random.default_rng([seed, index])
            drawn = paired_normal(rng, (means.shape[1], share))
            x1 = means[index][:, None] + spread_of(factors[index], drawn)
            mine = slice(index * share, (index + 1) * share)
            for block in runs.member(index, u, x1.astype(kind), rng=rng, kind=kind):
                seen.add(block.begin, block.outputs)
                if inside is not None and index == 0:  # members' states need not mean the same
                    inside.add(block.begin, block.states)
                if kept is not None:
                    kept[block.begin : block.begin + len(block.outputs), :, mine] = block.outputs
        noise_var = np.exp(2.0 * np.asarray(self.models.log_output_std)).mean(axis=0)
        return Simulated(
            mean=seen.mean,
            std=np.sqrt(seen.var() + noise_var),
            samples=None if kept is None else self._samples(kept, count, share, seed),
            state_mean=None if inside is None else inside.mean,
            state_std=None if inside is None else np.sqrt(inside.var()),
        )

    def firsts(self, u: np.ndarray, y_start: np.ndarray) -> Firsts:
        """First states by the recognition model; networks improve theirs by their own equations."""
        rough = Firsts.apart(*self.first_states(u, y_start))
        rows = min(self.window, len(y_start), len(u))
        if rows == 0 or np.isnan(y_start[:rows]).all() or not is_network(self.models):
            return rough
        return polished(self.models, u[:rows], y_start[:rows], rough=rough)

    def only(self, members: int | np.ndarray) -> "Mixture":
        """One member alone, or some of them."""
        kept = np.atleast_1d(members)
        models, usual = jax.tree.map(lambda leaf: np.asarray(leaf)[kept], (self.models, self.usual))
        return replace(self, models=models, usual=usual)

    def having_seen(self, records: Sequence[Record]) -> "Mixture":
        """The same mixture, which knows what its states were in scaled records at its rate."""
        return replace(self, usual=usual_states(self.models, self.window, records))

    def _samples(self, outputs: np.ndarray, count: int, share: int, seed: int) -> np.ndarray:
        """Drawn measurements (count, T, Dy) from noise-free outputs (T, Dy, trajectories)."""
        outputs += self._noise(outputs.shape, share, seed)
        # Members take turns.
        shown = np.random.default_rng(seed).permutation(outputs.shape[2])[:count]
        return np.transpose(outputs[:, :, shown], (2, 0, 1))

    def _noise(self, shape: tuple[int, ...], share: int, seed: int) -> np.ndarray:
        """Sensor noise (T, Dy, trajectories) of each member's own size and memory."""
        white = np.random.default_rng([seed, 2**31]).standard_normal(shape)
        memory, std = (
            np.repeat(np.asarray(part).T, share, axis=1)
            for part in (
                self.models.correlation_of(np),
                np.exp(np.asarray(self.models.log_output_std)),
            )
        )
        if memory.any():
            fresh = np.sqrt(1.0 - memory**2)
            for t in range(1, len(white)):
                white[t] = memory * white[t - 1] + fresh * white[t]
        return std * white

    def first_states(self, u: np.ndarray, y_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q(x_1) of every member.

        The prior N(0, I) where there is no recognition model or nothing was measured.
        """
        if self.window == 0 or np.isnan(y_start).all():
            blank = np.zeros(self.models.transition.log_process_std.shape)
            return blank, blank
        u, y_start = _long_enough(u, y_start, self.window)
        filled = Record(u[: self.window], y_start[: self.window]).outputs_filled()
        members = len(self.models.log_output_std)
        recognitions = [
            jax.tree.map(lambda leaf, at=at: np.asarray(leaf)[at], self.models.recognition)
            for at in range(members)
        ]
        moments = [one(filled, u[: self.window], xp=np) for one in recognitions]
        means, log_stds = (np.stack(part) for part in zip(*moments, strict=True))
        return means, log_stds


def _long_enough(u: np.ndarray, y_start: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """First samples for the recognition model.

    Those that a short record lacks are its last one held.
    """
    lacking = window - len(y_start)
    if lacking <= 0:
        return u, y_start
    rows = u[: len(y_start)]
    return (
        np.concatenate([rows, np.repeat(rows[-1:], lacking, axis=0)]),
        np.concatenate([y_start, np.repeat(y_start[-1:], lacking, axis=0)]),
    )
