"""A search from data to the best model: `prssm search` without the terminal.

loaded = load_data(settings.data)
found = run(settings, loaded.train)
kept = keep_best(settings, found, loaded)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prssm.data.record import Record
from prssm.evaluation.jobs.runner import Watcher
from prssm.evaluation.search.final import CHOSEN_FILE, MODEL_FILE, refit, write_options
from prssm.evaluation.search.search import Found, search
from prssm.evaluation.tasks.settings import COLUMN_NAMES, DataSettings, SearchSettings
from prssm.evaluation.tasks.sources import Loaded
from prssm.training.session import Progress


@dataclass(frozen=True)
class Kept:
    """The end of a search: what was chosen, how it scores, and the files.

    `chosen` is None where nothing was refitted.
    """

    chosen: Mapping[str, Any] | None
    written: list[Path]


def run(settings: SearchSettings, train: list[Record], watcher: Watcher | None = None) -> Found:
    """All trials that are not recorded in the folder yet."""
    return search(
        train,
        settings.over,
        out=settings.out,
        method=settings.method,
        preset=settings.preset,
        options=settings.options,
        trials=settings.trials,
        hold_out=settings.hold_out,
        folds=settings.folds,
        by=settings.by,
        prune=settings.prune,
        workers=settings.workers,
        dask=settings.dask,
        retry_failed=settings.retry_failed,
        watcher=watcher,
    )


def keep_best(
    settings: SearchSettings, found: Found, loaded: Loaded, progress: bool | Progress = False
) -> Kept:
    """Write the best options and, if wanted, refit them to all training data.

    The test part is then scored, once.
    """
    folder = settings.out
    written = [write_options(folder, found.best, _told(settings.data))]
    if settings.no_fit:
        return Kept(None, written)
    chosen = refit(folder, found.best, loaded.train, test=loaded.test, progress=progress)
    return Kept(chosen, [*written, folder / MODEL_FILE, folder / CHOSEN_FILE])


def _told(data: DataSettings) -> dict[str, Any]:
    """The data as keys of a file for `prssm fit --config`."""
    return {
        "data": list(data.data),
        **{name: getattr(data, name) for name in COLUMN_NAMES},
        "inputs": None if data.inputs is None else list(data.inputs),
        "outputs": None if data.outputs is None else list(data.outputs),
        "test": data.test,
        "split": data.split,
        "rows": data.rows,
        "test_rows": data.test_rows,
    }
