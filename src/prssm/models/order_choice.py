"""How many states a linear model should have, and how large its errors are, judged on held-out stretches of training data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.models.initial_state import InitialState
from prssm.models.linear_system import LinearSystem
from prssm.models.output_error import identify

FOLDS = 4
_PATIENCE = 2  # orders without improvement before the search ends
_SHORTEST = 16  # rows of a stretch that is worth predicting


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors (rows, Dy) of free runs over stretches that the model was not fitted to, one array for each stretch."""

    errors: list[np.ndarray]
    warmup: int

    @property
    def losses(self) -> np.ndarray:
        """Mean squared error of each stretch, warm-up included, as a test counts it."""
        return np.array([np.nanmean(error**2) for error in self.errors])

    def std(self) -> np.ndarray:
        """Root mean square error of each output after the warm-up, where the first state's own uncertainty has gone."""
        late = np.concatenate([error[self.warmup :] if len(error) > 2 * self.warmup else error for error in self.errors])
        return np.sqrt(np.nanmean(late**2, axis=0))


Split = tuple[list[Record], list[Record]]  # what to fit, what to predict


def splits(records: Sequence[Record], folds: int = FOLDS) -> list[Split]:
    """Each stretch of the data is held out once: whole records where there are many, else equal parts of each record.

    Empty where the data are too short to spare anything.
    """
    if len(records) >= 2 * folds:
        groups = [list(records[fold::folds]) for fold in range(folds)]
        return [([r for j, group in enumerate(groups) if j != i for r in group], groups[i]) for i in range(folds)]
    if min(len(record) for record in records) < folds * _SHORTEST:
        return []
    return [_cut(records, fold, folds) for fold in range(folds)]


def _cut(records: Sequence[Record], fold: int, folds: int) -> Split:
    fit, held_out = [], []
    for record in records:
        edges = np.linspace(0, len(record), folds + 1).astype(int)
        fit += [record[: edges[fold]]] if fold > 0 else []
        fit += [record[edges[fold + 1] :]] if fold + 1 < folds else []
        held_out.append(record[edges[fold] : edges[fold + 1]])
    return fit, held_out


def hold_out(records: Sequence[Record], order: int, warmup: int, starts: int, seed: int) -> HeldOut | None:
    """Fit on all but a stretch, run freely over that stretch from its first samples, for each stretch."""
    errors = []
    for fit, held_out in splits(records):
        system = identify(fit, order, starts=starts, seed=seed)
        prior = InitialState.fit(system, fit)
        errors += [_free_run_error(system, prior, record, warmup) for record in held_out]
    errors = [error for error in errors if not np.isnan(error).all()]
    return HeldOut(errors, warmup) if errors else None


def _free_run_error(system: LinearSystem, prior: InitialState, record: Record, warmup: int) -> np.ndarray:
    x0, _ = prior.estimate(system, record.u, record.y[:warmup])
    return record.y - system.simulate(x0, record.u)[0]


def choose_order(judge: Callable[[int], HeldOut | None], max_order: int) -> tuple[int, HeldOut | None]:
    """The smallest order that is not clearly worse than the best: within one standard error of the paired difference."""
    judged: list[HeldOut] = []
    for order in range(1, max_order + 1):
        result = judge(order)
        if result is None:
            return 1, None
        judged.append(result)
        best = int(np.argmin([held_out.losses.mean() for held_out in judged]))
        if order - 1 - best >= _PATIENCE:
            break
    for index, held_out in enumerate(judged[:best]):
        difference = held_out.losses - judged[best].losses
        if difference.mean() <= difference.std(ddof=1) / np.sqrt(len(difference)):
            return index + 1, held_out
    return best + 1, judged[best]
