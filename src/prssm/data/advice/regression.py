"""Least squares on lagged values: what past inputs and outputs say of an output.

`Lags` holds the products of all lagged columns once, so that many models of some of them are
compared at little cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record

MOST_ROWS = 20_000  # that are looked at; more say nothing new here
_MOST_VALUES = 4_000_000  # of the table of lagged columns: of many channels fewer rows are read
_RIDGE = 1e-9  # relative, keeps columns that repeat each other regular


@dataclass(frozen=True, eq=False)
class Lags:
    """Products of a constant, an output's past and the inputs' past with themselves and the output.

    Columns: 1, y(t-1) .. y(t-past), then u_i(t), u_i(t-1) .. u_i(t-reach) of one input after the
    other. All are scaled to unit deviation.
    """

    gram: np.ndarray
    cross: np.ndarray
    power: float  # sum of the output's squares
    rows: int
    past: int
    reach: int

    @classmethod
    def of(cls, records: Sequence[Record], output: int, *, past: int, reach: int) -> "Lags":
        """From rows whose output and past outputs are all known."""
        tables = []
        targets = []
        most = max(past, reach)
        width = 1 + past + records[0].input_dim * (reach + 1)
        left = min(MOST_ROWS, _MOST_VALUES // width)
        for record in records:
            y = record.y[:left, output]
            u = record.u[:left]
            left -= len(y)
            if len(y) <= most:
                continue
            at = np.arange(most, len(y))
            columns = [np.ones(len(at)), *(y[at - k] for k in range(1, past + 1))]
            columns += [u[at - k, i] for i in range(u.shape[1]) for k in range(reach + 1)]
            table = np.stack(columns, axis=1)
            known = np.isfinite(table).all(axis=1) & np.isfinite(y[at])
            tables.append(table[known])
            targets.append(y[at][known])
        table = np.concatenate(tables) if tables else np.zeros((0, width))
        target = np.concatenate(targets) if targets else np.zeros(0)
        if not len(table) or not target.std() > 0.0:  # nothing to explain
            return cls(np.zeros((width, width)), np.zeros(width), 0.0, 0, past, reach)
        spread = table.std(axis=0)
        table = table / np.where(spread > 0.0, spread, 1.0)
        target = (target - target.mean()) / target.std()
        return cls(
            table.T @ table, table.T @ target, float(target @ target), len(table), past, reach
        )

    def inputs(self, number: int, first: int, count: int) -> list[int]:
        """Columns of one input from lag `first` on."""
        begin = 1 + self.past + number * (self.reach + 1)
        return list(range(begin + first, begin + min(first + count, self.reach + 1)))

    def outputs(self) -> list[int]:
        """Columns of the constant and the past outputs."""
        return list(range(1 + self.past))

    def news(self, number: int) -> float:
        """The share of an input's variance that its own past does not tell."""
        now, *before = self.inputs(number, 0, self.reach + 1)
        chosen = [0, *before]
        gram = self.gram[np.ix_(chosen, chosen)]
        weights = _solved(gram, self.gram[chosen, now])
        mean = self.gram[0, now] ** 2 / self.gram[0, 0]
        left = self.gram[now, now] - weights @ self.gram[chosen, now]
        return float(left / max(self.gram[now, now] - mean, 1e-300))

    def error(self, columns: Sequence[int]) -> float:
        """Mean square of what these columns leave of the output."""
        chosen = list(columns)
        gram = self.gram[np.ix_(chosen, chosen)]
        weights = _solved(gram, self.cross[chosen])
        left = self.power - 2.0 * weights @ self.cross[chosen] + weights @ gram @ weights
        return max(float(left), 1e-12 * self.power) / max(self.rows, 1)


def _solved(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    size = float(np.trace(gram)) / len(gram)
    return np.linalg.solve(gram + _RIDGE * size * np.eye(len(gram)), right)
