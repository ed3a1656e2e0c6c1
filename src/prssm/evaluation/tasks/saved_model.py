"""A saved model on data: `prssm simulate` and `prssm score` without the terminal."""

from dataclasses import dataclass

from prssm.data.record import Record
from prssm.evaluation.tasks.settings import SavedModelSettings
from prssm.evaluation.tasks.sources import records_for_model
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.prediction.prediction import Prediction


@dataclass(frozen=True, eq=False)
class Scored:
    """A model, the records it ran over, and its scores on them."""

    model: Estimator
    records: list[Record]
    metrics: dict[str, float]


def simulate(settings: SavedModelSettings) -> list[Prediction]:
    """Free runs over the inputs of the data, one for each record."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    return model.simulate(records, samples=settings.samples, seed=settings.seed)


def score(settings: SavedModelSettings) -> Scored:
    """The free run against what was measured, pooled over records."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    metrics = model.evaluate(records, samples=settings.samples, seed=settings.seed)
    return Scored(model, records, metrics)
