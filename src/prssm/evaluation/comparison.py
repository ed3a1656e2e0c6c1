"""A fitted model beside the plain ones, the training mean and a linear model, on the same rows.

What does not beat both has learnt nothing. Every comparison of the package takes the plain models
from here, so that another one is one more name in `BASELINES`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prssm.data.record import Record
from prssm.foundation.errors import DataError, PrssmError
from prssm.foundation.show.cards import card, grid, shown_in_notebooks
from prssm.models.estimator import Estimator
from prssm.models.registry import method
from prssm.prediction.metrics import evaluate, evaluate_each
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals

BASELINES = ("constant", "linear")
# In a hurry: seconds for the linear model, and training rows that a run is over.
_SECONDS = 3.0
_ROWS = 20_000


@dataclass(frozen=True)
class ScoreRow:
    """Scores of one method, and its runs where they are shown.

    Where it failed, `scores` is empty and `note` says why.
    """

    label: str
    scores: Mapping[str, float]
    note: str = ""
    predictions: Sequence[Prediction] = ()


@dataclass(frozen=True)
class Run:
    """Free runs over the records of one part of the data, their pooled scores and each output's.

    `beyond` says where what was measured leaves what training saw, so that scores say little.
    """

    label: str
    predictions: list[Prediction]
    scores: dict[str, float]
    each: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    beyond: Sequence[str] = ()


@dataclass(frozen=True)
class Comparison:
    """`runs[0]` is what counts: the test data, or the training data where nothing was kept back."""

    runs: list[Run]
    baselines: list[ScoreRow]
    rows: list[ScoreRow]

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        keys = ("rmse", "fit_percent", "log_likelihood_scaled", "coverage_95")
        rows = [[row.label, *map(row.scores.get, keys), row.note] for row in self.rows]
        table = grid(["model", *keys, "note"], rows)
        return card(f"Free runs on {self.runs[0].label}", table=table)


def compare(
    model: Estimator, train: list[Record], test: list[Record], *, hurry: bool = False
) -> Comparison:
    """Runs the model over test and training data, and the plain models over the first of these.

    In a `hurry` (a fit had a budget of time) long training data are run over in part, and the
    linear model has the order that the fit has found, if it has looked for one.
    """
    runs = [run_over(model, "test data", test)] if test else []
    shown = _first_rows(train) if hurry else train
    label = "training data"
    if shown is not train:
        label += f", first {sum(map(len, shown))} rows"
    # of one log both parts have its name: a warning is about the rows that count
    runs.append(run_over(model, label, shown, warns=not test))
    words = model.preprocessing_.model_words
    order = model.linear_order if hurry else None
    baselines = baseline_rows(model.name, train, test or shown, preprocess=words, order=order)
    return Comparison(runs, baselines, [*baselines, ScoreRow(model.name, runs[0].scores)])


def _first_rows(records: list[Record]) -> list[Record]:
    """The same where they are not long, else the first ones, of which the last is cut."""
    if sum(map(len, records)) <= _ROWS:
        return records
    found: list[Record] = []
    left = _ROWS
    for record in records:
        if left > 1:
            found.append(record[:left])
            left -= len(found[-1])
    return found


def baseline_rows(
    name: str,
    train: list[Record],
    scored: list[Record],
    *,
    preprocess: Sequence[str] = (),
    order: int | None = None,
) -> list[ScoreRow]:
    """The plain models' scores beside those of the method `name`, which is no row of its own.

    `preprocess` are the steps of that method's data, which those of the plain models pass, too.
    The linear model has `order` states and some seconds, where that is given.
    """
    plain = [other for other in BASELINES if other != name]
    options: dict[str, dict[str, Any]] = {} if order is None else {"linear": {"order": order}}
    return [
        _baseline(other, train, scored, preprocess=preprocess, options=options.get(other, {}))
        for other in plain
    ]


def residuals_of(model: Estimator, records: Sequence[Record]) -> Residuals | str:
    """Errors one step ahead on some records, or why there are none, in words."""
    try:
        return model.residuals(list(records))
    except DataError as error:
        return str(error)


def run_over(model: Estimator, label: str, records: list[Record], *, warns: bool = True) -> Run:
    """Free runs of a fitted model over some records, with their scores."""
    predictions = model.simulate(records) if warns else model.free_runs(records)
    y_std = model.scaler_.y_std
    each = evaluate_each(predictions, y_std)
    beyond = measured_beyond(model, predictions)
    return Run(label, predictions, evaluate(predictions, y_std), each=each, beyond=beyond)


def measured_beyond(model: Estimator, predictions: Sequence[Prediction]) -> list[str]:
    """Where what was measured leaves the range of training, one line each.

    A model that sees prepared data knows their range only, so nothing is said of it.
    """
    if model.preprocessing_.model_steps:
        return []
    return [
        line
        for run in predictions
        if run.measured is not None
        for line in model.domain_.about_measured(run.measured, run.output_names, run.name)
    ]


def _baseline(
    name: str,
    train: list[Record],
    scored: list[Record],
    *,
    preprocess: Sequence[str],
    options: Mapping[str, Any],
) -> ScoreRow:
    """A plain model that cannot be fitted is a row that says why: it must not spoil the others."""
    try:
        seconds = _SECONDS if options else None
        model = method(name)(**options).fit(train, preprocess=preprocess, budget=seconds)
        predictions = model.free_runs(scored)  # only the user's own model warns
        scores = evaluate(predictions, model.scaler_.y_std)
        return ScoreRow(name, scores, predictions=predictions)
    except PrssmError as error:
        return ScoreRow(name, {}, f"failed: {error}")
