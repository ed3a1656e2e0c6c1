"""How time columns are called.

One more word is one more name in `TIME_NAMES`: such a column is offered, and a file that is read
without it is worth a caution. Only a column called `time` is taken without being named.
"""

from collections.abc import Sequence

# names under which a time column goes, in lower case and without a unit
TIME_NAMES = ("time", "t", "timestamp", "datetime", "date", "when", "zeit", "zeitstempel")
TIME_COLUMN = "time"
_TEMPERATURES = ("K", "\N{DEGREE SIGN}", "C", "F", "deg")  # how units of a column called t begin


def time_column(names: Sequence[str]) -> str | None:
    """The first column that is called as time columns are."""
    for name in names:
        word = _word(name)
        if word == "t" and _is_temperature(name):
            continue
        if word in TIME_NAMES or word.startswith(("time_", "timestamp_")):
            return name
    return None


def called_time(names: Sequence[str]) -> str | None:
    """The column called `time`, or the only one that is but for a unit or capitals: 'Time [s]'."""
    if TIME_COLUMN in names:
        return TIME_COLUMN
    meant = [name for name in names if _word(name) == TIME_COLUMN]
    return meant[0] if len(meant) == 1 else None


def _is_temperature(name: str) -> bool:
    """Whether 'T', 't [K]' or the like is meant; 'T [s]' is a time."""
    unit = name.strip()[1:].strip(" [()]")
    return unit.startswith(_TEMPERATURES) if unit else name.strip() == "T"


def _word(name: str) -> str:
    return name.split("[")[0].split("(")[0].strip().lower()
