"""Saved models on data, or in another language, without the terminal.

These are `prssm simulate`, `score`, `compare`, `report` and `export`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prssm.data.record import Record
from prssm.evaluation.comparison import (
    Run,
    ScoreRow,
    measured_beyond,
    residuals_of,
    run_over,
)
from prssm.evaluation.tasks.settings import (
    ColumnSettings,
    ComparisonSettings,
    ExportTask,
    SavedModelSettings,
)
from prssm.evaluation.tasks.sources import records_for_model
from prssm.export import targets
from prssm.foundation.errors import warn
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.prediction.metrics import evaluate, evaluate_each
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals


@dataclass(frozen=True, eq=False)
class Scored:
    """A model, the records it ran over, and its scores on them, also those of each output."""

    model: Estimator
    records: list[Record]
    metrics: dict[str, float]
    residuals: Residuals | str  # one step ahead, or why there are none
    each: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Compared:
    """Models in the order of the settings, and the free run of each over the same data."""

    models: list[Estimator]
    runs: list[Run]
    rows: list[ScoreRow]


def simulate(settings: SavedModelSettings) -> list[Prediction]:
    """Free runs over the inputs of the data, one for each record."""
    return _runs(settings)[2]


def score(settings: SavedModelSettings) -> Scored:
    """The free run against what was measured, pooled over records."""
    model, records, runs = _runs(settings)
    y_std = model.scaler_.y_std
    metrics = evaluate(runs, y_std)  # first, because it says best what there is not to score
    each = evaluate_each(runs, y_std)
    for line in measured_beyond(model, runs):
        warn(line)
    return Scored(model, records, metrics, residuals_of(model, records), each)


def _runs(settings: SavedModelSettings) -> tuple[Estimator, list[Record], list[Prediction]]:
    """The model, its data and its free runs over them."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    runs = model.simulate(
        records, samples=settings.samples, seed=settings.seed, start=settings.start
    )
    return model, records, runs


def run_saved(
    path: Path, data: str, columns: ColumnSettings, label: str = ""
) -> tuple[Estimator, Run]:
    """A saved model and its free run over some data, for a report."""
    model = load(path)
    return model, run_over(model, label or data, records_for_model(model, data, columns))


def compare_saved(settings: ComparisonSettings) -> Compared:
    """Several saved models over the same data."""
    found = [run_saved(path, settings.data, settings) for path in settings.models]
    labels = _labels(settings.models, [model for model, _ in found])
    rows = [
        ScoreRow(label, run.scores, predictions=run.predictions)
        for label, (_, run) in zip(labels, found, strict=True)
    ]
    return Compared([model for model, _ in found], [run for _, run in found], rows)


def _labels(paths: Sequence[Path], models: Sequence[Estimator]) -> list[str]:
    """File and method; the whole path where two files have one name."""
    stems = [path.stem for path in paths]
    names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths]
    return [f"{name} ({model.name})" for name, model in zip(names, models, strict=True)]


def export(task: ExportTask) -> Path:
    """The model in another language; the path of what was written."""
    return targets.export(
        load(task.model),
        task.to,
        task.place,
        samples=task.samples,
        precision=task.precision,
        seed=task.seed,
    )
