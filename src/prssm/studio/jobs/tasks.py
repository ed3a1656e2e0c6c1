"""From what the page asks for to the settings of a fit: those of the command line.

A task is a dictionary: `log`, `choice` (the log's selection as it was), `method`, `preset`,
`options` and `budget` in seconds.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prssm.evaluation.tasks.fit import build, checked_steps
from prssm.evaluation.tasks.settings import DataSettings, FitSettings
from prssm.foundation.errors import OptionError
from prssm.studio.project.logs import Log, Logs
from prssm.studio.project.selection import Selection


def task_of(document: Mapping[str, Any], log: Log, selection: Selection) -> dict[str, Any]:
    """What the page has sent, checked, with the selection as it is now."""
    options = document.get("options") or {}
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise OptionError(f"options: expected texts by name, got {options!r}")
    budget = document.get("budget")
    if budget is not None and (not isinstance(budget, int | float) or not budget > 0):
        raise OptionError(f"budget: expected a number of seconds above 0, got {budget!r}")
    return {
        "log": log.id,
        "name": log.name,
        "choice": selection.to_dict(),
        "method": str(document.get("method") or FitSettings.method),
        "preset": str(document.get("preset") or FitSettings.preset),
        "options": {name: text for name, text in options.items() if text.strip()},
        "budget": budget,
    }


def settings_of(
    task: Mapping[str, Any], logs: Logs, model: str, root: Path = Path()
) -> FitSettings:
    """The settings of `prssm fit` in the project folder; wrong options are said at once.

    `root` is that folder, for a process that works elsewhere.
    """
    chosen = Selection.of(task["choice"])
    file = str(root / logs.one(task["log"]).file)
    test = str(root / logs.one(chosen.test_log).file) if chosen.test_log else None
    settings = FitSettings(
        data=DataSettings(data=(file,), test=test, **chosen.parts(), **chosen.reading()),
        method=task["method"],
        preset=task["preset"],
        options=task["options"],
        budget=task["budget"],
        out=Path(model),
        preprocess=chosen.preprocess,
    )
    build(settings)
    checked_steps(settings)
    return settings
