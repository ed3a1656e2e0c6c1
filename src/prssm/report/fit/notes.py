"""What the figures and tables mean, in plain words, and what to distrust."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.evaluation.comparison import Comparison, Run
from prssm.prediction.cautions import leaves
from prssm.report.fit.calibration import chance_of_holding, independent_errors
from prssm.report.tables import ScoreRow
from prssm.training.log import TrainingLog

# coverage of the 95 % band below, below and above which we speak up
NARROW = 0.80
DOUBTFUL = 0.90
WIDE = 0.995
_WIDE_MIDDLE = 0.70  # coverage of the 50 % band above which all of a band is wide, not its ends
_CHANCE = 0.05  # that a right band holds as much, below which it is called too wide
GAP = 2.5  # times the error on training data, from which we speak up


@dataclass(frozen=True)
class Note:
    """`kind` is 'warning', 'good', or 'open' where the data cannot tell."""

    kind: str
    text: str


def notes_about(
    runs: Sequence[Run],
    baselines: Sequence[ScoreRow],
    log: TrainingLog | None,
    *,
    held_out: bool,
    is_linear: bool = False,
) -> list[Note]:
    """All remarks about a fitted model, warnings first; `is_linear` as the model says."""
    notes = (
        []
        if held_out
        else [
            Note(
                "warning",
                "No data was kept back: the scores below are on training data and say "
                "little about new data.",
            )
        ]
    )
    notes += [
        *_about_data(runs[0]),
        *_about_measured(runs[0]),
        *_about_band(runs[0]),
        *_about_baselines(runs[0], baselines, is_linear),
        *_about_gap(runs),
        *_about_training(log),
    ]
    return sorted(notes, key=lambda note: note.kind != "warning")


def cautions(
    comparison: Comparison, log: TrainingLog | None, *, is_linear: bool = False
) -> list[str]:
    """The warnings of the report that nobody has said yet, for the terminal.

    What runs say of themselves, and that nothing was kept back, is said when it is found.
    """
    runs = comparison.runs
    notes = notes_about(runs, comparison.baselines, log, held_out=True, is_linear=is_linear)
    said = {note.text for note in _about_data(runs[0])}
    return [note.text for note in notes if note.kind == "warning" and note.text not in said]


def _about_data(run: Run) -> list[Note]:
    """What the runs must be distrusted for, as they say themselves."""
    said = dict.fromkeys(text for p in run.predictions for text in p.cautions)
    return [Note("warning", f"{text}.") for text in said]  # begins with the name of a file


def _about_measured(run: Run) -> list[Note]:
    return [Note("warning", f"{text}.") for text in run.beyond]


def _outside(run: Run) -> float:
    """The share of rows whose inputs are beyond what training saw."""
    marked = [p.inputs_outside for p in run.predictions if p.inputs_outside is not None]
    return float(np.concatenate(marked).mean()) if marked else 0.0


def _about_band(run: Run) -> list[Note]:
    coverage = run.scores.get("coverage_95", math.nan)
    where = f"coverage of the 95 % band on {run.label} is"
    if not math.isfinite(coverage):
        return []
    if coverage < NARROW:
        return [Note("warning", f"The {where} only {coverage:.0%}: do not trust the band.")]
    if coverage < DOUBTFUL:
        return [Note("warning", f"The {where} {coverage:.0%}: the band is somewhat too narrow.")]
    if too_wide(run):
        return [
            Note(
                "warning",
                f"The {where} {coverage:.1%}: the band is too wide, the model knows more than it "
                "says.",
            )
        ]
    if coverage > WIDE:
        return [_about_all_held(run)]
    return [Note("good", f"The {where} {coverage:.0%}: the band can be taken at its word.")]


def too_wide(run: Run) -> bool:
    """Whether a band held more of a run than one that is right does but by a rare chance.

    The share of the 50 % band tells it from fewer rows than that of the 95 % band.
    """
    outer = run.scores.get("coverage_95", 0.0)
    middle = run.scores.get("coverage_50", 0.0)
    if not (outer > WIDE and middle > _WIDE_MIDDLE):
        return False
    count = independent_errors(run.predictions)
    chances = [chance_of_holding(*one, count) for one in ((outer, 0.95), (middle, 0.50))]
    return min(chances) < _CHANCE


def _about_all_held(run: Run) -> Note:
    """A band that held everything: proven right by no number of rows, and wrong by many alone."""
    rows = sum(
        int(np.isfinite(p.measured).sum()) for p in run.predictions if p.measured is not None
    )
    coverage = run.scores["coverage_95"]
    count = independent_errors(run.predictions)
    held = f"The 95 % band held {'all' if coverage == 1.0 else f'{coverage:.1%}'} of {rows} "
    held += f"measurements of {run.label}: "
    chance = chance_of_holding(coverage, 0.95, count)
    if chance < _CHANCE:
        return Note("good", f"{held}it is safe, and wider at its ends than it had to be.")
    return Note(
        "open",
        f"{held}it is wide, or the rows are few. Their errors tell as much as {_some(count)}, and "
        f"of so many a right band holds as much in {100 * chance:.0f} of 100 cases.",
    )


def _some(count: float) -> str:
    return "a single one" if count < 1.5 else f"some {count:.0f} independent ones"


def _about_baselines(run: Run, baselines: Sequence[ScoreRow], is_linear: bool) -> list[Note]:
    own = run.scores.get("rmse", math.nan)
    notes = []
    beaten = []
    for row in baselines:
        other = row.scores.get("rmse", math.nan)
        if not row.scores:
            notes.append(
                Note("warning", f"The {row.label} model could not be fitted ({row.note}).")
            )
        elif is_linear and row.label == "linear":
            notes.append(
                Note(
                    "good",
                    "The model that was kept is itself linear; the linear model beside it (RMSE "
                    f"{other:.4g} against {own:.4g}) is another of its kind.",
                )
            )
        elif not own < other:
            notes.append(
                Note(
                    "warning",
                    f"The {row.label} model is at least as good (RMSE {other:.4g} against "
                    f"{own:.4g}): "
                    f"prefer it.",
                )
            )
        else:
            beaten.append(f"{row.label} ({other:.4g})")
    if beaten:
        notes.append(Note("good", f"RMSE {own:.4g} on {run.label} beats: {', '.join(beaten)}."))
    return notes


def _about_gap(runs: Sequence[Run]) -> list[Note]:
    if len(runs) < 2:
        return []
    test = runs[0].scores.get("rmse", math.nan)
    train = runs[1].scores.get("rmse", math.nan)
    if not test > GAP * train:
        return []
    share = _outside(runs[0])
    if share > 0.0:
        reason = (
            f"but {share:.0%} of its rows have inputs that training never saw: record such inputs "
            "for training before you blame the model"
        )
    elif runs[0].beyond:
        reason = "but what was measured leaves what training saw: record such data for training"
    elif any(leaves(run) for run in runs[0].predictions):
        reason = "but its runs leave what the model has seen, so this says little about the rest"
    else:
        reason = "so the model has learnt the recording more than the system"
    return [
        Note(
            "warning",
            f"The error on {runs[0].label} ({test:.4g}) is {test / train:.1f} times that on "
            f"{runs[1].label} ({train:.4g}), {reason}.",
        )
    ]


def _about_training(log: TrainingLog | None) -> list[Note]:
    if log is None or not log.worth_a_word:
        return []
    return [
        Note(
            "warning",
            f"{log.diverged} of {len(log.outcomes)} restarts diverged and were dropped; a smaller "
            "learning rate may help.",
        )
    ]
