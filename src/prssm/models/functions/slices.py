"""What a model learnt: its next states over one state or input at a time, with bands.

`model.transition_slices(run)` gives `TransitionSlices` through a point that the run has visited.
States are the model's own; inputs are in physical units.
"""

from dataclasses import dataclass

import numpy as np

from prssm.foundation.errors import DataError
from prssm.models.functions.bands import Band
from prssm.models.functions.jax_model import JaxModel
from prssm.models.functions.plausible import Plausible

POINTS = 25  # of a slice
MOST_STATES = 4  # and so many coordinates make a readable figure
MOST_COORDINATES = 3
_RUG = 300  # marks of visited rows
_BEYOND = 0.15  # of what was visited, on either side: there the band should widen


@dataclass(frozen=True, eq=False)
class TransitionSlices:
    """Next states (Din, G, Dx) as each of Din coordinates moves while the others stay at `at`.

    Coordinates are the states, then the inputs: `names` (Din,), `grid` (Din, G). `visited`
    (rows, Din) is where the run was: what a slice says elsewhere, no data have told. The band is
    over plausible systems of the best member, without process noise.
    """

    names: tuple[str, ...]
    at: np.ndarray
    grid: np.ndarray
    band: Band
    visited: np.ndarray

    def __repr__(self) -> str:
        return (
            f"TransitionSlices({self.states} states over {', '.join(self.names)}, "
            f"{len(self.visited)} rows visited)"
        )

    @property
    def states(self) -> int:
        return self.band.middle.shape[-1]

    def influence(self) -> np.ndarray:
        """By how much each coordinate moves each next state over its grid, (Din, Dx)."""
        return np.ptp(self.band.middle, axis=1)

    def most_telling(self) -> tuple[list[int], list[int]]:
        """A few states, and the coordinates that move these most, for a figure."""
        states = list(range(min(self.states, MOST_STATES)))
        influence = self.influence()[:, states].max(axis=1)
        chosen = np.sort(np.argsort(-influence, kind="stable")[:MOST_COORDINATES])
        return states, chosen.tolist()

    def rug(self) -> np.ndarray:
        """Some of the visited rows, (rows, Din), as marks of a figure."""
        rows = np.linspace(0, len(self.visited) - 1, min(_RUG, len(self.visited)))
        return self.visited[rows.astype(int)]


def transition_slices(
    functions: JaxModel, systems: Plausible, states: np.ndarray, inputs: np.ndarray
) -> TransitionSlices:
    """Slices through one of the visited points: states (T, Dx) and physical inputs (T, Du)."""
    visited = np.concatenate([states, inputs], axis=1)
    visited = visited[np.isfinite(visited).all(axis=1)]
    if not len(visited):
        raise DataError("transition_slices: expected a run with finite states, got none")
    at = _central(visited)
    low = visited.min(axis=0)
    high = visited.max(axis=0)
    margin = _BEYOND * np.where(high > low, high - low, 1.0)
    grid = np.linspace(low - margin, high + margin, POINTS).T  # (Din, G)
    points = np.tile(at, (len(at), POINTS, 1))
    for i in range(len(at)):
        points[i, :, i] = grid[i]
    following = _next_states(functions, systems, points.reshape(-1, len(at)))
    samples = following.reshape(len(following), len(at), POINTS, -1)
    own = tuple(f"state {i + 1}" for i in range(states.shape[1]))
    return TransitionSlices(own + functions.input_names, at, grid, Band.of(samples), visited)


def _central(visited: np.ndarray) -> np.ndarray:
    """The visited point that is nearest to the median of all."""
    spread = visited.std(axis=0)
    away = (visited - np.median(visited, axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return visited[np.argmin(np.sum(away**2, axis=1))]


def _next_states(functions: JaxModel, systems: Plausible, points: np.ndarray) -> np.ndarray:
    """The next states (B, points, Dx) of the best member's systems."""
    members, count, states = systems.shape
    scaling = functions.parameters.scaling
    u = (points[:, states:] - scaling.u_mean) / scaling.u_std
    shape = (members, len(points), count)
    x_all = np.broadcast_to(points[:, None, :states], (*shape, states))
    u_all = np.broadcast_to(u[:, None], (*shape, u.shape[1]))
    return np.swapaxes(systems.at(x_all, u_all).following[0], 0, 1)
