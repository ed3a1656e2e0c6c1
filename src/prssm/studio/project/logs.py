"""The logs of a project: files with generated names, beside notes that say what they are.

A log is `logs/log-1.csv` with its note `logs/log-1.json`. The note holds the name that the user
knows, which is only ever shown, and what was chosen for it: columns, parts, preprocessing. A log
that was named on the command line stays where it is; its note points there.
"""

import json
import re
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anyio import to_thread

from prssm.data.clock.names import TIME_COLUMN
from prssm.data.coerce import as_records
from prssm.data.io import archives
from prssm.data.io.files import READERS, open_columns, write_record
from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.evaluation.tasks.sources import is_set
from prssm.foundation.errors import DataError, PrssmError
from prssm.foundation.plain_json import write_json
from prssm.studio.answers import NotThere

_ID = re.compile(r"log-\d+")
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Log:
    """One log: where it is, what the user calls it, and what was chosen for it."""

    id: str
    name: str  # as the user knows it: shown as text, never used as a path
    file: str  # within the project folder, or the whole path of a file that is elsewhere
    choice: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "file": self.file, "choice": dict(self.choice)}


class Logs:
    """The folder `logs` of a project."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._folder = project / "logs"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()

    def all(self) -> list[Log]:
        """In the order in which they came."""
        notes = [path for path in self._folder.glob("log-*.json") if _ID.fullmatch(path.stem)]
        found = [_read(note) for note in sorted(notes, key=lambda path: int(path.stem[4:]))]
        return [log for log in found if log is not None]

    def one(self, name: str) -> Log:
        """The log of that id."""
        for log in self.all():
            if log.id == name:
                return log
        raise NotThere(f"the project has no log {name!r}")

    def path(self, log: Log) -> Path:
        """Where its rows are."""
        return self._project / log.file

    def choose(self, name: str, choice: Mapping[str, Any]) -> Log:
        """Keep what was chosen for a log."""
        with self._lock:
            log = replace(self.one(name), choice=dict(choice))
            self._write(log)
        return log

    def forget(self, name: str) -> None:
        """Remove a log; a file that is elsewhere stays."""
        with self._lock:
            log = self.one(name)
            if self.path(log).parent == self._folder:
                self.path(log).unlink(missing_ok=True)
            self._note(log.id).unlink(missing_ok=True)

    def add_word(self, word: str) -> list[Log]:
        """What was named on the command line: a file, or a data set, whose parts become files."""
        if not is_set(word):
            return [self.add_file(Path(word))]
        parts = zip(("training", "test"), catalogue.load(word), strict=True)
        named = [(f"{word}, {what}", record) for what, part in parts for record in as_records(part)]
        known = {log.name: log for log in self.all()}
        added = [known.get(name) or self.add_record(name, record) for name, record in named]
        for log in added[:-1]:
            if "test_log" not in log.choice:  # the last part is the set's own test
                self.choose(log.id, {**log.choice, "test_log": added[-1].id})
        return [self.one(log.id) for log in added]

    def add_file(self, path: Path) -> Log:
        """A file that stays where it is; naming it again gives the same log."""
        where = str(path.resolve())
        open_columns(path)  # says at once what is wrong with it
        with self._lock:
            for log in self.all():
                if log.file == where:
                    return log
            return self._write(Log(self._next(), path.name, where))

    def add_record(self, name: str, record: Record) -> Log:
        """A record of ours, written as a CSV file."""
        with self._lock:
            log = Log(self._next(), name, "", _columns_of(record))
            file = self._folder / f"{log.id}.csv"
            write_record(file, record)
            return self._write(replace(log, file=f"logs/{file.name}"))

    async def add_upload(self, name: str, pieces: AsyncIterator[bytes], most: float) -> Log:
        """What the page sends, up to `most` megabytes; of its name only a known ending is used."""
        suffix = known_suffix(name)
        with self._lock:
            id_ = self._next()
            file = self._folder / f"{id_}{suffix}"
            file.touch(exist_ok=False)
        try:
            with file.open("wb") as stream:
                async for piece in pieces:
                    if stream.tell() + len(piece) > most * _MEGABYTE:
                        raise DataError(
                            f"{name}: larger than the {most:g} MB that this studio takes; start it "
                            "with the file's name (prssm studio log.csv), or with --upload"
                        )
                    stream.write(piece)
            await to_thread.run_sync(_check, file, name)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        return self._write(Log(id_, name, f"logs/{file.name}"))

    def _write(self, log: Log) -> Log:
        write_json(self._note(log.id), log.to_dict())
        return log

    def _note(self, id_: str) -> Path:
        return self._folder / f"{id_}.json"

    def _next(self) -> str:
        """An id that no file has."""
        used = [
            int(path.name.split(".")[0][4:])
            for path in self._folder.glob("log-*")
            if _ID.fullmatch(path.name.split(".")[0])
        ]
        return f"log-{max(used, default=0) + 1}"


def check_word(word: str) -> None:
    """Whether a word of the command line names a data set or a file that is there."""
    if not is_set(word) and not Path(word).is_file():
        open_columns(word)  # says what is wrong


def known_suffix(name: str) -> str:
    """The ending of a file's name, also '.csv.gz', if it is one that can be read."""
    endings = [ending.lower() for ending in Path(name).suffixes[-2:]]
    if endings and endings[-1] in archives.SUFFIXES:
        inner = endings[-2] if len(endings) > 1 and endings[-2] in READERS else ""
        if inner or endings[-1] == ".zip":
            return inner + endings[-1]
    elif endings and endings[-1] in READERS:
        return endings[-1]
    raise DataError(f"{name}: expected a file that ends in {', '.join(READERS)}")


def _columns_of(record: Record) -> dict[str, Any]:
    """The columns of a record that was written, as a choice."""
    time = {} if record.dt is None else {"time": TIME_COLUMN}
    return {"inputs": list(record.input_names), "outputs": list(record.output_names), **time}


def _check(file: Path, name: str) -> None:
    """Whether it can be read; messages call it by the name that the user knows."""
    try:
        open_columns(file)
    except PrssmError as error:
        raise DataError(str(error).replace(str(file), name)) from None


def _read(note: Path) -> Log | None:
    """A note; None where a person has spoilt it."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
        return Log(note.stem, str(found["name"]), str(found["file"]), dict(found["choice"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
