"""Scores every model that a job writes on its way, beside the plain models of the same rows.

It works in a thread of its own, one model after the other.
"""

import queue
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prssm.data.record import Record
from prssm.evaluation.comparison import ScoreRow, baseline_rows
from prssm.evaluation.tasks.fit import checked_steps
from prssm.evaluation.tasks.sources import load_data
from prssm.foundation.errors import PrssmError
from prssm.models.estimator import Estimator
from prssm.prediction.metrics import evaluate
from prssm.prediction.prediction import Prediction
from prssm.studio.jobs.job import Job
from prssm.studio.jobs.queue import Jobs
from prssm.studio.jobs.tasks import settings_of
from prssm.studio.kept import Kept
from prssm.studio.project.logs import Logs
from prssm.studio.project.models import Models

METRICS = ("rmse", "rmse_after_warmup", "fit_percent", "log_likelihood_scaled", "coverage_95")
LINEAR = "linear"
_KEPT = 4  # rows of different choices that stay in memory


@dataclass(frozen=True, eq=False)
class Rows:
    """What a job trains on and what its models are scored on, with the plain models' scores."""

    train: list[Record]
    scored: list[Record]
    held_out: bool  # whether the scored rows are no training rows
    plain: list[ScoreRow]

    @property
    def linear(self) -> ScoreRow | None:
        """The row of the linear model."""
        return next((row for row in self.plain if row.label == LINEAR), None)


class Judge:
    """Asks each new model for its free run, and keeps the score in the job."""

    def __init__(self, project: Path, logs: Logs, models: Models, tell: Any) -> None:
        self._project = project
        self._logs = logs
        self._models = models
        self._tell = tell
        self._asked: queue.Queue[tuple[Jobs, str, float] | None] = queue.Queue()
        self._rows: Kept[Rows] = Kept(_KEPT)
        self._thread = threading.Thread(target=self._work, daemon=True, name="judge")
        self._thread.start()

    def ask(self, jobs: Jobs, id_: str, seconds: float) -> None:
        """Score the model that the job has just written."""
        self._asked.put((jobs, id_, seconds))

    def close(self) -> None:
        """No more."""
        self._asked.put(None)

    def rows(self, job: Job) -> Rows:
        """The rows of a job, read once."""
        return self._rows.get(
            repr((job.task["log"], job.task["choice"])), lambda: self._read(job.task)
        )

    def run(self, model: Estimator, rows: Rows) -> tuple[list[Prediction], dict[str, float]]:
        """The free runs over the scored rows, and their scores."""
        predictions = model.free_runs(rows.scored)
        scores = evaluate(predictions, model.scaler_.y_std)
        return predictions, {name: scores[name] for name in METRICS}

    def _read(self, task: Mapping[str, Any]) -> Rows:
        settings = settings_of(task, self._logs, "model.prssm", root=self._project)
        steps = checked_steps(settings)
        loaded = load_data(settings.data)
        train = steps.training(loaded.train)
        test = loaded.test or steps.held_out(loaded.train)
        plain = baseline_rows("", train, test or train, preprocess=steps.model_words)
        return Rows(train, test or train, bool(test), plain)

    def _work(self) -> None:
        while (asked := self._asked.get()) is not None:
            jobs, id_, seconds = asked
            try:
                job = jobs.one(id_)
                _, scores = self.run(self._models.one(id_), self.rows(job))
                jobs.judged(id_, {"seconds": seconds, **scores})
                self._tell("judged", job=id_)
            except PrssmError as error:
                self._tell("note", job=id_, text=str(error))
            except Exception as error:  # the thread goes on for the other jobs
                traceback.print_exception(error, file=sys.stderr)
