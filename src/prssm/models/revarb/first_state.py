"""REVARB's first state from the first samples.

A linear map learnt from the training rows' own q(x).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.record import Record
from prssm.models.revarb.free_run import Start

_PENALTIES = 10.0 ** np.arange(-8, 2)  # of the ridge, relative to the number of rows


@dataclass(frozen=True, eq=False)
class FirstState:
    """All windows of the first L rows given the first W outputs and inputs.

    Affine, with a constant covariance.

    `usual_mean` and `usual_covariance` are those of the training windows: the start where an output
    was never measured.
    """

    feature_mean: np.ndarray  # (W (Dy + Du),)
    coefficients: np.ndarray  # (W (Dy + Du), S)
    covariance: np.ndarray  # (S, S)
    usual_mean: np.ndarray
    usual_covariance: np.ndarray

    @classmethod
    def fit(
        cls,
        records: Sequence[Record],
        q_mean: np.ndarray,
        q_std: np.ndarray,
        lags: int,
        samples: int,
    ) -> Self:
        """From scaled records and q (H, R, Dy) of their rows.

        Records shorter than `samples` give no example.
        """
        features = []
        states = []
        begin = 0
        for record in records:
            y = record.outputs_filled()
            for t in range(len(record) - samples + 1):
                features.append(_features(y[t : t + samples], record.u[t : t + samples]))
                states.append(q_mean[:, begin + t : begin + t + lags][:, ::-1].ravel())
            begin += len(record)
        # what q itself does not know
        floor = np.diag(np.repeat((q_std**2).mean(axis=1), lags, axis=0).ravel())
        width = samples * (records[0].output_dim + records[0].input_dim)
        if len(states) < 2:
            usual = np.repeat(q_mean.mean(axis=1), lags, axis=0).ravel()
            spread = np.diag(np.repeat(q_mean.var(axis=1), lags, axis=0).ravel())
            return cls(
                np.zeros(width),
                np.zeros((width, len(usual))),
                spread + floor,
                usual_mean=usual,
                usual_covariance=spread + floor,
            )
        x = np.array(features)
        s = np.array(states)
        coefficients, residual = _ridge(x - x.mean(axis=0), s - s.mean(axis=0))
        usual_covariance = np.atleast_2d(np.cov(s.T)) + floor
        return cls(
            x.mean(axis=0),
            coefficients,
            residual + floor,
            usual_mean=s.mean(axis=0),
            usual_covariance=usual_covariance,
        )

    def __call__(self, y: np.ndarray, u: np.ndarray, measured: bool) -> Start:
        """From the first samples (W rows each, gaps bridged)."""
        if not measured:
            return Start(self.usual_mean, self.usual_covariance)
        return Start(
            self.usual_mean + (_features(y, u) - self.feature_mean) @ self.coefficients,
            self.covariance,
        )


def _features(y: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.concatenate([y.ravel(), u.ravel()])


def _ridge(x: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients for centred data and the errors' covariance.

    The penalty has the least generalised cross-validation.
    """
    spread = np.maximum(x.std(axis=0), 1e-12)
    left, values, right = np.linalg.svd(x / spread, full_matrices=False)
    rows = len(x)
    best = None
    for penalty in _PENALTIES * rows:
        shrink = values**2 / (values**2 + penalty)
        free = rows - 1 - shrink.sum()
        error = s - left @ (shrink[:, None] * (left.T @ s))
        criterion = np.sum(error**2) / max(free, 1.0) ** 2
        if best is None or criterion < best[0]:
            gain = (
                right.T
                @ ((values / (values**2 + penalty))[:, None] * (left.T @ s))
                / spread[:, None]
            )
            best = (criterion, gain, error.T @ error / max(free, 1.0))
    assert best is not None
    return best[1], best[2]
