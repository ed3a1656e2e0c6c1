"""How far linear models of any order err on stretches of the data that they were not fitted to.

`Halves` looks for the models, `SecondLook` improves them on more rows and predicts other stretches.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.splits import LEAST_ROWS, folds, split
from prssm.foundation.errors import TrainingError
from prssm.linear.first_state import InitialState
from prssm.linear.output_error import Identification
from prssm.linear.system import MAX_RADIUS, LinearSystem, spectral_radius

RADII = (MAX_RADIUS, 0.98, 0.95)  # limits of the poles, from any memory to twenty samples of it
FEW = 40  # states times outputs; beyond, a search takes long and only the best start is refined
_TOO_TIGHT = 1.2  # times the error without a limit: a tighter one of several outputs is not tried
_WARMUPS = 3  # of a quarter: a shorter run tells more of its first state than of a model
_TIE = 0.02  # held-out errors this close, relative to the best, are equal: the simpler model wins
EXACT = 1e-4  # and so are errors below this fraction of the output's deviation


@dataclass(frozen=True, eq=False)
class HeldOutErrors:
    """Errors (rows, Dy) of free runs over stretches that the model was not fitted to.

    There is one array for each stretch.
    """

    errors: list[np.ndarray]
    warmup: int
    max_radius: float  # the limit under which the models were fitted
    systems: list[LinearSystem]  # the models, one for each fold

    @property
    def rms(self) -> float:
        """Root mean square over all stretches and outputs.

        The warm-up is included, as a test counts it.
        """
        return float(np.sqrt(np.nanmean(np.concatenate(self.errors) ** 2)))

    @property
    def std(self) -> np.ndarray:
        """Root mean square of each output after the warm-up.

        By then the first state's own uncertainty has gone.
        """
        late = np.concatenate(
            [
                error[self.warmup :] if len(error) > 2 * self.warmup else error
                for error in self.errors
            ]
        )
        return np.sqrt(np.nanmean(late**2, axis=0))

    @property
    def radius(self) -> float:
        """The largest of a pole of the models."""
        return max(spectral_radius(system.A) for system in self.systems)


def near_models(found: HeldOutErrors | None) -> tuple[LinearSystem, ...]:
    """Where a search on all data may begin beside its own starts: models of several outputs.

    These have many local optima. Those of one output are found without help.
    """
    if found is None or len(found.systems[0].C) == 1:
        return ()
    return tuple(found.systems)


class _Folds:
    """The data cut into `count` stretches: each is predicted by a model of all others.

    A record too short for stretches of `least_rows` is never held out.
    """

    def __init__(
        self,
        records: Sequence[Record],
        count: int,
        warmup: int,
        *,
        enough: Callable[[], bool],
        least_rows: int = LEAST_ROWS,
    ) -> None:
        self.warmup = warmup
        plan = folds(records, count, least_rows)
        self.parts = [_Part.of(*split(records, stretches), enough) for stretches in plan]
        self.usable = bool(self.parts) and all(part.measured for part in self.parts)

    def predict(self, systems: list[LinearSystem], max_radius: float) -> HeldOutErrors | None:
        """Free runs of a model for each fold; None where some output is not held out anywhere."""
        errors = []
        for part, system in zip(self.parts, systems, strict=True):
            start = InitialState.fit(system, part.fit)
            errors += [
                _free_run_error(system, start, record, warmup=self.warmup)
                for record in part.held_out
            ]
        there = [~np.isnan(error[self.warmup :]) for error in errors]
        if not np.concatenate(there).any(axis=0).all():
            return None
        return HeldOutErrors(errors, self.warmup, max_radius, systems)


class Halves:
    """Free runs of models of any order over halves of the data that they were not fitted to.

    A free run as long as the data is a hard test, and drifts that a short stretch hides show in it.
    What was found for one order and one limit of the poles is where the search for the next begins.
    """

    def __init__(
        self,
        records: Sequence[Record],
        warmup: int,
        starts: int,
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        """Once `enough` says so, searches end and no further limit of the poles is tried."""
        self.starts = starts
        self._enough = enough
        self._outputs = records[0].output_dim
        self._folds = _Folds(records, 2, warmup, enough=enough)
        self._near: list[list[LinearSystem]] = [[] for _ in self._folds.parts]

    def hold_out(self, order: int) -> HeldOutErrors | None:
        """Errors under the limit of the poles that serves them best.

        None where the data are too short, or where some output is not measured in what is fitted or
        in what is held out.

        Slow modes that training drifts have suggested do harm in a long free run; whether they do
        is seen here.
        """
        if not self._folds.usable:
            return None
        limits: list[HeldOutErrors] = []
        systems = self._near
        starts = self.starts if order * self._outputs <= FEW else 1
        for max_radius in RADII:
            if limits and limits[-1].radius <= max_radius:
                continue  # the limit would change nothing
            if limits and (self._enough() or self._is_too_tight(limits)):
                break
            found = [
                part.identification.best(
                    order, starts=starts, random_starts=0, max_radius=max_radius, near=near
                )
                for part, near in zip(self._folds.parts, systems, strict=True)
            ]
            result = self._folds.predict(found, max_radius)
            if result is None:
                return None
            if not limits:
                self._near = [[system] for system in found]
            systems = [[system] for system in found]
            limits.append(result)
        return limits[first_good([result.rms for result in limits])]

    def _is_too_tight(self, limits: Sequence[HeldOutErrors]) -> bool:
        """Whether the last limit of several outputs errs so much that no tighter one is tried."""
        return self._outputs > 1 and limits[-1].rms > _TOO_TIGHT * limits[0].rms

    def glance(self, order: int) -> float:
        """The error of subspace estimates, which no search has improved; infinite without any."""
        found = self.glimpse(order)
        return found.rms if found else np.inf

    def glimpse(self, order: int) -> HeldOutErrors | None:
        """All errors of subspace estimates; None where there are none."""
        if not self._folds.usable:
            return None
        try:
            found = [part.identification.glance(order) for part in self._folds.parts]
        except (TrainingError, np.linalg.LinAlgError):
            return None
        return self._folds.predict(found, MAX_RADIUS)


class SecondLook:
    """Free runs of models that have seen more rows than those of the halves.

    Half of the data tell fewer states than all of them do. The models of the halves are where the
    searches begin, so that they take little time.
    """

    def __init__(self, folds: _Folds) -> None:
        self._folds = folds

    @classmethod
    def quarters(
        cls, records: Sequence[Record], warmup: int, enough: Callable[[], bool] = lambda: False
    ) -> Self:
        """Each quarter is predicted by a model of the other three."""
        least_rows = max(LEAST_ROWS, _WARMUPS * warmup)
        return cls(_Folds(records, 4, warmup, enough=enough, least_rows=least_rows))

    @classmethod
    def longer(
        cls, records: Sequence[Record], warmup: int, enough: Callable[[], bool] = lambda: False
    ) -> Self:
        """Halves again, of longer records than the first look was at."""
        return cls(_Folds(records, 2, warmup, enough=enough))

    def hold_out(self, halves: HeldOutErrors) -> HeldOutErrors | None:
        """Errors at the order and limit of what halves have found; None as there."""
        if not self._folds.usable:
            return None
        found = [
            part.identification.improved(halves.systems, max_radius=halves.max_radius)
            for part in self._folds.parts
        ]
        return self._folds.predict(found, halves.max_radius)


class _Part(NamedTuple):
    """What is fitted and what is predicted, centred by the means of what is fitted."""

    identification: Identification
    fit: list[Record]
    held_out: list[Record]
    measured: bool  # whether all outputs are in what is fitted

    @classmethod
    def of(
        cls, fit: Sequence[Record], held_out: Sequence[Record], enough: Callable[[], bool]
    ) -> Self:
        complete = not np.isnan(np.concatenate([record.y for record in fit])).all(axis=0).any()
        centre = _centring(fit)
        shown = [centre.scale(record) for record in fit]
        return cls(
            Identification(shown, enough),
            shown,
            [centre.scale(record) for record in held_out],
            complete,
        )


def _centring(records: Sequence[Record]) -> Scaler:
    """Removes the means of what is fitted.

    The means of all data would tell something of what is held out.
    """
    means = Scaler.fit(records)
    return Scaler(
        means.u_mean, np.ones_like(means.u_mean), means.y_mean, y_std=np.ones_like(means.y_mean)
    )


def _free_run_error(
    system: LinearSystem, start: InitialState, record: Record, warmup: int
) -> np.ndarray:
    x0, _ = start.estimate(system, record.u, record.y[:warmup])
    return record.y - system.simulate(x0, record.u)[0]


def first_good(errors: Sequence[float]) -> int:
    """Index of the first error that is as good as the smallest.

    The first of all where none is finite.
    """
    return next(iter(as_good(errors, _TIE)), 0)


def as_good(errors: Sequence[float], tie: float) -> list[int]:
    """Indices of all errors within `tie` of the smallest, relative to it.

    One that is not finite is no candidate.
    """
    finite = [error if np.isfinite(error) else np.inf for error in errors]
    limit = min(finite, default=np.inf) * (1.0 + tie) + EXACT
    return [index for index, error in enumerate(finite) if np.isfinite(error) and error <= limit]
