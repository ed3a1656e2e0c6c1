"""Work that is done piece by piece, as long as a budget of time has room for one more piece."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


class Pace:
    """`each` hands out pieces of work, and measures how long the one before has taken.

    `seconds_left` says what is left of the budget; None: there is none, and all is handed out.
    """

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        self._seconds_left = seconds_left
        self._longest = 0.0

    def each(self, pieces: Iterable[T], times: float = 1.0) -> Iterator[T]:
        """The pieces, until another one that takes as long as the longest so far would be too late.

        Those that take about so many times as long as others say so by `times`.
        """
        for piece in pieces:
            left = self._seconds_left()
            if left is not None and left <= times * self._longest:
                return
            begun = time.monotonic()
            yield piece
            spent = time.monotonic() - begun
            self._longest = max(self._longest, spent / times)

    def whole(self, pieces: Sequence[T]) -> Iterator[T]:
        """The pieces of a work that should be done to its end, until its rest would be too late.

        How long one takes is measured anew: they are smaller than those of `each`.
        """
        longest = 0.0
        for number, piece in enumerate(pieces):
            left = self._seconds_left()
            if left is not None and left <= (len(pieces) - number) * longest:
                return
            begun = time.monotonic()
            yield piece
            longest = max(longest, time.monotonic() - begun)
