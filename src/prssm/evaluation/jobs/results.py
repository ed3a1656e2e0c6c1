"""The results file: one JSON line for each finished job, and arrays for figures beside it.

Lines are only ever appended.

A line counts once its newline is on the disk. A crash can leave a torn last line: it is not read,
and the next append cuts it off. Of several lines with the same key (a failed experiment that was
tried again) the last one counts.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from prssm.data.io.npz_members import npz_members
from prssm.evaluation.jobs.job_record import OK, SCHEMA_VERSION, finite, key_of
from prssm.foundation.atomic import replacing
from prssm.foundation.errors import DataError, PrssmError, WriteError
from prssm.foundation.locks import locked

FILE_NAME = "experiments.jsonl"
ARRAYS_FOLDER = "arrays"


class Results:
    """The finished jobs of one output folder.

    Several programs may append to the same folder at once.
    """

    def __init__(self, folder: str | os.PathLike[str], file_name: str = FILE_NAME) -> None:
        self.folder = Path(folder)
        self.path = self.folder / file_name
        self.records: dict[str, dict[str, Any]] = {}
        self._read_up_to = 0
        self._lines_read = 0
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{self.folder}: expected a folder for results, got a file")
        if self.path.exists():
            with self.path.open("rb") as stream:
                self._read_new_lines(stream)

    def append(self, record: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bool:
        """Adds one job: its arrays first, then its line, both on the disk before this returns.

        False, and nothing is written, if another program has meanwhile finished the same experiment
        well.
        """
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        try:
            return self._append(record, arrays, line)
        except OSError as error:
            if isinstance(error, PrssmError):
                raise
            raise WriteError(f"{self.path}: cannot write here: {error.strerror or error}") from None

    def _append(
        self, record: Mapping[str, Any], arrays: Mapping[str, np.ndarray], line: bytes
    ) -> bool:
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.path.with_suffix(".lock")), self.path.open("a+b") as stream:
            self._read_new_lines(stream)
            known = self.records.get(record["key"])
            if known is not None and known["outcome"] == OK:
                return False
            self._write_arrays(record["key"], arrays)
            stream.truncate(self._read_up_to)  # what follows the last whole line is torn
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
            self._read_new_lines(stream)
        return True

    def once(
        self, make: Callable[..., Mapping[str, Any]], *identity: Any, **fixed: Any
    ) -> dict[str, Any]:
        """A row of a study: looked up, or made by `make(*identity, **fixed)` and kept.

        The key is made of `identity`, plain values that name all that the result depends on.
        `fixed` is handed on only. A number that is not finite is kept as None.

            results = Results("runs/study", "rows.jsonl")
            row = results.once(study, "drives", 0)   # runs study("drives", 0) the first time only
        """
        key = key_of(*identity)
        if key not in self.records:
            values = finite(dict(make(*identity, **fixed)))
            record = {"schema": SCHEMA_VERSION, "key": key, "outcome": OK, **values}
            self.append(record, {})
        return self.records[key]

    def arrays(self, key: str) -> dict[str, np.ndarray]:
        """The arrays stored beside a record; empty if it has none (a failed experiment)."""
        path = self._arrays_path(key)
        if not path.exists():
            return {}
        return {name: np.asarray(array) for name, array in npz_members(path).items()}

    def _arrays_path(self, key: str) -> Path:
        return self.folder / ARRAYS_FOLDER / f"{key}.npz"

    def _write_arrays(self, key: str, arrays: Mapping[str, np.ndarray]) -> None:
        path = self._arrays_path(key)
        if not arrays:
            path.unlink(missing_ok=True)
            return
        with replacing(path) as stream:
            # The checker takes the names for the function's own keyword, allow_pickle.
            np.savez_compressed(stream, **dict(arrays))  # type: ignore[arg-type]

    def _read_new_lines(self, stream: IO[bytes]) -> None:
        """Take in the whole lines that were added since the last look."""
        stream.seek(self._read_up_to)
        for line in stream:
            if not line.endswith(b"\n"):
                break
            record = self._parsed(line, self._lines_read + 1)
            self.records[record["key"]] = record
            self._read_up_to += len(line)
            self._lines_read += 1

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        where = f"{self.path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise DataError(
                f"{where}: not a line of a prssm results file (not JSON); use another --out folder"
            ) from None
        if not isinstance(record, dict) or "schema" not in record:
            raise DataError(
                f"{where}: not a line of a prssm results file (no 'schema'); use another --out "
                "folder"
            )
        if record["schema"] != SCHEMA_VERSION:
            raise DataError(
                f"{where}: results version {record['schema']!r}, this program reads and writes "
                f"{SCHEMA_VERSION}; use another --out folder (this one was left as it is)"
            )
        missing = [name for name in ("key", "outcome") if not isinstance(record.get(name), str)]
        if missing:
            raise DataError(
                f"{where}: {missing[0]!r} is missing or not a text; use another --out folder"
            )
        return record
