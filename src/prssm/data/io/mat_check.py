"""Checks a MAT file of version 5 before scipy reads it, which trusts what the file says.

A wrong type in the tag of an element crashes the interpreter there, and a small compressed element
may unpack to gigabytes. The file is a list of elements, each a tag (type and length) and its bytes;
an array is an element of elements.
"""

import struct
import zlib
from pathlib import Path
from typing import NoReturn

from prssm.foundation.errors import DataError
from prssm.foundation.limits import check_unpacked

_HEADER = 128
_MATRIX = 14
_COMPRESSED = 15
_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})
_TEXTS = frozenset({16, 17, 18})
_KNOWN = _NUMBERS | _TEXTS | {_MATRIX}
_DEEPEST = 30  # arrays in cells of cells
_CHUNK = 1 << 20


def check_mat(path: Path) -> None:
    """Refuse what scipy must not be given; version 4 has no tags and is left to it."""
    content = path.read_bytes()
    if len(content) < _HEADER or 0 in content[:4]:  # version 4 begins with small numbers
        return
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    check = _Check(path, order or "<")
    if order is None:
        check.refuse("its header does not end in IM or MI")
    check.elements(memoryview(content), _HEADER)


class _Check:
    """Walks through the elements of one file."""

    def __init__(self, path: Path, order: str) -> None:
        self.path = path
        self.order = order
        self.unpacked = 0

    def elements(self, content: memoryview, begin: int) -> None:
        """The arrays of the file, one after the other."""
        at = begin
        while at < len(content):
            kind, data, at = self._element(content, at, padded=False)
            if kind == _COMPRESSED:
                data = memoryview(self._unpacked(data))
                kind, data, _ = self._element(data, 0, padded=False)
            if kind != _MATRIX:
                self.refuse(f"an element of type {kind} where an array was expected")
            self._array(data, depth=1)

    def _array(self, content: memoryview, depth: int) -> None:
        """The parts of an array: flags, lengths, name, then its values or arrays in it."""
        if depth > _DEEPEST:
            self.refuse(f"arrays in arrays, more than {_DEEPEST} deep")
        at = 0
        part = 0
        while at < len(content):
            kind, data, at = self._element(content, at, padded=True)
            if kind not in _KNOWN:
                self.refuse(f"an element of the unknown type {kind}")
            if part == 0 and (kind != 6 or len(data) != 8):
                self.refuse("an array without flags")
            if kind == _MATRIX and len(data):
                self._array(data, depth + 1)
            part += 1

    def _element(self, content: memoryview, at: int, padded: bool) -> tuple[int, memoryview, int]:
        """Type and bytes of the element at a place, and where the next one begins."""
        if at + 8 > len(content):
            self.refuse("it ends within the tag of an element")
        kind, length = struct.unpack_from(f"{self.order}II", content, at)
        if kind >> 16:  # a short element: four bytes at most, within the tag
            length = kind >> 16
            if length > 4:
                self.refuse(f"a short element of {length} bytes")
            return kind & 0xFFFF, content[at + 4 : at + 4 + length], at + 8
        begin = at + 8
        if begin + length > len(content):
            self.refuse(f"an element of {length} bytes where {len(content) - begin} are left")
        end = begin + length
        return kind, content[begin:end], end + (-length % 8 if padded else 0)

    def _unpacked(self, data: memoryview) -> bytes:
        """The bytes of a compressed element, as long as they are not too many."""
        decoder = zlib.decompressobj()
        found = bytearray()
        waiting = bytes(data)
        try:
            while waiting and not decoder.eof:
                found += decoder.decompress(waiting, _CHUNK)
                waiting = decoder.unconsumed_tail
                check_unpacked(self.path, self.unpacked + len(found))
        except zlib.error as error:
            self.refuse(f"a compressed element cannot be unpacked: {error}")
        if not decoder.eof:
            self.refuse("a compressed element ends too early")
        self.unpacked += len(found)
        return bytes(found)

    def refuse(self, why: str) -> NoReturn:
        raise DataError(f"{self.path}: not a whole MAT file (truncated or of another kind): {why}")
