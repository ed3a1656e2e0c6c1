"""The studio as one object: a project, its logs, models and jobs, and who listens.

Endpoints get it handed in.
"""

import threading
from contextlib import suppress
from typing import Any

from prssm.foundation.errors import PrssmError
from prssm.models.functions.linearise import Linearised
from prssm.studio.events import Events
from prssm.studio.jobs.judge import Judge
from prssm.studio.jobs.queue import Jobs
from prssm.studio.kept import Kept
from prssm.studio.project.columns import Columns, ColumnsKept
from prssm.studio.project.logs import Log, Logs
from prssm.studio.project.models import Models
from prssm.studio.project.runs import Runs
from prssm.studio.project.selection import Selection
from prssm.studio.settings import StudioSettings

SYSTEMS = 32  # plausible systems behind each band
_KEPT = 12  # linearised models that stay in memory


class Studio:
    """All that the endpoints share; `start` begins to work on queued jobs, `close` ends it."""

    def __init__(self, settings: StudioSettings) -> None:
        self.settings = settings
        self.folder = settings.project.resolve()
        self.logs = Logs(self.folder)
        self.models = Models(self.folder)
        self.events = Events()
        self.judge = Judge(self.folder, self.logs, self.models, self.tell)
        self.jobs = Jobs(self.folder, settings.at_once, self.tell)
        self.runs = Runs(self.logs, self.models)
        self._columns = ColumnsKept()
        self._linearised: Kept[Linearised] = Kept(_KEPT)
        for word in settings.data:
            self.logs.add_word(word)

    def start(self) -> None:
        """Queued jobs begin, and what the first picture needs is made ready meanwhile."""
        self.jobs.start()
        threading.Thread(target=self._warm, daemon=True, name="warm").start()

    def _warm(self) -> None:
        """Bokeh takes a second to import, a long log a second to read."""
        from prssm.studio.figures import columns

        assert columns
        for log in self.logs.all()[:1]:
            with suppress(PrssmError, OSError):  # the page will say it
                self.columns(log).rows  # noqa: B018 - reads all columns

    def tell(self, kind: str, **more: Any) -> None:
        """Say to all open pages that something has changed; a new model is scored besides."""
        if kind == "model":
            self.judge.ask(self.jobs, more["job"], more["seconds"])
        self.events.tell(kind, **more)

    def columns(self, log: Log) -> Columns:
        """The columns of a log."""
        return self._columns.of(self.logs.path(log))

    def selection(self, log: Log) -> Selection:
        """What was chosen for a log, or the usual choice."""
        return Selection.of(log.choice) if log.choice else Selection.usual(self.columns(log))

    def linearised(self, id_: str) -> Linearised:
        """A model near the mean of its training inputs, with plausible systems around it."""
        key = (id_, self.models.version(id_))
        return self._linearised.get(key, lambda: self.models.one(id_).linearise(samples=SYSTEMS))

    def close(self) -> None:
        """The server stops: jobs that run save themselves."""
        self.jobs.close()
        self.judge.close()
        self.events.close()
