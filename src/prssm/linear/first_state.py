"""The first state of a linear system from the first samples of a recording, with its
uncertainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record
from prssm.linear.system import LinearSystem
from prssm.linear.triangle import triangle
from prssm.prediction.correlation import lag_one

_LEAST_STD = 1e-6  # in scaled units: noise-free data keep a regular problem


@dataclass(frozen=True, eq=False)
class InitialState:
    """x[0] ~ N(mean, factor factor'); the error of a free run has deviation `error_std` and lag-one
    `correlation`.

    That error is disturbances more than sensor noise, so it is correlated in time; taking it as
    white would make sixteen samples look like sixteen independent looks at the state.
    """

    mean: np.ndarray
    factor: np.ndarray
    error_std: np.ndarray
    correlation: np.ndarray

    @classmethod
    def fit(cls, system: LinearSystem, records: Sequence[Record]) -> Self:
        """A new recording may start anywhere where the training recordings have been."""
        runs = [system.simulate(system.first_state(record), record.u) for record in records]
        errors = [record.y - y for record, (y, _) in zip(records, runs, strict=True)]
        x = np.concatenate([states for _, states in runs])
        variance, axes = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
        factor = axes * np.sqrt(np.maximum(variance, 0.0))
        return cls(x.mean(axis=0), factor, _rms(errors), correlation=lag_one(errors))

    def estimate(
        self, system: LinearSystem, u: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and covariance factor of x[0] given the first outputs (rows of `y`; NaN is
        skipped).

        With x = mean + factor z: minimise |z|^2 + |W (y - yhat(z))|^2, where W whitens the
        correlated errors.
        """
        forced, _ = system.simulate(self.mean, u[: len(y)])
        response = system.free_response(len(y)) @ self.factor
        rows = [np.eye(len(self.mean))]
        targets = [np.zeros(len(self.mean))]
        for d in range(y.shape[1]):
            known = np.flatnonzero(~np.isnan(y[:, d]))
            lags = np.abs(known[:, None] - known)
            root = self.error_std[d] * np.linalg.cholesky(
                self.correlation[d] ** lags + 1e-9 * np.eye(len(known))
            )
            rows.append(np.linalg.solve(root, response[known, d]))
            targets.append(np.linalg.solve(root, y[known, d] - forced[known, d]))
        R = triangle(
            np.concatenate([np.concatenate(rows), np.concatenate(targets)[:, None]], axis=1)
        )
        n = len(self.mean)
        z = np.linalg.solve(R[:n, :n], R[:n, n])
        return self.mean + self.factor @ z, np.linalg.solve(R[:n, :n].T, self.factor.T).T


def _rms(errors: Sequence[np.ndarray]) -> np.ndarray:
    return np.maximum(np.sqrt(np.nanmean(np.concatenate(errors) ** 2, axis=0)), _LEAST_STD)
