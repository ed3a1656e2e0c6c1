"""The end of a search: the chosen options as a file, one refit, one look at the test part."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prssm.data.record import Record
from prssm.evaluation.comparison import ScoreRow, baseline_rows
from prssm.evaluation.jobs.job_record import finite
from prssm.evaluation.jobs.provenance import data_checksum, provenance
from prssm.foundation.atomic import replacing
from prssm.models.estimator import Estimator
from prssm.models.files import load
from prssm.models.registry import method
from prssm.training.session import Progress

MODEL_FILE = "best.prssm"
OPTIONS_FILE = "best.toml"
CHOSEN_FILE = "chosen.json"


def write_options(folder: Path, best: Mapping[str, Any], settings: Mapping[str, Any]) -> Path:
    """Writes a file that `prssm fit --config` takes: the data, the chosen method and options."""
    top = {name: value for name, value in settings.items() if value is not None}
    top |= {"method": best["method"], "preset": best["preset"]}
    options = best["options"] | {"seed": best["seed"]}
    lines = [f"{name} = {_toml(value)}" for name, value in top.items()]
    lines += [
        "",
        "[options]",
        *(f"{name} = {_toml(value)}" for name, value in sorted(options.items())),
    ]
    path = folder / OPTIONS_FILE
    with replacing(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())
    return path


def _toml(value: Any) -> str:
    if value is None:
        return '"none"'  # TOML has no word for it; options read this one
    return json.dumps(value, ensure_ascii=False)  # the same for texts, numbers, lists and booleans


def refit(
    folder: Path,
    best: Mapping[str, Any],
    train: list[Record],
    test: list[Record],
    progress: bool | Progress = False,
) -> dict[str, Any]:
    """Fits the chosen options to all training data, saves the model, scores any test part.

    What was done for the same choice and the same test part is not done again. The answer, also in
    chosen.json, has the scores of plain models on the same rows, and says what was scored on this
    test part before.
    """
    path = folder / CHOSEN_FILE
    before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    checksum = data_checksum(test) if test else None
    same = before.get("key") == best["key"] and (folder / MODEL_FILE).exists()
    if same and before["test_checksum"] == checksum:
        return before
    begun = time.perf_counter()
    model = load(folder / MODEL_FILE) if same else _fitted(folder, best, train, progress=progress)
    chosen = {name: best[name] for name in ("key", "label", "method", "preset", "options", "seed")}
    chosen |= {
        "held_out": best["metrics"],
        "test_checksum": checksum,
        "scores": _rows(model, best["method"], train, test=test) if test else None,
        "earlier": _earlier(before, checksum),
        "seconds": time.perf_counter() - begun,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        **provenance(),
    }
    with replacing(path) as stream:
        stream.write(json.dumps(chosen, indent=2).encode() + b"\n")
    return chosen


def _fitted(
    folder: Path, best: Mapping[str, Any], train: list[Record], progress: bool | Progress
) -> Estimator:
    """Trained with a checkpoint, so that an interrupted refit goes on where it was."""
    checkpoint = folder / f"best-{best['key']}.checkpoint"
    model = method(best["method"])(best["preset"], **best["options"], seed=best["seed"])
    model.fit(train, progress=progress, checkpoint=checkpoint, resume=True)
    model.save(folder / MODEL_FILE)
    checkpoint.unlink(missing_ok=True)
    return model


def _rows(
    model: Estimator, called: str, train: list[Record], test: list[Record]
) -> dict[str, dict[str, Any]]:
    """Scores on the test part by name, those of the plain models first, for chosen.json."""
    rows = [*baseline_rows(called, train, test), ScoreRow(called, model.evaluate(test))]
    return {row.label: {"scores": finite(dict(row.scores)), "note": row.note} for row in rows}


def _earlier(before: Mapping[str, Any], checksum: str | None) -> list[dict[str, Any]]:
    """Choices that were scored on this test part before, so that it is no longer fresh."""
    if not before or before["scores"] is None or before["test_checksum"] != checksum:
        return []
    return [
        *before["earlier"],
        {"label": before["label"], "rmse": before["scores"][before["method"]]["scores"]["rmse"]},
    ]
