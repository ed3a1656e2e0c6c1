"""Runs of models over logs, made once and kept: free runs, and predictions some rows ahead."""

from dataclasses import dataclass
from typing import Any

from prssm.data.record import Record
from prssm.evaluation.tasks.settings import ColumnSettings
from prssm.evaluation.tasks.sources import records_for_model
from prssm.foundation.errors import DataError
from prssm.models.estimator import Estimator
from prssm.prediction.prediction import Prediction
from prssm.studio.kept import Kept
from prssm.studio.project.logs import Log, Logs
from prssm.studio.project.models import Models
from prssm.studio.project.selection import READING, Selection

_KEPT = 40  # runs that stay in memory
LEAST = 2  # rows of a run


@dataclass(frozen=True)
class Stretch:
    """Some rows of a log; `end` None is the last one."""

    log: str
    begin: int = 0
    end: int | None = None


class Runs:
    """The runs of a project's models over its logs."""

    def __init__(self, logs: Logs, models: Models) -> None:
        self._logs = logs
        self._models = models
        self._kept: Kept[Prediction] = Kept(_KEPT)

    def record(self, model: Estimator, stretch: Stretch) -> Record:
        """The rows as the model takes them; time is read as it was chosen for the log."""
        log = self._logs.one(stretch.log)
        path = str(self._logs.path(log))
        records = records_for_model(model, path, ColumnSettings(**_reading(log)))
        if len(records) > 1:
            raise DataError(
                f"{log.name}: gaps split it into {len(records)} experiments; expected one"
            )
        found = records[0][stretch.begin : stretch.end].renamed(log.name)
        if len(found) < LEAST:
            raise DataError(f"{log.name}: expected at least {LEAST} rows, got {len(found)}")
        return found

    def run(self, id_: str, stretch: Stretch, horizon: int | None = None) -> Prediction:
        """The free run of a model, or its prediction so many rows ahead."""
        key = (id_, self._models.version(id_), self._version(stretch), stretch, horizon)
        return self._kept.get(key, lambda: self._made(id_, stretch, horizon))

    def _made(self, id_: str, stretch: Stretch, horizon: int | None) -> Prediction:
        model = self._models.one(id_)
        record = self.record(model, stretch)
        if horizon is None:
            return model.free_runs(record)[0]
        return model.predict(record, horizon=horizon)

    def _version(self, stretch: Stretch) -> tuple[Any, ...]:
        """What changes with the log and how its time is read."""
        log = self._logs.one(stretch.log)
        return (self._logs.path(log).stat().st_mtime_ns, repr(_reading(log)))


def _reading(log: Log) -> dict[str, Any]:
    """How time is read; inputs and outputs are those that a model knows."""
    chosen = Selection.of(log.choice)
    names = ("time", *READING)
    return {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
