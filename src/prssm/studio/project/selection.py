"""What was chosen for a log: columns, time, parts and preprocessing, as the page sends it.

`Selection.of` checks it, `to_dict` is what the page and the log's note hold, and `words` are the
same on the command line of `prssm fit`.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from prssm.foundation.errors import OptionError
from prssm.studio.project.columns import Columns

READING = ("dt", "gaps", "sort", "duplicates", "resample", "time_unit", "decimal")
Part = tuple[int, int]  # first row, and the row after the last


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Columns by name, parts by rows; `test_log` is another log that is scored."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    time: str | None = None
    dt: float | None = None
    gaps: str | None = None
    sort: bool | None = None
    duplicates: str | None = None
    resample: str | None = None
    time_unit: str | None = None
    decimal: str | None = None
    training: tuple[Part, ...] = ()  # empty: all rows
    test: tuple[Part, ...] = ()  # empty: none of this log
    test_log: str | None = None
    preprocess: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """From what the page has sent; what is not understood is an error in one line."""
        known = cls.__dataclass_fields__
        values = {name: value for name, value in document.items() if value not in (None, "", [])}
        for name in values:
            if name not in known:
                raise OptionError(f"unknown choice {name!r}")
        for name in ("inputs", "outputs", "preprocess"):
            values[name] = _texts(name, values.get(name, []))
        for name in ("training", "test"):
            values[name] = _parts(name, values.get(name, []))
        for name in ("time", "test_log", "gaps", "duplicates", "resample", "time_unit", "decimal"):
            if not isinstance(values.get(name, ""), str):
                raise OptionError(f"{name}: expected a text, got {values[name]!r}")
        if not isinstance(values.get("dt", 1.0), int | float):
            raise OptionError(f"dt: expected a number of seconds, got {values['dt']!r}")
        return cls(**values)

    @classmethod
    def usual(cls, columns: Columns) -> Self:
        """By the convention: u, u1, .. are inputs, y, y1, .. are outputs, the last 30 % are test.

        Where a log is called otherwise, nothing is chosen but the time.
        """
        inputs = [name for name in columns.names if re.fullmatch(r"u\d*", name)]
        outputs = [name for name in columns.names if re.fullmatch(r"y\d*", name)]
        return cls(inputs=tuple(inputs), outputs=tuple(outputs), time=columns.time).cut(
            columns.rows, 0.7
        )

    def cut(self, rows: int, share: float) -> Self:
        """Train on a first share of the rows, score the rest."""
        edge = round(share * rows)
        return replace(self, training=((0, edge),), test=((edge, rows),), test_log=None)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def check(self, columns: Columns) -> None:
        """Whether the log has these columns, and something can be learnt of them."""
        for name in (*self.inputs, *self.outputs, *([self.time] if self.time else [])):
            if name not in columns.names:
                raise OptionError(f"the log has no column {name!r}")
        if not self.outputs:
            raise OptionError("choose at least one output column")
        if not self.test_log and any(
            begin < other_end and other_begin < end
            for begin, end in self.training
            for other_begin, other_end in self.test
        ):
            raise OptionError("rows that train and rows that are scored overlap")

    def parts(self) -> dict[str, Any]:
        """Which rows train and which are scored, as keywords of `DataSettings`."""
        found = {"rows": _spans(self.training), "test_rows": _spans(self.test)}
        return {name: text for name, text in found.items() if text}

    def reading(self) -> dict[str, Any]:
        """The columns and time rules, as keywords of `ColumnSettings`."""
        rules = {name: getattr(self, name) for name in READING}
        told = {name: value for name, value in rules.items() if value is not None}
        return {"inputs": self.inputs, "outputs": self.outputs, "time": self.time, **told}


def _spans(parts: tuple[Part, ...]) -> str:
    """Rows as one writes them: '0:700,900:1000'."""
    return ",".join(f"{begin}:{end}" for begin, end in parts)


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise OptionError(f"{name}: expected a list of texts, got {values!r}")
    return tuple(values)


def _parts(name: str, values: Any) -> tuple[Part, ...]:
    found = []
    for value in values if isinstance(values, list | tuple) else [values]:
        try:
            begin, end = (int(edge) for edge in value)
        except (TypeError, ValueError):
            raise OptionError(f"{name}: expected two row numbers, got {value!r}") from None
        if not 0 <= begin < end:
            raise OptionError(
                f"{name}: expected a first row and a later one, got {begin} and {end}"
            )
        found.append((begin, end))
    return tuple(sorted(found))
