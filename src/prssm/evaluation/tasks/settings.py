"""What a front end can say, as frozen objects that are checked when they are built.

Nothing heavy is imported here, so that a mistake is answered at once. A message names a setting by
its word on the command line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from prssm.export.targets import ExportSettings, target_named
from prssm.foundation.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class ColumnSettings:
    """Which columns of a file are meant, and how its time stamps are read (`prssm.read`).

    None: as the model was trained, else by the convention.
    """

    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    time: str | None = None
    dt: float | None = None
    gaps: str | None = None
    sort: bool | None = None
    duplicates: str | None = None
    resample: str | float | None = None
    time_unit: str | None = None
    decimal: str | None = None
    query: str | None = None


COLUMN_NAMES = tuple(part.name for part in fields(ColumnSettings))


@dataclass(frozen=True, kw_only=True)
class DataSettings(ColumnSettings):
    """What trains and what is scored: files, one an experiment; or the name of a set; or a stream.

    `test` is a file that is scored. `split` is the first fraction of the rows, which trains while
    the rest is scored. `rows` and `test_rows` are spans such as '0:700' or '10s:90s' that train and
    that are scored. With none of them, all rows train.
    """

    data: tuple[str, ...] = ()
    stream: str | None = None
    test: str | None = None
    split: float | None = None
    rows: str | None = None
    test_rows: str | None = None

    def __post_init__(self) -> None:
        if not self.data and not self.stream:
            raise OptionError(
                "no data: name a file or a data set, e.g. prssm fit log.csv (prssm datasets lists "
                "the sets)"
            )
        if self.test and self.split is not None:
            raise OptionError("--test and --split: give one of them, not both")
        if self.split is not None and not 0.0 < self.split < 1.0:
            raise OptionError(f"--split: expected a fraction between 0 and 1, got {self.split}")
        for name, others in (("rows", ("split",)), ("test_rows", ("test", "split"))):
            for other in others:
                if getattr(self, name) is not None and getattr(self, other) is not None:
                    word = name.replace("_", "-")
                    raise OptionError(f"--{word} and --{other}: give one of them, not both")
        if self.stream:
            self._check_stream()

    def _check_stream(self) -> None:
        """A stream brings its own columns; the time column is then that of the test file."""
        for name in (*COLUMN_NAMES, "split", "rows", "test_rows"):
            if name == "time" and self.test:
                continue
            if getattr(self, name) is not None:
                word = f"--{name.replace('_', '-')}"
                raise OptionError(
                    f"{word}: the stream {self.stream!r} was converted already; leave {word} out"
                )
        if self.data:
            raise OptionError(
                f"--stream: expected it instead of data, got {', '.join(self.data)} too"
            )

    @property
    def title(self) -> str:
        """The data in a few words, for a page."""
        return ", ".join(self.data) or str(self.stream)


@dataclass(frozen=True, kw_only=True)
class ProcessSettings:
    """Which of several processes this is; without a coordinator it is alone."""

    coordinator: str | None = None
    processes: int | None = None
    process: int | None = None

    def __post_init__(self) -> None:
        if self.coordinator is not None:
            return
        for name in ("processes", "process"):
            if getattr(self, name) is not None:
                raise OptionError(
                    f"--{name}: expected together with --coordinator host:port (or auto), got it "
                    "alone"
                )


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """What `tasks.fit` needs. Options of the method may be texts; they get their type there."""

    data: DataSettings
    method: str = "prssm"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    out: Path = Path("model.prssm")
    checkpoint: Path | None = None
    resume: bool = False
    devices: int | str | None = None
    processes: ProcessSettings = ProcessSettings()
    budget: float | None = None  # seconds that the fit should take at most
    preprocess: tuple[str, ...] = ()  # steps such as detrend=linear, in their order

    @property
    def checkpoint_file(self) -> Path:
        """Where training saves itself until it is done."""
        return self.checkpoint or Path(f"{self.out}.checkpoint")


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What `tasks.search` needs: what to try, how it is judged, and where it runs."""

    data: DataSettings
    over: Mapping[str, Any] | Sequence[str]
    method: str = "prssm"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    out: Path = Path("runs/search")
    trials: int | None = None
    hold_out: float = 0.3
    folds: int | None = None
    by: str = "rmse"
    prune: bool | None = None
    workers: int = 1
    dask: str | None = None
    retry_failed: bool = False
    no_fit: bool = False

    def __post_init__(self) -> None:
        if not self.over:
            raise OptionError(
                "--over: expected what to try, e.g. --over latent_dim=2,4,6 seed=0..4"
            )
        if self.workers < 1:
            raise OptionError(f"--workers: expected at least 1, got {self.workers}")
        if self.data.stream:
            raise OptionError("--stream: a search needs all data in memory, got a stream")


@dataclass(frozen=True, kw_only=True)
class SavedModelSettings(ColumnSettings):
    """A saved model and the data it runs over: a file, or the name of a set (its test part).

    `start` is how many first rows the run may read outputs of; none: the model's warm-up.
    """

    model: Path
    data: str
    samples: int | None = None
    seed: int = 0
    start: int | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.start < 1:
            raise OptionError(f"--start: expected at least 1 row, got {self.start}")
        if self.samples is not None and self.samples < 2:  # a spread needs two
            raise OptionError(f"--samples: expected at least 2, got {self.samples}")


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings(ColumnSettings):
    """Saved models and the data that all of them run over: a file, or the name of a set."""

    models: tuple[Path, ...]
    data: str

    def __post_init__(self) -> None:
        if not self.models:
            raise OptionError(
                "no models: name one or more files, e.g. prssm compare a.prssm --on log"
            )


@dataclass(frozen=True, kw_only=True)
class FilterSettings(ColumnSettings):
    """A saved model and the recording that it is told; `smooth`: all of it for every row."""

    model: Path
    data: str
    method: str = "extended"
    smooth: bool = False


@dataclass(frozen=True, kw_only=True)
class PredictSettings(ColumnSettings):
    """A saved model, a recording, and how many rows ahead each row is predicted."""

    model: Path
    data: str
    horizon: int = 1
    method: str = "extended"

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise OptionError(f"--horizon: expected at least 1, got {self.horizon}")


@dataclass(frozen=True, kw_only=True)
class ExportTask(ExportSettings):
    """A saved model and the language in which it is to be written; `out`: beside the model."""

    model: Path
    to: str
    out: Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        target_named(self.to).checked(self.place)

    @property
    def place(self) -> Path:
        """Where it goes."""
        return self.out or self.model.with_name(self.model.stem + target_named(self.to).suffix)


@dataclass(frozen=True, kw_only=True)
class BenchmarkSettings:
    """What `tasks.benchmark` needs; None and empty mean the paper's methods, data sets and table.

    `options` are texts key=value or method.key=value. `supplement` names settings of the paper's
    supplement, `figures` its figures.
    """

    methods: Sequence[str] | None = None
    datasets: Sequence[str] | None = None
    seeds: int = 5
    out: Path = Path("runs")
    preset: str | None = None
    options: Sequence[str] = ()
    supplement: Sequence[str] = ()
    figures: Sequence[str] = ()
    workers: int = 1
    dask: str | None = None
    retry_failed: bool = False
