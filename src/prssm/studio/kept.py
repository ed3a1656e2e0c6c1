"""What took long to make and is asked for again: the last few results, by key."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """At most so many results; the one that nobody asked for the longest goes first.

    One result is made at a time, so that two pages do not make the same one twice.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of that key, made now where it is not there."""
        with self._lock:
            if key not in self._found:
                self._found[key] = make()
                while len(self._found) > self._most:
                    self._found.popitem(last=False)
            self._found.move_to_end(key)
            return self._found[key]
