"""A saved model on data, or in another language: `prssm simulate`, `prssm score` and `prssm export`
without the terminal.
"""

from dataclasses import dataclass
from pathlib import Path

from prssm.data.record import Record
from prssm.evaluation.comparison import residuals_of
from prssm.evaluation.tasks.settings import ExportTask, SavedModelSettings
from prssm.evaluation.tasks.sources import records_for_model
from prssm.export import targets
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals


@dataclass(frozen=True, eq=False)
class Scored:
    """A model, the records it ran over, and its scores on them."""

    model: Estimator
    records: list[Record]
    metrics: dict[str, float]
    residuals: Residuals | str  # one step ahead, or why there are none


def simulate(settings: SavedModelSettings) -> list[Prediction]:
    """Free runs over the inputs of the data, one for each record."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    return model.simulate(records, samples=settings.samples, seed=settings.seed)


def score(settings: SavedModelSettings) -> Scored:
    """The free run against what was measured, pooled over records."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    metrics = model.score(records, samples=settings.samples, seed=settings.seed)
    return Scored(model, records, metrics, residuals_of(model, records))


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
