"""Ways to damage a file: its bytes, its text, its JSON, its arrays, its zip archive.

Each takes a random generator, so that a seed names a case for ever.
"""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Random = np.random.Generator

ODD_NUMBERS = (0, 1, -1, 2, 10**9, -(10**9), 10**30, 2**31, 2**63, 0.5, 1e300, -1e-300, 1e400)
ODD_TEXTS = (
    "",
    " ",
    "nan",
    "inf",
    "1_0",
    "None",
    "\u0000",
    "ä" * 50,
    "x" * 5000,
    "../../etc",
    "%s",
)
ODD_VALUES = (*ODD_NUMBERS, *ODD_TEXTS, None, True, False, [], {}, [[]], {"": {}}, float("nan"))
ODD_CELLS = (
    b"1e400",
    b"-1e300",
    b"nan",
    b"1_0",
    b'"',
    b";",
    b",,",
    b"\xff\xfe",
    b"0x10",
    b"1,5",
    b"#",
)
WORDS_OF_FOUR = (
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\0\0\0\0",
    b"\x01\0\0\0",
)


def pick(rng: Random, options: Any) -> Any:
    """One of some things, which need not be alike."""
    return list(options)[int(rng.integers(len(list(options))))]


def _few(rng: Random) -> int:
    """One damage mostly: of several, the first that is noticed hides the others."""
    return 1 if rng.random() < 0.7 else int(rng.integers(2, 5))


def damaged_bytes(content: bytes, rng: Random) -> bytes:
    """Some small damages of one kind each, anywhere."""
    data = bytearray(content)
    for _ in range(_few(rng)):
        if not data:
            break
        pick(rng, BYTES)(data, rng)
    return bytes(data)


def _span(data: bytearray, rng: Random, longest: int = 64) -> slice:
    begin = int(rng.integers(len(data)))
    return slice(begin, min(len(data), begin + int(rng.integers(1, longest))))


def _flip(data: bytearray, rng: Random) -> None:
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))


def _overwrite(data: bytearray, rng: Random) -> None:
    span = _span(data, rng, 16)
    data[span] = rng.bytes(span.stop - span.start)


def _number(data: bytearray, rng: Random) -> None:
    """Where a length or an offset may stand."""
    at = int(rng.integers(max(1, len(data) // 4))) * 4
    data[at : at + 4] = pick(rng, WORDS_OF_FOUR)


def _cut(data: bytearray, rng: Random) -> None:
    del data[int(rng.integers(len(data))) :]


def _remove(data: bytearray, rng: Random) -> None:
    del data[_span(data, rng)]


def _repeat(data: bytearray, rng: Random) -> None:
    span = _span(data, rng, 400)
    data[span.start : span.start] = data[span] * int(rng.integers(1, 5))


def _insert(data: bytearray, rng: Random) -> None:
    at = int(rng.integers(len(data) + 1))
    data[at:at] = pick(rng, (rng.bytes(int(rng.integers(1, 30))), *ODD_CELLS))


BYTES: tuple[Callable[[bytearray, Random], None], ...] = (
    *(_flip, _overwrite, _number, _cut, _remove, _repeat, _insert),
)


def damaged_text(content: bytes, rng: Random) -> bytes:
    """A cell, a line or a sign of a text is another."""
    lines = content.split(b"\n")
    for _ in range(_few(rng)):
        row = int(rng.integers(len(lines)))
        cells = lines[row].split(b",")
        kind = int(rng.integers(6))
        if kind == 0:
            cells[int(rng.integers(len(cells)))] = pick(rng, ODD_CELLS)
        elif kind == 1:
            cells *= int(rng.integers(2, 4))
        elif kind == 2:
            del cells[int(rng.integers(len(cells)))]
        lines[row] = b",".join(cells)
        if kind == 3:
            lines[row:row] = [lines[row]] * int(rng.integers(1, 4))
        elif kind == 4:
            del lines[row]
        elif kind == 5:
            lines[row] = pick(rng, ODD_TEXTS).encode()
        lines = lines or [b""]
    return b"\n".join(lines)


ODD_SETTINGS = (
    *(b"1", b"-1", b"0", b"1.5", b"true", b"[]", b"[1, 2]", b"{}", b"nan", b"inf", b"1e400"),
    *(b'""', b'"x"', b"2024-05-31", b"99999999999999999999", b'["a", "a"]', b'[["a"]]', b"'\\'"),
)


def damaged_settings(content: bytes, rng: Random) -> bytes:
    """A key of a TOML file has another value or name, stands twice, elsewhere or not at all."""
    lines = content.split(b"\n")
    for _ in range(_few(rng)):
        at = int(rng.integers(len(lines)))
        key, _, value = lines[at].partition(b" = ")
        action = int(rng.integers(5))
        if action < 2:
            lines[at] = key + b" = " + pick(rng, ODD_SETTINGS)
        elif action == 2:
            lines[at] = damaged_bytes(key or b"x", rng) + b" = " + value
        elif action == 3:
            lines.insert(int(rng.integers(len(lines))), lines.pop(at))
        else:
            lines.insert(at, lines[at])
    return b"\n".join(lines)


def damaged_value(value: Any, rng: Random) -> Any:
    """A tree of plain values with one place changed."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        changed = dict(value)
        key = pick(rng, value)
        action = int(rng.integers(6))
        if action == 0:
            del changed[key]
        elif action == 1:
            changed[f"{key}x"] = changed.pop(key)
        else:
            changed[key] = damaged_value(value[key], rng)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed_list = list(value)
        at = int(rng.integers(len(value)))
        action = int(rng.integers(4))
        if action == 0:
            del changed_list[at]
        elif action == 1:
            changed_list.append(value[at])
        else:
            changed_list[at] = damaged_value(value[at], rng)
        return changed_list
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return pick(rng, ODD_NUMBERS)
    return pick(rng, ODD_VALUES)


def damaged_json(content: bytes, rng: Random) -> bytes:
    """Valid JSON that says something else; now and then damage to the text, or deep nesting."""
    choice = rng.random()
    if choice < 0.1:
        return damaged_bytes(content, rng)
    if choice < 0.13:
        return b"[" * 100_000
    return json.dumps(damaged_value(json.loads(content), rng)).encode()


def damaged_arrays(arrays: dict[str, np.ndarray], rng: Random) -> dict[str, np.ndarray]:
    """One array has other values, another shape or type, another name, or is gone."""
    changed = dict(arrays)
    name = pick(rng, sorted(arrays))  # a file's own order is not always the same
    array = np.array(arrays[name])
    action = int(rng.integers(9))
    if action == 0:
        del changed[name]
    elif action == 1:
        changed[f"{name}x"] = changed.pop(name)
    elif action == 2:
        changed[name] = array.astype(pick(rng, (np.float32, np.int64, np.int8, bool, np.uint32)))
    elif action == 3:
        changed[name] = array[None]
    elif action == 4:
        changed[name] = array[..., :0] if array.ndim else array.reshape(1)
    elif action == 5:
        changed[name] = np.concatenate([array.ravel(), array.ravel()])
    elif action == 6:
        changed[name] = changed[pick(rng, sorted(arrays))]
    elif array.size:
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        odd = (np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0) if array.dtype.kind == "f" else (-1, 127)
        array.flat[int(rng.integers(array.size))] = pick(rng, odd)
        changed[name] = array
    return changed


def rezipped(
    content: bytes, rng: Random, damages: dict[str, Callable[[bytes, Random], bytes]]
) -> bytes:
    """A zip archive whose checksums are right although a member is damaged.

    `damages` says how, by the end of the member's name.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if not members:
        return content
    name = pick(rng, members)
    action = int(rng.integers(12))
    if action == 0:
        del members[name]
    elif action == 1:
        members[f"{name}x"] = members.pop(name)
    elif action == 2:
        members[name] = b""
    elif action == 3:
        members[name] += bytes(int(rng.integers(1, 1_000_000)))
    else:
        damage = next((how for end, how in damages.items() if name.endswith(end)), damaged_bytes)
        members[name] = damage(members[name], rng)
    method = pick(rng, (*[zipfile.ZIP_STORED] * 5, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def damaged_zip(damages: dict[str, Callable[[bytes, Random], bytes]]) -> Any:
    """Damage to the archive as it lies on the disk, or within it with right checksums."""
    return lambda content, rng: (
        damaged_bytes(content, rng) if rng.random() < 0.3 else rezipped(content, rng, damages)
    )
