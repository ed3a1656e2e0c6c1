"""Checks a MAT file of version 5 before scipy reads it, which trusts what the file says.

A wrong type in the tag of an element crashes the interpreter there, and so does an array that lacks
a part; a small compressed element may unpack to gigabytes. The file is a list of elements, each a
tag (type and length) and its bytes; an array is an element of elements: flags, which name its
class, lengths and name, then its values, or the arrays that a cell or a structure holds.
"""

import math
import struct
import zlib
from pathlib import Path
from typing import NoReturn

from prssm.foundation.errors import DataError
from prssm.foundation.limits import check_unpacked

_HEADER = 128
_INT32 = 5
_UINT32 = 6
_MATRIX = 14
_COMPRESSED = 15
# the bytes of a value of each type of numbers
_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, _INT32: 4, _UINT32: 4, 7: 4, 9: 8, 12: 8, 13: 8}
_TEXTS = frozenset({16, 17, 18})
_KNOWN = _BYTES.keys() | _TEXTS | {_MATRIX}
_NAMES = frozenset({1, 2, 16})  # types in which names are written
_CELL, _STRUCTURE, _OBJECT, _LETTERS, _SPARSE = range(1, 6)  # classes of arrays
_NUMERIC = range(6, 16)
_COMPLEX = 1 << 11  # among the flags
_MOST_LETTERS = 1_000_000  # of a text without letters, which scipy fills with blanks
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


Element = tuple[int, memoryview]  # its type and its bytes


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
        parts = self._parts(content)
        if not parts or parts[0][0] != _UINT32 or len(parts[0][1]) != 8:
            self.refuse("an array without flags")
        (flags,) = struct.unpack_from(f"{self.order}I", parts[0][1])
        kind = flags & 0xFF
        if kind <= _NUMERIC[-1]:  # of those above, functions and objects, scipy reads no values
            self._laid_out(kind, flags, parts[1:])
        for element, data in parts:
            if element == _MATRIX and len(data):
                self._array(data, depth + 1)

    def _parts(self, content: memoryview) -> list[Element]:
        found = []
        at = 0
        while at < len(content):
            kind, data, at = self._element(content, at, padded=True)
            if kind not in _KNOWN:
                self.refuse(f"an element of the unknown type {kind}")
            found.append((kind, data))
        return found

    def _laid_out(self, kind: int, flags: int, parts: list[Element]) -> None:
        """An array has all parts of its class, each of the right type and length."""
        if len(parts) < 2 or parts[0][0] != _INT32 or len(parts[0][1]) % 4:
            self.refuse("an array without lengths")
        if parts[1][0] not in _NAMES:
            self.refuse("an array without a name")
        lengths = struct.unpack(f"{self.order}{len(parts[0][1]) // 4}i", parts[0][1])
        if len(lengths) < 2 or min(lengths) < 0:
            self.refuse(f"an array of lengths {lengths}")
        count = math.prod(lengths)
        rest = parts[2:]
        if kind in (_CELL, _STRUCTURE, _OBJECT):
            self._holds_arrays(kind, count, rest)
        elif kind in _NUMERIC:
            self._holds_numbers(count, rest, twice=bool(flags & _COMPLEX))
        elif kind == _LETTERS:
            self._holds_letters(count, rest)
        elif kind == _SPARSE:
            if len(rest) not in (3, 4) or any(each not in _BYTES for each, _ in rest):
                self.refuse("a sparse array without its indices or values")
        else:
            self.refuse(f"an array of the unknown class {kind}")

    def _holds_arrays(self, kind: int, count: int, rest: list[Element]) -> None:
        """A cell has an array for each place, a structure one for each place and field."""
        if kind == _OBJECT:
            if not rest or rest[0][0] not in _NAMES:
                self.refuse("an object without the name of its class")
            rest = rest[1:]
        if kind != _CELL:
            if len(rest) < 2 or rest[0][0] != _INT32 or len(rest[0][1]) != 4:
                self.refuse("a structure without the length of its names")
            (letters,) = struct.unpack(f"{self.order}i", rest[0][1])
            names = len(rest[1][1])
            if rest[1][0] not in _NAMES or letters < 1 or names % letters:
                self.refuse("a structure without the names of its fields")
            count *= names // letters
            rest = rest[2:]
        if len(rest) != count or any(each != _MATRIX for each, _ in rest):
            self.refuse(f"{len(rest)} arrays in a cell or structure of {count}")

    def _holds_numbers(self, count: int, rest: list[Element], twice: bool) -> None:
        if len(rest) != 1 + twice:
            self.refuse(f"an array with {len(rest)} lists of values")
        for kind, data in rest:
            if kind not in _BYTES or len(data) != count * _BYTES[kind]:
                self.refuse(f"{len(data)} bytes of type {kind} in an array of {count} numbers")

    def _holds_letters(self, count: int, rest: list[Element]) -> None:
        if len(rest) != 1 or rest[0][0] == _MATRIX:
            self.refuse(f"a text with {len(rest)} lists of letters")
        if count > max(len(rest[0][1]), _MOST_LETTERS):
            self.refuse(f"{len(rest[0][1])} bytes in a text of {count} letters")

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
