"""The tables of benchmarks/peers.py: errors, and times of the fits."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]


def page(rows: Iterable[Row]) -> str:
    """Two tables: the error of every package on every recording, and the time of its fit."""
    found = {(row["package"], row["recording"]): row for row in rows}
    packages = list(dict.fromkeys(package for package, _ in found))
    recordings = list(dict.fromkeys(recording for _, recording in found))
    best = {name: _least(found, packages, name) for name in recordings}

    def error(row: Row) -> str:
        if row["rmse"] is None:
            return "lost"
        text = f"{row['rmse']:.3g}"
        return f"**{text}**" if row["rmse"] <= best[row["recording"]] * (1 + 5e-3) else text

    def seconds(row: Row) -> str:
        return f"{row['wall_s']:.0f}" if row.get("wall_s") is not None else "-"

    parts = [
        "RMSE of the free run after the 16 rows that start it, in the recording's own units. The "
        'best of a column is bold; "lost" is a free run that diverged or a fit without an end.',
        _table(found, packages, recordings, shown=error),
        f"Seconds of the fit, choice among models included ({_conditions(found.values())}).",
        _table(found, packages, recordings, shown=seconds),
    ]
    return "\n\n".join(parts)


def _least(found: Mapping[tuple[str, str], Row], packages: list[str], recording: str) -> float:
    errors = [found[name, recording]["rmse"] for name in packages if (name, recording) in found]
    return min((error for error in errors if error is not None), default=float("nan"))


def _table(
    found: Mapping[tuple[str, str], Row],
    packages: list[str],
    recordings: list[str],
    shown: Callable[[Row], str],
) -> str:
    titles = [name.replace("_", " ").capitalize() for name in recordings]
    lines = [f"| | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for package in packages:
        cells = [
            shown(found[package, name]) if (package, name) in found else "" for name in recordings
        ]
        lines.append(f"| {package} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _conditions(rows: Iterable[Row]) -> str:
    """What the times depend on: how long a fit may take, and how busy the machine was."""
    rows = list(rows)
    if not rows:
        return "nothing was run"
    limit = max(row["seconds"] for row in rows)
    busy = max(row["load"] for row in rows)
    state = "idle" if busy < 1.0 else f"busy, load up to {busy:.0f}: times are too long"
    return f"at most {limit:.0f} s but for prssm; the machine was {state}"
