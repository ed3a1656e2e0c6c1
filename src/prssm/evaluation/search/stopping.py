"""Stops poor trials by their training evidence, the ELBO for each recorded step.

The rule is the median rule (as in Optuna's MedianPruner): at some moments of its training a trial
is stopped if its ELBO is below the median of those that finished trials had at that moment. A
margin spares near ties, whose order says nothing.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prssm.foundation.errors import PrssmError

CHECKS = 10  # looks at a training, at equal fractions of its iterations
FIRST_CHECK = 3  # before it, curves say little: the KL terms are still coming in
LEAST_FINISHED = 4  # trials that a median needs
MARGIN = 0.1  # ELBO for each recorded step
# what methods with an evidence bound report; others are never stopped
EVIDENCE = ("best ELBO", "bound")
# Options that change what the bound means or how it is reported: trials that differ in one are not
# compared.
MEANING = (
    "scheme",
    "horizon",
    "stride",
    "likelihood",
    "kl_warmup",
    "normalise",
    "recognition_window",
    "lags",
    "complexity",
    "folds",
    "restarts",
)

Bars = tuple[float | None, ...]  # for each check the value below which a trial is stopped


class TrialStopped(PrssmError):
    """A trial's training evidence is too far behind that of others."""


def kind_of(method: str, configuration: Mapping[str, Any]) -> str:
    """Trials of one kind have bounds that can be compared."""
    return " ".join(
        [method, *(f"{name}={configuration[name]}" for name in MEANING if name in configuration)]
    )


def bars_of(
    curves: Iterable[Sequence[float | None]],
    fits: int = 1,
    *,
    margin: float = MARGIN,
    least: int = LEAST_FINISHED,
    first: int = FIRST_CHECK,
) -> Bars:
    """The bars at all checks of all fits, from the curves of finished trials of the same kind."""
    curves = list(curves)
    bars: list[float | None] = []
    for check in range(CHECKS * fits):
        known = [
            value for curve in curves for value in curve[check : check + 1] if value is not None
        ]
        # at the very end nothing is left to save
        in_time = check % CHECKS + 1 >= first and check + 1 < CHECKS * fits
        enough = in_time and len(known) >= max(least, 1)
        bars.append(statistics.median(known) - margin if enough else None)
    return tuple(bars)


class Evidence:
    """Watches the training of one fit after the other, and stops it below the bar.

    Between two checks the best bound counts.
    """

    def __init__(self, bars: Bars = ()) -> None:
        self.bars = bars
        self.curve: list[float | None] = []
        self._rows = 1
        self._first = 0
        self._total = 1
        self._best: float | None = None

    def begin_fit(self, rows: int) -> None:
        """Begins the next fit, on `rows` recorded steps.

        Checks that the last fit skipped, because it ended early, keep its last value.
        """
        if self.curve:
            self._fill(-(-len(self.curve) // CHECKS) * CHECKS, self.curve[-1])
        self._rows = rows
        self._first = len(self.curve)
        self._best = None

    def start(self, total: int, done: int, label: str) -> None:
        self._total = max(total, 1)
        self._best = None

    def update(self, done: int, figures: Mapping[str, float]) -> None:
        values = [figures[name] for name in EVIDENCE if name in figures]
        if not values:
            return
        value = values[0] / self._rows
        self._best = value if self._best is None else max(self._best, value)
        reached = self._first + min(CHECKS, done * CHECKS // self._total)
        if reached > len(self.curve):
            self._fill(reached, self._best)
            self._best = None
            self._compare()

    def stop(self) -> None: ...

    def _fill(self, length: int, value: float | None) -> None:
        self.curve += [value] * (length - len(self.curve))

    def _compare(self) -> None:
        check = len(self.curve) - 1
        value = self.curve[-1]
        bar = self.bars[check] if check < len(self.bars) else None
        if bar is not None and value is not None and not value >= bar:
            raise TrialStopped(
                f"after {(check % CHECKS + 1) / CHECKS:.0%} of training: ELBO {value:.3f} a step, "
                f"below {bar:.3f} (the median of finished trials less {MARGIN:g})"
            )
