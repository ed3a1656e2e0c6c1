"""A linear system whose first states are the outputs.

The prior mean of a nonlinear transition, and where to start.

    x[t+1] = F x[t] + G u[t],   y[t] = [I 0] x[t]

Fitted to the training outputs by free-run error, like the linear method, but in these coordinates
and without feedthrough.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.linear.output_error import identify
from prssm.linear.system import propagate, stabilised

_RIDGE = 1e-6  # relative: the regression stays regular where states depend on each other
_EVALUATIONS = 30
_STARTS = 2  # subspace starts and random starts of the free identification
# a hidden state that moves less than this (outputs have deviation one) is left as it is
_WEAK = 1e-3


@dataclass(frozen=True, eq=False)
class LinearMean:
    """The matrices F (Dx, Dx) and G (Dx, Du)."""

    F: np.ndarray
    G: np.ndarray

    def states(self, record: Record) -> np.ndarray:
        """The free run (T, Dx) over a record from the first state that fits its outputs best."""
        drive = (record.u @ self.G.T).T[:, :, None]
        identity = np.eye(len(self.F))
        forced = propagate(self.F, drive, np.zeros((len(self.F), 1)))[:, :, 0].T
        free = propagate(
            self.F, np.zeros((len(self.F), len(record), len(self.F))), identity
        ).transpose(1, 0, 2)
        outputs = record.output_dim
        known = ~np.isnan(record.y)
        error = (record.y - forced[:, :outputs])[known]
        return forced + free @ np.linalg.lstsq(free[:, :outputs][known], error, rcond=1e-10)[0]


def fit_linear_mean(records: Sequence[Record], states: int, seed: int) -> LinearMean:
    """The linear system of the data in output coordinates.

    In these, hidden states are uncorrelated with the outputs and have unit deviation.
    """
    mean = _refined(_in_output_coordinates(records, states, seed), records)
    forward, back = _separation(
        np.concatenate([mean.states(record) for record in records]), records[0].output_dim
    )
    return LinearMean(forward @ mean.F @ back, forward @ mean.G)


def _in_output_coordinates(records: Sequence[Record], states: int, seed: int) -> LinearMean:
    """The best linear step between outputs and what else there is in the states.

    The states are those of an identified system's free runs.
    """
    system = identify(records, states, starts=_STARTS, random_starts=_STARTS, seed=seed)
    runs = [system.states(record) for record in records]
    seen = np.concatenate(runs) @ system.C.T
    hidden = np.concatenate(runs)
    hidden = hidden - seen @ np.linalg.pinv(seen, rcond=_RIDGE) @ hidden
    axes = np.linalg.svd(hidden, full_matrices=False)[2][: states - records[0].output_dim]
    paths = [np.concatenate([x @ system.C.T, x @ axes.T], axis=1) for x in runs]
    now = np.concatenate(
        [np.concatenate([x, r.u], axis=1)[:-1] for x, r in zip(paths, records, strict=True)]
    )
    later = np.concatenate([x[1:] for x in paths])
    square = now.T @ now
    return _split(
        np.linalg.solve(
            square + _RIDGE * np.trace(square) / len(square) * np.eye(len(square)), now.T @ later
        ).T
    )


def _split(step: np.ndarray) -> LinearMean:
    """The stable system behind the matrix [F G]."""
    return LinearMean(stabilised(step[:, : len(step)]), step[:, len(step) :])


def _refined(start: LinearMean, records: Sequence[Record]) -> LinearMean:
    """The smallest free-run error near a start, each run from its best first state."""
    from scipy.optimize import least_squares  # here: importing it takes long

    step = np.concatenate([start.F, start.G], axis=1)
    outputs = records[0].output_dim

    def errors(flat: np.ndarray) -> np.ndarray:
        trial = _split(flat.reshape(step.shape))
        return np.concatenate(
            [(trial.states(r)[:, :outputs] - r.y)[~np.isnan(r.y)] for r in records]
        )

    return _split(least_squares(errors, step.ravel(), max_nfev=_EVALUATIONS).x.reshape(step.shape))


def _separation(x: np.ndarray, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """The map to such coordinates and its inverse.

    Outputs stay, hidden states lose what the outputs explain.
    """
    seen = x[:, :outputs]
    hidden = x[:, outputs:]
    explained = np.linalg.pinv(seen, rcond=_RIDGE) @ hidden
    rest = hidden - seen @ explained
    left = np.atleast_2d(rest.T @ rest / len(rest))
    variance, axes = np.linalg.eigh(left)
    spread = np.where(variance > _WEAK**2, np.sqrt(np.maximum(variance, _WEAK**2)), 1.0)
    forward = np.eye(x.shape[1])
    forward[outputs:, outputs:] = (axes / spread).T
    forward[outputs:, :outputs] = -(explained @ (axes / spread)).T
    return forward, np.linalg.inv(forward)
