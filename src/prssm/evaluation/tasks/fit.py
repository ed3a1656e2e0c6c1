"""From data to a model file: `prssm fit` without the terminal.

fitted = fit(FitSettings(data=DataSettings(data=("log.csv",), split=0.7)))
compare(fitted.model, fitted.train, fitted.test)
"""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prssm.data.preprocessing.cutting import Split
from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.record import Record
from prssm.evaluation.tasks import many
from prssm.evaluation.tasks.settings import FitSettings
from prssm.evaluation.tasks.sources import load_data
from prssm.foundation.errors import OptionError, PrssmError
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.models.prssm.starts.budgeted import choice_file
from prssm.models.registry import method
from prssm.training.checkpoint import Checkpoint
from prssm.training.session import Progress

_LEAST_SHARE = 0.1  # of a budget, that a fit has even where reading takes all of it

Note = Callable[[str], None]  # takes a line that a person would want to know


def no_notes(text: str) -> None:
    """Keeps notes to itself."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The model, what it saw and what it is scored on.

    `leads` is false in all but one of several processes: those have nothing to write or to say.
    """

    model: Estimator
    train: list[Record]
    test: list[Record]
    leads: bool = True


def fit(
    settings: FitSettings,
    *,
    progress: bool | Progress = False,
    note: Note = no_notes,
    phase: Note = no_notes,
    saved: Note = no_notes,
    begun: float | None = None,
) -> Fitted:
    """Train a model and write it to `settings.out`, which holds the best so far meanwhile.

    `note` is told what a person should know, `phase` what begins, `saved` each better model.
    An interruption leaves the best one and the checkpoint. A budget counts from the moment `begun`
    (of `time.monotonic`), now if there is none: a command begins before all is imported.
    """
    begun = time.monotonic() if begun is None else begun
    model = build(settings)
    steps = checked_steps(settings)
    many.join(settings.processes)
    phase(f"reading {settings.data.title}")
    loaded = load_data(settings.data)
    checkpoint = settings.checkpoint_file
    leads = many.leads(settings.processes)
    if leads:
        _prepare(checkpoint, settings.resume, note)
    so_far = _SoFar(settings.out, begun, saved, least=_error_to_beat(settings))
    phase(f"fitting {model.name}: linear models first, then training")
    model.fit(
        loaded.source,
        progress=progress,
        checkpoint=checkpoint,
        resume=settings.resume,
        devices=settings.devices,
        budget=_left_of(settings.budget, begun),
        found=so_far.save,
        preprocess=settings.preprocess,
    )
    many.part(settings.processes)
    if leads:
        phase(f"saving {settings.out}")
        model.save(settings.out)
        checkpoint.unlink(missing_ok=True)
    test = loaded.test or steps.held_out(loaded.train)
    return Fitted(model, steps.training(loaded.train), test, leads)


def _left_of(budget: float | None, begun: float) -> float | None:
    """What is left for the fit itself after programs and data were read.

    A wrong one stays, for the fit to refuse it.
    """
    if budget is None or not budget > 0.0:
        return budget
    return max(budget - (time.monotonic() - begun), _LEAST_SHARE * budget)


def checked_steps(settings: FitSettings) -> Preprocessing:
    """The steps of preprocessing; wrong words are said before any data are read."""
    steps = Preprocessing.of(settings.preprocess)
    held_back = [str(step) for step in steps.training_steps if isinstance(step, Split)]
    for word in ("test", "split", "test_rows"):
        if held_back and getattr(settings.data, word) is not None:
            said = f"--{word.replace('_', '-')}"
            raise OptionError(f"{said} and --preprocess {held_back[0]}: give one of them, not both")
    return steps


@dataclass(frozen=True)
class _SoFar:
    """The model file while training goes on: the best so far, also after Ctrl-C.

    A run that is resumed first finds what it had found before. Until it errs less than `least`,
    the file stays as it is.
    """

    out: Path
    begun: float
    saved: Note
    least: float

    def save(self, model: Estimator) -> None:
        error = model.held_out_error
        if error is not None and error > self.least:
            return
        model.save(self.out)
        told = dict(model.findings()).get("Complexity") or model.name
        self.saved(f"after {time.monotonic() - self.begun:.0f} s, saved in {self.out}: {told}")


def _error_to_beat(settings: FitSettings) -> float:
    """That of the model which an interrupted run has left; infinite where there is none."""
    if not (settings.resume and settings.checkpoint_file.exists() and settings.out.exists()):
        return math.inf
    try:
        error = load(settings.out).held_out_error
    except PrssmError:
        return math.inf  # a file of another kind: it is replaced, as without --resume
    return math.inf if error is None else error


def build(settings: FitSettings) -> Estimator:
    """The unfitted estimator; wrong options are said before any data are read."""
    kind = method(settings.method)
    return kind(settings.preset, **kind.Config.parse(settings.options))


def _prepare(checkpoint: Path, resume: bool, note: Note) -> None:
    """An earlier run's checkpoint is continued or put aside, never overwritten."""
    if resume and not checkpoint.exists():
        note(f"{checkpoint}: no checkpoint there, so training starts from the beginning")
    if not resume and checkpoint.exists():
        kept = Path(f"{checkpoint}.old")
        with Checkpoint(checkpoint, fingerprint="").alone():
            os.replace(checkpoint, kept)
            if choice_file(checkpoint).exists():
                os.replace(choice_file(checkpoint), choice_file(kept))
        note(
            f"an unfinished run was found; its checkpoint is now {kept} (to go on with it: "
            f"--resume --checkpoint {kept})"
        )
