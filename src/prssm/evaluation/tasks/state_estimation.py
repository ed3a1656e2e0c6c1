"""A saved model takes measurements in: `prssm filter` and `predict` without the terminal."""

from prssm.evaluation.tasks.settings import FilterSettings, PredictSettings
from prssm.evaluation.tasks.sources import records_for_model
from prssm.models.files import load
from prssm.prediction.estimate import Estimate
from prssm.prediction.prediction import Prediction


def filtered(settings: FilterSettings) -> list[Estimate]:
    """State and outputs at every row of every record."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    work = model.smooth if settings.smooth else model.filter
    return work(records, method=settings.method)


def predicted(settings: PredictSettings) -> list[Prediction]:
    """Every row of every record from measurements some rows before it."""
    model = load(settings.model)
    records = records_for_model(model, settings.data, settings)
    return model.predict(records, horizon=settings.horizon, method=settings.method)
