"""The first state of a linear system, with its uncertainty.

It comes from the first samples of a recording.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record
from prssm.linear.system import LinearSystem
from prssm.prediction.correlation import lag_one

_LEAST_STD = 1e-6  # in scaled units: noise-free data keep a regular problem


@dataclass(frozen=True, eq=False)
class InitialState:
    """x[0] ~ N(mean, factor factor').

    The error of a free run has deviation `error_std` and lag-one `correlation`. Where the first
    state is the best that the data allow it has deviation `start_std`: so far the first outputs are
    to be trusted. `fit` takes both from training; a user who knows the errors of long runs over
    other data replaces `error_std` alone, for those come from a wrong first state, too.

    That error is disturbances more than sensor noise, so it is correlated in time; taking it as
    white would make sixteen samples look like sixteen independent looks at the state.
    """

    mean: np.ndarray
    factor: np.ndarray
    error_std: np.ndarray
    correlation: np.ndarray
    start_std: np.ndarray

    @classmethod
    def fit(cls, system: LinearSystem, records: Sequence[Record]) -> Self:
        """A new recording may start anywhere where the training recordings have been."""
        return cls.fit_mean([system], records)

    @classmethod
    def fit_mean(cls, systems: Sequence[LinearSystem], records: Sequence[Record]) -> Self:
        """That of the mean of some systems, whose states are side by side.

        Each has run from its own best first state: together they could not be told apart.
        """
        runs = [_mean_run(systems, record) for record in records]
        errors = [record.y - y for record, (y, _) in zip(records, runs, strict=True)]
        x = np.concatenate([states for _, states in runs])
        variance, axes = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
        factor = axes * np.sqrt(np.maximum(variance, 0.0))
        rms = _rms(errors)
        return cls(
            x.mean(axis=0), factor, error_std=rms, correlation=lag_one(errors), start_std=rms
        )

    def estimate(
        self, system: LinearSystem, u: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and covariance factor of x[0] given the first outputs.

        They are the rows of `y`; NaN is skipped.
        """
        known = ~np.isnan(y)
        forced, _ = system.simulate(self.mean, u[: len(y)])
        gain, factor = self._gain(system, known)
        return self.mean + gain @ np.where(known, y - forced, 0.0).ravel(), factor

    def affine(self, system: LinearSystem, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """That estimate as `weight @ [y; u] + bias`, and the covariance factor.

        y and u are the first rows, one after the other.
        """
        outputs, inputs = system.D.shape
        gain, factor = self._gain(system, np.ones((rows, outputs), dtype=bool))
        # what inputs do to the outputs: the impulse response, later by one row after another
        markov = system.markov(rows)
        forced = np.zeros((rows, outputs, rows, inputs))
        for row in range(rows):
            forced[row:, :, row] = markov[: rows - row]
        start, _ = system.simulate(self.mean, np.zeros((rows, inputs)))
        weight = np.concatenate(
            [gain, -gain @ forced.reshape(rows * outputs, rows * inputs)], axis=1
        )
        return weight, self.mean - gain @ start.ravel(), factor

    def _gain(self, system: LinearSystem, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the outputs' errors (row by row) move the first state, and the covariance factor.

        With x = mean + factor z: minimise |z|^2 + |W (y - yhat(z))|^2, where W whitens the
        correlated errors.
        """
        n = len(self.mean)
        response = system.free_response(len(known)) @ self.factor
        rows = [np.eye(n)]
        targets = [np.zeros((n, known.size))]
        place = np.arange(known.size).reshape(known.shape)
        for d in range(known.shape[1]):
            at = np.flatnonzero(known[:, d])
            lags = np.abs(at[:, None] - at)
            root = self.start_std[d] * np.linalg.cholesky(
                self.correlation[d] ** lags + 1e-9 * np.eye(len(at))
            )
            rows.append(np.linalg.solve(root, response[at, d]))
            target = np.zeros((len(at), known.size))
            target[:, place[at, d]] = np.linalg.inv(root)
            targets.append(target)
        Q, R = np.linalg.qr(np.concatenate(rows))
        gain = self.factor @ np.linalg.solve(R, Q.T @ np.concatenate(targets))
        return gain, np.linalg.solve(R.T, self.factor.T).T


def _mean_run(systems: Sequence[LinearSystem], record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Mean outputs (T, Dy) and all states (T, Dx) of the best runs over a record."""
    runs = [system.simulate(system.first_state(record), record.u) for system in systems]
    outputs = np.mean([y for y, _ in runs], axis=0)
    return outputs, np.concatenate([states for _, states in runs], axis=1)


def _rms(errors: Sequence[np.ndarray]) -> np.ndarray:
    return np.maximum(np.sqrt(np.nanmean(np.concatenate(errors) ** 2, axis=0)), _LEAST_STD)
