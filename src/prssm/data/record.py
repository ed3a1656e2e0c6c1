"""Record: one experiment, checked at the door. A list of Records is a data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from prssm.data.clock.repair import Rows, mended
from prssm.data.clock.rules import TimeRules
from prssm.data.clock.stamps import Stamps
from prssm.foundation.errors import DataError
from prssm.foundation.show.cards import Cell, card, grid, shown_in_notebooks
from prssm.foundation.show.pictures import data_address, new_figure, own_figure
from prssm.foundation.show.thinning import extreme_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 6  # columns of a picture in a notebook
_DRAWN_ROWS = 1500  # of each
_COLOURS = {"output": "#1f4e79", "input": "#5d666e"}
LONGEST_STEP = 1e100  # seconds
TIME_TOLERANCE = 0.01  # two sampling times that differ by less than this fraction are the same


@dataclass(frozen=True, eq=False)
class Record:
    """Inputs `u` (T, Du) and outputs `y` (T, Dy) of one experiment, sampled at a constant rate.

    `u=None` is a system without inputs. `y=None` leaves the outputs open (for a simulation from
    inputs alone). NaN in `y` is a missing measurement; NaN in `u` is an error. `time` (seconds) may
    be given instead of `dt` and is checked for gaps. `stamps` is the time column as it came, which
    predictions give back; `units` names the unit of some columns.
    """

    u: np.ndarray
    y: np.ndarray
    dt: float | None = None
    input_names: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ()
    name: str = "record"
    stamps: Stamps | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    library: str = ""  # the package of the data frame that it was, if any
    origin: float = 0.0  # where its first row is in the recording: seconds, or rows without dt

    def __init__(
        self,
        u: ArrayLike | None,
        y: ArrayLike | None,
        dt: float | None = None,
        *,
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
        name: str = "record",
        time: ArrayLike | None = None,
        stamps: Stamps | None = None,
        units: Mapping[str, str] | None = None,
        library: str = "",
        origin: float = 0.0,
    ) -> None:
        if u is None and y is None:
            raise DataError(f"{name}: expected inputs u, outputs y or both, got neither")
        given_u = None if u is None else _columns(u, "u", name)
        given_y = None if y is None else _columns(y, "y", name)
        length = next(len(given) for given in (given_u, given_y) if given is not None)
        u_checked = np.zeros((length, 0)) if given_u is None else given_u
        y_checked = np.zeros((length, 0)) if given_y is None else given_y
        set_ = partial(object.__setattr__, self)  # the dataclass is frozen
        set_("name", name)
        set_("u", u_checked)
        set_("y", y_checked)
        set_(
            "input_names",
            _names(input_names, u_checked.shape[1], "u", argument="input_names", record=name),
        )
        set_(
            "output_names",
            _names(output_names, y_checked.shape[1], "y", argument="output_names", record=name),
        )
        set_("dt", _step(dt, time, length, name=name))
        if stamps is None and time is not None:
            stamps = Stamps("time", np.asarray(time), _from_first(time))
        set_("stamps", stamps)
        set_("units", dict(units or {}))
        set_("library", library)
        set_("origin", float(origin))
        self._check()

    def _check(self) -> None:
        if len(self.u) != len(self.y):
            raise DataError(
                f"{self.name}: u has {len(self.u)} rows, y has {len(self.y)}; expected the same "
                "number"
            )
        if len(self.u) < 2:
            raise DataError(f"{self.name}: expected at least 2 rows, got {len(self.u)}")
        _no_infinity(self.y, self.output_names, "output", record=self.name)
        _no_infinity(self.u, self.input_names, "input", record=self.name)
        bad = np.argwhere(np.isnan(self.u))
        if len(bad):
            row, column = bad[0]
            raise DataError(
                f"{self.name}: input column {self.input_names[column]!r} is NaN at row {row} "
                f"({len(bad)} such values); inputs must be known, only outputs may be missing"
            )
        for array in (self.u, self.y):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.u)

    @property
    def input_dim(self) -> int:
        return self.u.shape[1]

    @property
    def output_dim(self) -> int:
        return self.y.shape[1]

    def __getitem__(self, rows: slice) -> "Record":
        """The rows of a slice, as a Record with the same names."""
        if not isinstance(rows, slice):
            raise TypeError("a Record is cut by slices, e.g. record[:100]")
        return self.changed(
            u=self.u[rows],
            y=self.y[rows],
            dt=None if self.dt is None else self.dt * abs(rows.step or 1),
            stamps=None if self.stamps is None else self.stamps[rows],
            origin=self._origin_of(rows),
        )

    def _origin_of(self, rows: slice) -> float:
        first = rows.indices(len(self))[0]
        if self.dt is not None:
            return self.origin + first * self.dt
        return (self.origin + first) / abs(rows.step or 1)

    @property
    def clock(self) -> np.ndarray:
        """The time of each row (T,) since the recording began: seconds, or rows without dt."""
        begun = self.origin if self.stamps is None else float(self.stamps.seconds[0])
        return begun + (self.dt or 1.0) * np.arange(len(self))

    def __repr__(self) -> str:
        step = "" if self.dt is None else f", every {self.dt:.6g} s"
        return (
            f"Record({self.name!r}: {len(self)} rows{step}, inputs: "
            f"{', '.join(self.input_names) or 'none'}, "
            f"outputs: {', '.join(self.output_names) or 'none'})"
        )

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        columns = self._named_columns()
        rows: list[list[Cell]] = []
        for word, name, values in columns:
            known = values[np.isfinite(values)]
            ends = [float(known.min()), float(known.max())] if len(known) else [None, None]
            rows.append([name, word, self.units.get(name, ""), *ends, len(values) - len(known)])
        step = f", every {self.dt:.6g} s" if self.dt else ""
        figure = own_figure(8, 1.0 * min(len(columns), _SHOWN) + 0.6)
        self._draw(figure, columns[:_SHOWN], rows=_DRAWN_ROWS)
        return card(
            f"Record: {self.name}",
            [("rows", f"{len(self)}{step}")],
            table=grid(["column", "is", "unit", "lowest", "highest", "missing"], rows),
            picture=data_address(figure),
            alternative="columns over time",
        )

    def plot(self) -> "list[Axes]":
        """Every output and input over time in a new figure; gives its axes, one a column."""
        columns = self._named_columns()
        return self._draw(new_figure(9, 1.3 * len(columns) + 0.7), columns)

    def _named_columns(self) -> list[tuple[str, str, np.ndarray]]:
        """Outputs, then inputs: what it is, its name, its values."""
        return [
            *(("output", name, self.y[:, i]) for i, name in enumerate(self.output_names)),
            *(("input", name, self.u[:, i]) for i, name in enumerate(self.input_names)),
        ]

    def _draw(
        self,
        figure: "Figure",
        columns: list[tuple[str, str, np.ndarray]],
        rows: int | None = None,
    ) -> "list[Axes]":
        """A panel for each column, below each other; at most `rows` rows, with all extremes."""
        axes = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        time = np.arange(len(self)) * (self.dt or 1.0)
        for ax, (word, name, values) in zip(axes, columns, strict=True):
            kept = slice(None) if rows is None else extreme_rows([values], rows)
            ax.plot(time[kept], values[kept], lw=1.0, color=_COLOURS[word])
            ax.set_ylabel(name, parse_math=False)
            ax.margins(x=0)
        axes[-1].set_xlabel("time [s]" if self.dt else "sample")
        return list(axes)

    def renamed(self, name: str) -> "Record":
        """The same record under another name."""
        return self.changed(name=name)

    def changed(self, **parts: Any) -> "Record":
        """The same record with some parts replaced, by the names of the constructor."""
        kept = {
            "u": self.u,
            "y": self.y,
            "dt": self.dt,
            "input_names": self.input_names,
            "output_names": self.output_names,
            "name": self.name,
            "stamps": self.stamps,
            "units": self.units,
            "library": self.library,
            "origin": self.origin,
        }
        return Record(**(kept | parts))

    def outputs_filled(self) -> np.ndarray:
        """Outputs with gaps bridged linearly, ends held.

        For code that needs a number everywhere.
        """
        filled = np.array(self.y)
        for column in filled.T:
            known = ~np.isnan(column)
            if known.any() and not known.all():
                column[~known] = np.interp(
                    np.flatnonzero(~known), np.flatnonzero(known), column[known]
                )
            elif not known.any():
                column[:] = 0.0
        return filled


def _columns(values: ArrayLike, label: str, name: str) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):  # what is masked was not measured
        values = np.ma.filled(values.astype(np.float64), np.nan)
    plain = isinstance(values, np.ndarray | list | tuple)
    if np.iscomplexobj(values if plain else np.asarray(values)):
        raise DataError(f"{name}: {label} holds complex numbers; expected real ones")
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{name}: {label} is not an array of numbers: {error}") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(
            f"{name}: {label} has {array.ndim} dimensions, expected 1 (time) or 2 (time, columns)"
        )
    return array


def _names(
    names: Sequence[str], count: int, letter: str, argument: str, record: str
) -> tuple[str, ...]:
    if not len(names):
        return (letter,) if count == 1 else tuple(f"{letter}{i + 1}" for i in range(count))
    if isinstance(names, str) or len(names) != count:
        raise DataError(
            f"{record}: {argument} has {len(names)} names, expected {count}, one a column"
        )
    return tuple(str(name) for name in names)


def _no_infinity(array: np.ndarray, names: tuple[str, ...], word: str, record: str) -> None:
    bad = np.argwhere(np.isinf(array))
    if len(bad):
        row, column = bad[0]
        raise DataError(f"{record}: {word} column {names[column]!r} is infinite at row {row}")


def _step(dt: float | None, time: ArrayLike | None, length: int, name: str) -> float | None:
    is_number = isinstance(dt, int | float | np.integer | np.floating) and dt is not True
    if dt is not None and not (is_number and 0 < dt < LONGEST_STEP):
        raise DataError(f"{name}: dt must be a positive number of seconds, got {dt!r}")
    if time is not None:
        return _step_of(time, dt, length, name=name)
    return None if dt is None else float(dt)


def _step_of(time: ArrayLike, dt: float | None, length: int, name: str) -> float:
    stamps = _columns(time, "time", name)[:, 0]
    if len(stamps) != length:
        raise DataError(f"{name}: time has {len(stamps)} rows, expected {length}")
    if not np.isfinite(stamps).all():
        raise DataError(
            f"{name}: time is not a number at row {np.flatnonzero(~np.isfinite(stamps))[0]}"
        )
    nothing = np.zeros((length, 0))
    rows = Rows(Stamps("time", stamps, stamps - stamps[0]), nothing, nothing)
    step = mended(rows, TimeRules(), name, place=lambda row: f"row {row}")[0].dt or 1.0
    if dt is not None and abs(dt - step) > TIME_TOLERANCE * step:
        raise DataError(f"{name}: dt is {dt:.6g} but the time stamps are {step:.6g} apart")
    return step


def _from_first(time: ArrayLike) -> np.ndarray:
    seconds = np.asarray(time, dtype=np.float64)
    return seconds - seconds[0]
