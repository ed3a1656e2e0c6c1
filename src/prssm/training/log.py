"""What happened during training: one curve and one outcome for each restart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from prssm.foundation.errors import TrainingError

CONVERGED = "finished"
DIVERGED = "diverged"
LEFT_OUT = "left out: too little time"
_MANY = 0.1  # share of restarts that diverge, above which we speak up


@dataclass(frozen=True, eq=False)
class TrainingLog:
    """One training run: the curves of all restarts, how each ended, and which one was kept.

    `objective[r, k]` is restart r's objective (higher is better) averaged up to `iteration[k]`;
    `final[r]` is the objective by which restarts were compared, NaN for one that diverged.
    """

    iteration: np.ndarray
    objective: np.ndarray
    final: np.ndarray
    outcomes: tuple[str, ...]
    kept: int
    seconds: float
    objective_name: str = "ELBO"
    waited: float | None = None  # seconds for which training stood still for data from disk

    @classmethod
    def nothing(cls) -> Self:
        """The log of a model that needed no training."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, 0)), np.zeros(0), (), 0, 0.0)

    @classmethod
    def of_restarts(
        cls, state: Mapping[str, Any], final: np.ndarray, entered: np.ndarray | None = None
    ) -> Self:
        """The log of restarts that a loop has trained side by side; the best is kept.

        `state` is the loop's: when each restart was lost, its curve, how long it all took. A lost
        restart, or one whose `final` is not finite, cannot win; if none can, training has failed.
        Those not `entered` were left out for want of time; none: all took part.
        """
        alive_until = np.asarray(state["alive_until"])
        lost = (alive_until >= 0) | ~np.isfinite(final)
        if lost.all():
            raise TrainingError(
                f"all {len(final)} restarts diverged, the last at iteration {alive_until.max()}; "
                "try a smaller learning_rate, a shorter horizon, more restarts or fewer latent "
                "dimensions"
            )
        final = np.where(lost, np.nan, final)
        if entered is None:
            entered = np.ones(len(final), dtype=bool)
        outcomes = tuple(
            LEFT_OUT if not there else f"{DIVERGED} at iteration {at}" if gone else CONVERGED
            for at, gone, there in zip(alive_until, lost, entered, strict=True)
        )
        return cls(
            state["curve_iteration"],
            state["curve"].T,
            final,
            outcomes=outcomes,
            kept=int(np.nanargmax(final)),
            seconds=float(state["seconds"]),
        )

    @property
    def diverged(self) -> int:
        return sum(outcome.startswith(DIVERGED) for outcome in self.outcomes)

    @property
    def left_out(self) -> int:
        """How many restarts a budget of time had no room for."""
        return self.outcomes.count(LEFT_OUT)

    @property
    def worth_a_word(self) -> bool:
        """Whether so many restarts diverged that an option may be wrong; a few always may."""
        return self.diverged > _MANY * len(self.outcomes)

    def best(self, count: int, among: slice = slice(None), margin: float = np.inf) -> np.ndarray:
        """Indices of at most `count` restarts, best first.

        None of them diverged, and none is worse than the best by more than `margin`.
        """
        indices = np.arange(len(self.final))[among]
        indices = indices[np.isfinite(self.final[indices])]
        indices = indices[np.argsort(-self.final[indices], kind="stable")][:count]
        return indices[self.final[indices] >= self.final[indices[:1]] - margin]

    def summary(self) -> str:
        """One line for a person."""
        if not self.outcomes:
            return "nothing was trained: a linear model of the data serves best"
        iterations = int(self.iteration[-1]) if len(self.iteration) else 0
        text = (
            f"{iterations} iterations of {len(self.outcomes) - self.left_out} restart(s) "
            f"in {self.seconds:.1f} s, "
        )
        text += "" if self.waited is None else f"{self.waited:.1f} s of them waiting for data, "
        text += f"best restart {self.kept} with {self.objective_name} {self.final[self.kept]:.2f}"
        text += f"; {self.diverged} diverged and were dropped" if self.diverged else ""
        return text + (f"; for {self.left_out} more there was no time" if self.left_out else "")

    def to_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """JSON values and arrays for a model file."""
        values = {
            "outcomes": list(self.outcomes),
            "kept": self.kept,
            "seconds": self.seconds,
            "objective_name": self.objective_name,
            "waited": self.waited,
        }
        return values, {
            "iteration": self.iteration,
            "objective": self.objective,
            "final": self.final,
        }

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """The log of a model file, from what `to_parts` gave; a TypeError where it is not that."""
        restarts = len(arrays["final"])
        shape = (restarts, len(arrays["iteration"]))
        if arrays["objective"].shape != shape or len(values["outcomes"]) != restarts:
            raise TypeError(f"expected curves of shape {shape}, got {arrays['objective'].shape}")
        if not (isinstance(values["kept"], int) and 0 <= values["kept"] < max(restarts, 1)):
            raise TypeError(f"kept: expected one of {restarts} restarts, got {values['kept']!r}")
        return cls(
            iteration=arrays["iteration"],
            objective=arrays["objective"],
            final=arrays["final"],
            **(values | {"outcomes": tuple(values["outcomes"])}),
        )
