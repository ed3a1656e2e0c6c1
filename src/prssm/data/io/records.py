"""From named columns to Records: which columns are meant, and what their time stamps say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.clock.names import TIME_COLUMN, called_time, time_column
from prssm.data.clock.repair import Rows, mended
from prssm.data.clock.rules import TimeRules, needing_stamps
from prssm.data.clock.stamps import Stamps
from prssm.data.io.columns import FileColumns, unit_of
from prssm.data.record import TIME_TOLERANCE, Record
from prssm.foundation.errors import DataError, listed, warn

Names = str | Sequence[str] | None


@dataclass(frozen=True)
class Choice:
    """What is taken from a table: which columns, and what is done with their time stamps."""

    inputs: Names = None
    outputs: Names = None
    time: str | None = None
    dt: float | None = None
    rules: TimeRules = TimeRules()


DEFAULTS = Choice()


def record_of(columns: FileColumns, choice: Choice = DEFAULTS) -> Record:
    """The one Record in a table."""
    records = records_of(columns, choice)
    if len(records) > 1:
        raise DataError(
            f"{columns.where}: expected one experiment, got {len(records)}; read the file without "
            "splitting it at gaps"
        )
    return records[0]


def records_of(columns: FileColumns, choice: Choice = DEFAULTS) -> list[Record]:
    """The Records in a table: one, or several where gaps in time split it."""
    input_names = chosen_names(columns, choice.inputs, "u")
    output_names = chosen_names(columns, choice.outputs, "y")
    names = input_names + output_names
    if not names:
        raise DataError(
            f"{columns.where}: say which columns are inputs and outputs, e.g. inputs=['u'], "
            f"outputs=['y'] (on the command line -u u -y y); the columns are "
            f"{listed(columns.names)}"
        )
    _check_once(columns.where, names)
    numbers = _numbers(columns, names)
    length = len(numbers[names[0]])
    _check_inputs(columns, input_names, numbers)
    u = _stacked(numbers, input_names, length)
    y = _stacked(numbers, output_names, length)
    stamps = _stamps(columns, choice, names, length=length)
    kept: dict[str, Any] = {
        "input_names": input_names,
        "output_names": output_names,
        "units": _units(columns, names),
    }
    label = Path(columns.where).name
    if stamps is None:
        step = columns.sampling_time(names) if choice.dt is None else choice.dt
        return [_plain(u, y, replace(choice, dt=step), label, kept=kept)]
    parts = _timed(Rows(stamps, u, y), choice, columns)
    several = len(parts) > 1
    return [
        _record(part, f"{label} part {i + 1}" if several else label, kept)
        for i, part in enumerate(parts)
    ]


def chosen_names(columns: FileColumns, names: Names, letter: str) -> list[str]:
    """The asked-for columns, matrices expanded.

    If nothing was asked, those called by the convention. A name with commas that is no column of
    the file is several names.
    """
    if names is None:
        known = dict.fromkeys(columns.names)  # two of one name are refused when they are expanded
        listed = [name for name in known if re.fullmatch(rf"{letter}\d*", name)]
    else:
        listed = [names] if isinstance(names, str) else [str(name) for name in names]
        listed = [part for name in listed for part in _split(name, columns.names)]
    return [column for name in listed for column in columns.expand(name)]


def _split(name: str, known: Sequence[str]) -> list[str]:
    if "," not in name or name in known:
        return [name]
    return [part.strip() for part in name.split(",") if part.strip()]


def _check_once(where: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"{where}: column {name!r} is asked for twice; a column is one input or one output"
        )


def _numbers(columns: FileColumns, names: list[str]) -> dict[str, np.ndarray]:
    numbers = {name: columns.numbers(name) for name in names}
    for name in names[1:]:
        if len(numbers[name]) != len(numbers[names[0]]):
            raise DataError(
                f"{columns.where}: {name!r} has {len(numbers[name])} rows, but {names[0]!r} has "
                f"{len(numbers[names[0]])}; expected the same number"
            )
    for name, values in numbers.items():
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            raise DataError(
                f"{columns.where}: column {name!r}, {columns.place(int(infinite[0]))}: expected a "
                "finite number, got an infinite one"
            )
    return numbers


def _check_inputs(
    columns: FileColumns, names: list[str], numbers: Mapping[str, np.ndarray]
) -> None:
    for name in names:
        missing = np.flatnonzero(np.isnan(numbers[name]))
        if len(missing):
            more = f" ({len(missing)} such values)" if len(missing) > 1 else ""
            raise DataError(
                f"{columns.where}: input column {name!r}, {columns.place(int(missing[0]))}: the "
                f"value is missing{more}; inputs must be known, only outputs may be missing"
            )


def _stamps(columns: FileColumns, choice: Choice, names: list[str], length: int) -> Stamps | None:
    """The time column that was named, or the one called 'time' where nothing was said."""
    time = choice.time
    if time is None:
        free = [name for name in columns.names if name not in names]
        time = called_time(free)
        if choice.dt is not None:
            return None
        if time is None:
            if columns.sampling_time(names) is None:
                _warn_of_unread_time(columns.where, free)
            return None
    expanded = columns.expand(time)
    if len(expanded) != 1:
        raise DataError(
            f"{columns.where}: time column {time!r} has {len(expanded)} columns, expected 1"
        )
    stamps = columns.stamps(expanded[0], choice.rules.unit)
    if len(stamps) != length:
        raise DataError(
            f"{columns.where}: time column {time!r} has {len(stamps)} rows, expected {length}"
        )
    for note in stamps.notes:
        warn(f"{columns.where}: {note}")
    return stamps


def _warn_of_unread_time(where: str, free: list[str]) -> None:
    unread = time_column(free)
    if unread is not None:
        warn(
            f"{where}: column {unread!r} is not read, so that gaps and another sampling time go "
            f"unnoticed; name it with --time, or give --dt (in Python time={unread!r} or dt)"
        )


def _plain(
    u: np.ndarray, y: np.ndarray, choice: Choice, label: str, *, kept: dict[str, Any]
) -> Record:
    """A Record without time stamps; with a sampling time it can be resampled."""
    asked = needing_stamps(choice.rules)
    if asked is not None:
        raise DataError(f"{label}: {asked} needs the time of each row; name its column with --time")
    if choice.rules.resample is None or choice.dt is None:
        if choice.rules.resample is not None:
            raise DataError(
                f"{label}: --resample needs the time of each row; name its column with --time, or "
                "give --dt"
            )
        return Record(u, y, choice.dt, name=label, **kept)
    seconds = np.arange(len(u)) * choice.dt
    rows = Rows(Stamps(TIME_COLUMN, seconds, seconds), u, y)
    (part,) = mended(rows, choice.rules, label, place=lambda row: f"row {row}")
    return _record(part, label, kept)


def _timed(rows: Rows, choice: Choice, columns: FileColumns) -> list[Rows]:
    """Rows on a grid whose step agrees with what was said."""
    exact = _exact_step(rows.stamps.seconds)
    if exact is not None and choice.rules.resample is None:
        parts = [Rows(rows.stamps, rows.u, rows.y, exact)]
    else:
        parts = mended(rows, choice.rules, columns.where, columns.place)
    found = parts[0].dt
    told = choice.dt
    if told is not None and found is not None and abs(told - found) > TIME_TOLERANCE * found:
        raise DataError(
            f"{columns.where}: dt is {told:.6g} but the time stamps are {found:.6g} apart"
        )
    return parts


def _exact_step(seconds: np.ndarray) -> float | None:
    """Stamps that are k dt to the last bit give dt to the last bit."""
    if len(seconds) < 2 or not seconds[1] > 0:
        return None
    is_grid = np.array_equal(seconds, np.arange(len(seconds)) * seconds[1])
    return float(seconds[1]) if is_grid else None


def _record(part: Rows, label: str, kept: dict[str, Any]) -> Record:
    return Record(part.u, part.y, part.dt, name=label, stamps=part.stamps, **kept)


def _units(columns: FileColumns, names: list[str]) -> dict[str, str]:
    found = {name: columns.units.get(name) or unit_of(name) for name in names}
    return {name: unit for name, unit in found.items() if unit}


def _stacked(numbers: Mapping[str, np.ndarray], names: list[str], length: int) -> np.ndarray:
    if not names:
        return np.zeros((length, 0))
    return np.stack([numbers[name] for name in names], axis=1)
