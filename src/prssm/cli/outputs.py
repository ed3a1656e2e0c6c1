"""Files that the commands write.

Names are checked before any work, contents appear under their name only when whole.
"""

from pathlib import Path

from prssm.foundation.errors import OptionError

MODEL = (".prssm",)
REPORT = (".html", ".htm")
TABLE = (".csv", ".parquet")
SCORES = (".json",)
# Where tables go unless told: by what was done, so that no command overwrites another's table.
SIMULATED = Path("simulated.csv")
PREDICTED = Path("predicted.csv")
FILTERED = Path("filtered.csv")
SMOOTHED = Path("smoothed.csv")


def checked_name(path: Path, suffixes: tuple[str, ...], option: str) -> Path:
    """The path, if its ending says what will be in it and nothing else is in its place."""
    if path.suffix.lower() not in suffixes:
        raise OptionError(
            f"{option}: expected a name that ends in {' or '.join(suffixes)}, got {str(path)!r}"
        )
    if path.is_dir():
        raise OptionError(f"{option}: expected a file name, got the folder {str(path)!r}")
    for folder in path.parents:
        if folder.exists() and not folder.is_dir():
            raise OptionError(
                f"{option}: {str(folder)!r} is a file, so nothing can be written below it"
            )
    return path


def numbered(path: Path, count: int) -> list[Path]:
    """One file a record: pred.csv, or pred-0.csv, pred-1.csv, ..."""
    return [path] if count == 1 else [path.with_stem(f"{path.stem}-{i}") for i in range(count)]
