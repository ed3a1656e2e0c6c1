"""Residual analysis: what errors one step ahead still tell.

A model that has learnt all there is leaves errors that are white and independent of past inputs.
Both are tested with bands that know how many rows there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.foundation.errors import DataError, OptionError
from prssm.foundation.show.cards import card, grid, shown_in_notebooks
from prssm.prediction.gaussian import half_width

LAGS = 20
ROWS_FOR_LAGS = 4  # for each lag, below which nothing can be told
_LEVEL = 0.99  # of the bands and tests
_LEAST_DIRECTION = 1e-3  # of the strongest, below which an input does not move


@dataclass(frozen=True, eq=False)
class Residuals:
    """Standardised errors one step ahead, and their correlations with themselves and the inputs.

    `errors` are one array (rows, Dy) for each experiment, in deviations that the filter expected.
    `autocorrelation` (lags, Dy) begins at lag 1, `cross_correlation` (lags + 1, Dy, Du) at lag 0:
    the input of the same row. The bands are limits in which 99 of 100 values of a perfect model
    lie; the p-values (Dy,) and (Dy, Du) are those of all lags together.
    """

    errors: list[np.ndarray]
    autocorrelation: np.ndarray
    autocorrelation_band: np.ndarray
    whiteness: np.ndarray  # p-value of the Ljung-Box test
    cross_correlation: np.ndarray
    cross_correlation_band: np.ndarray
    independence: np.ndarray
    output_names: tuple[str, ...] = ()
    input_names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        errors: Sequence[np.ndarray],
        inputs: Sequence[np.ndarray],
        *,
        lags: int = LAGS,
        output_names: tuple[str, ...] = (),
        input_names: tuple[str, ...] = (),
    ) -> Self:
        """From errors (rows, Dy), NaN where nothing was measured, and inputs (rows, Du)."""
        if not isinstance(lags, int) or lags < 1:
            raise OptionError(f"lags: expected a whole number of at least 1, got {lags!r}")
        known = sum(int((~np.isnan(part)).all(axis=1).sum()) for part in errors)
        if known < ROWS_FOR_LAGS * lags:
            raise DataError(
                f"residuals: {known} measured rows are too few for {lags} lags; expected at least "
                f"{ROWS_FOR_LAGS * lags}"
            )
        centred = _centred(errors)
        driven = _centred(inputs)
        own, own_count = _correlations(centred, centred, range(1, lags + 1))
        diagonal = np.arange(own.shape[1])
        own, own_count = own[:, diagonal, diagonal], own_count[:, diagonal, diagonal]
        cross, cross_count = _correlations(centred, driven, range(lags + 1))
        shape = _input_shape(driven, lags)
        return cls(
            list(errors),
            own,
            half_width(_LEVEL) / np.sqrt(own_count),
            whiteness=_chi_square_tail(_ljung_box(own, own_count, known), lags),
            cross_correlation=cross,
            cross_correlation_band=half_width(_LEVEL) / np.sqrt(cross_count),
            independence=_independence(cross * np.sqrt(cross_count), shape),
            output_names=output_names,
            input_names=input_names,
        )

    def __repr__(self) -> str:
        rows = sum(map(len, self.errors))
        white = "white" if self.white else "not white"
        told = f"{white}, {p_in_words(self.whiteness)}"
        if self.independence.size:
            kind = "independent of" if self.independent else "dependent on"
            told += f"; {kind} the inputs, {p_in_words(self.independence)}"
        named = f", outputs: {', '.join(self.output_names)}" if self.output_names else ""
        return f"Residuals({rows} rows, {len(self.autocorrelation)} lags{named}; {told})"

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        header = ["output", "p that it is white", "largest autocorrelation"]
        header += [f"p that it is independent of {name}" for name in self.input_names]
        largest = np.abs(self.autocorrelation).max(axis=0)
        rows = [
            [name, float(self.whiteness[i]), float(largest[i]), *self.independence[i].tolist()]
            for i, name in enumerate(self.output_names)
        ]
        return card("Residuals one step ahead", table=grid(header, rows))

    @property
    def bias(self) -> np.ndarray:
        """Mean of the standardised errors (Dy,); zero for a perfect model."""
        return np.nanmean(np.concatenate(self.errors), axis=0)

    @property
    def spread(self) -> np.ndarray:
        """Deviation of the standardised errors (Dy,); one where the filter's own is right."""
        return np.nanstd(np.concatenate(self.errors), axis=0)

    @property
    def white(self) -> bool:
        """Whether the errors of all outputs pass for white at the level of one in a hundred."""
        return bool((self.whiteness >= 1.0 - _LEVEL).all())

    @property
    def independent(self) -> bool:
        """Whether they pass for independent of all inputs so far."""
        return bool((self.independence >= 1.0 - _LEVEL).all())

    def outside(self) -> tuple[float, float]:
        """Shares of the autocorrelations and of the cross-correlations beyond their bands."""
        own = np.abs(self.autocorrelation) > self.autocorrelation_band
        cross = np.abs(self.cross_correlation) > self.cross_correlation_band
        return float(own.mean()), float(cross.mean()) if cross.size else 0.0

    def to_dict(self) -> dict[str, float]:
        """The tests as plain numbers: the smallest p-values, and the largest correlations."""
        numbers = {
            "residual_whiteness_p": float(self.whiteness.min()),
            "residual_largest_autocorrelation": float(np.abs(self.autocorrelation).max()),
            "residual_spread": float(self.spread.mean()),
        }
        if self.independence.size:
            numbers["residual_independence_p"] = float(self.independence.min())
            largest = float(np.abs(self.cross_correlation).max())
            numbers["residual_largest_cross_correlation"] = largest
        return numbers


def p_in_words(values: np.ndarray | float) -> str:
    """The smallest p-value, as a reader wants it."""
    smallest = float(np.min(values))
    return "p < 0.001" if smallest < 0.001 else f"p = {smallest:.3f}"


def _centred(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Around the mean of all experiments, in their common deviation."""
    whole = np.concatenate(parts)
    if whole.shape[1] == 0:
        return list(parts)
    spread = np.nanstd(whole, axis=0)
    return [(part - np.nanmean(whole, axis=0)) / np.where(spread > 0, spread, 1) for part in parts]


def _correlations(
    errors: Sequence[np.ndarray], others: Sequence[np.ndarray], lags: range
) -> tuple[np.ndarray, np.ndarray]:
    """Correlation (lags, Dy, D) of errors with other values some rows before.

    And how many pairs each was taken from; no pair is of two experiments. Both deviations are those
    of the pairs: gaps would else make correlations of more than one.
    """
    values = []
    counts = []
    for lag in lags:
        now, then, both = _pairs(errors, others, lag)
        product = np.sum(now * then, axis=0)
        size = np.sqrt(np.sum(now**2, axis=0) * np.sum(then**2, axis=0))
        values.append(product / np.where(size > 0.0, size, 1.0))
        counts.append(np.maximum(both.sum(axis=0), 1))
    return np.array(values), np.array(counts)


def _pairs(
    errors: Sequence[np.ndarray], others: Sequence[np.ndarray], lag: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors and other values `lag` rows before, (rows, Dy, D), and where both are known.

    They are zero where one is not.
    """
    now = np.concatenate([part[lag:] for part in errors])[:, :, None]
    then = np.concatenate([part[: len(part) - lag] for part in others])[:, None, :]
    both = ~np.isnan(now) & ~np.isnan(then)
    return np.where(both, now, 0.0), np.where(both, then, 0.0), both


def _ljung_box(correlation: np.ndarray, count: np.ndarray, rows: int) -> np.ndarray:
    """n (n + 2) sum_k r_k^2 / (n - k); with n - k the number of pairs, and so for gaps too."""
    return np.sum(correlation**2 * count * (rows + 2) / rows, axis=0)


def _input_shape(inputs: Sequence[np.ndarray], lags: int) -> np.ndarray:
    """Correlation matrices (Du, lags + 1, lags + 1) of each input's last rows.

    Neighbouring cross-correlations vary together as the input does.
    """
    products = []
    for lag in range(lags + 1):
        now, then, _ = _pairs(inputs, inputs, lag)
        products.append(np.einsum("tdd,tdd->d", now, then))
    # not over the number of pairs, which is smaller at larger lags: so it is always a covariance
    own = np.array(products) / sum(map(len, inputs))
    distance = np.abs(np.arange(lags + 1)[:, None] - np.arange(lags + 1))
    return own.T[:, distance]


def _independence(cross: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """p-values (Dy, Du) of cross-correlations in their deviations, (lags + 1, Dy, Du).

    z' R^-1 z is chi-square with as many degrees of freedom as R has directions: an input that
    repeats itself has fewer than there are lags.
    """
    _, outputs, inputs = cross.shape
    found = np.ones((outputs, inputs))
    for i in range(inputs):
        values, vectors = np.linalg.eigh(shape[i])
        kept = values > _LEAST_DIRECTION * values.max()
        along = np.einsum("kd,ky->dy", vectors[:, kept], cross[:, :, i])
        found[:, i] = _chi_square_tail(np.sum(along**2 / values[kept, None], axis=0), kept.sum())
    return found


def _chi_square_tail(value: np.ndarray, freedom: int) -> np.ndarray:
    """Probability of a larger value."""
    from scipy.special import gammaincc  # takes a moment to import, and few callers need it

    return gammaincc(0.5 * freedom, 0.5 * value)
