"""A linear autoregressive predictor by least squares: the yardstick of one-step prediction.

y_t = sum_k A_k y_{t-k} + B_k u_{t-k} + c,   lags by Schwarz' criterion on the training data.
"""

import numpy as np

from prssm.data.lag_windows import choose_lags, regression
from prssm.data.record import Record


class ARX:
    """Fitted to one record without gaps; `predict` is any number of rows ahead."""

    def __init__(self, record: Record) -> None:
        self.lags = choose_lags([record])
        data = regression([record], self.lags)
        design = np.column_stack([data.x, np.ones(len(data.x))])
        self.coefficients = np.linalg.lstsq(design, data.y, rcond=None)[0]

    def predict(self, record: Record, horizon: int) -> np.ndarray:
        """Every row from measurements up to `horizon` rows before it; NaN where there are none."""
        lags = self.lags
        found = np.full(record.y.shape, np.nan)
        for row in range(lags + horizon - 1, len(record)):
            past = list(record.y[row - horizon - lags + 1 : row - horizon + 1])
            for now in range(row - horizon + 1, row + 1):
                window = np.concatenate(
                    [*past[: -lags - 1 : -1], *record.u[now - lags : now][::-1]]
                )
                past.append(np.append(window, 1.0) @ self.coefficients)
            found[row] = past[-1]
        return found
