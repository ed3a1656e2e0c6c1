"""Note: one thing that was seen in recordings, with its number and what to do about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """One line of advice; `str` gives it whole.

    `what` is a short code such as 'outliers', `where` the column ('' for all of the data), `record`
    and `rows` the place (pairs of first row and the row after the last; empty: everywhere). `says`
    is what was seen, with its number; `do` what helps; `step` the word of preprocessing that does
    it, where one does.
    """

    what: str
    where: str
    says: str
    do: str
    step: str = ""
    record: int = 0
    rows: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.says}: {self.do}"
