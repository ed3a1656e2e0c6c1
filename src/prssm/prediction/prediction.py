"""Prediction: a simulated run with error bars, in the data's own units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from prssm.data.clock.stamps import Stamps
from prssm.foundation.errors import OptionError
from prssm.foundation.show.cards import Cell, card, grid, shown_in_notebooks
from prssm.prediction.gaussian import half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """What the sensors would read: mean and standard deviation (T, Dy), sensor noise included.

    `samples` (S, T, Dy) are drawn measurements whose moments are `mean` and `std`, where a method
    draws them. The latent states (T, Dx) are in the model's own units. `measured` is what was
    recorded, for plots and scores; its first `warmup` rows are all that the simulation has seen of
    it. `distance` (T,) says how far state, input and output are from all that the model was trained
    on: 0 inside, else in standard deviations of the training data; None where nobody knows.
    `inputs_outside` (T,) marks rows whose inputs are beyond what training saw. `cautions` are what
    the run must be distrusted for, one line each.
    """

    mean: np.ndarray
    std: np.ndarray
    samples: np.ndarray | None = None
    state_mean: np.ndarray | None = None
    state_std: np.ndarray | None = None
    measured: np.ndarray | None = None
    inputs: np.ndarray | None = None
    warmup: int = 0
    dt: float | None = None
    input_names: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ("y",)
    name: str = "record"
    distance: np.ndarray | None = None
    label: str = "free simulation"  # what kind of run this is, for pictures
    inputs_outside: np.ndarray | None = None
    cautions: tuple[str, ...] = ()
    stamps: Stamps | None = None  # the time column of the data, as it came
    library: str = ""  # the package of the data frame that the data were, if any
    origin: float = 0.0  # where its first row is in the recording: seconds, or rows without dt

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def time(self) -> np.ndarray:
        """Seconds from the start where the sampling time is known, else sample numbers."""
        return np.arange(len(self)) * (self.dt or 1.0)

    @property
    def outside(self) -> np.ndarray | None:
        """The rows (T,) that are outside of what the model has seen; None where nobody knows."""
        return None if self.distance is None else self.distance > 0.0

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Limits (T, Dy) of the central Gaussian interval with the given probability."""
        if not 0.0 < level < 1.0:
            raise OptionError(f"level: expected a probability between 0 and 1, got {level}")
        half = half_width(level) * self.std
        return self.mean - half, self.mean + half

    def to_columns(self) -> dict[str, np.ndarray]:
        """Named columns for a CSV or Parquet file: time, inputs, measured, mean, std, limits.

        The time stamps are those of the data, as they came. `inputs_outside` is 1 where an input
        is beyond what training saw; `outside_training` says how far each row is outside of the
        training data, 0 inside.
        """
        columns: dict[str, np.ndarray] = {"time" if self.dt else "step": self.time}
        if self.stamps is not None:
            columns = {self.stamps.name: self.stamps.cells}
        if self.inputs is not None:
            columns |= {name: self.inputs[:, i] for i, name in enumerate(self.input_names)}
        lower, upper = self.interval(0.95)
        for i, name in enumerate(self.output_names):
            if self.measured is not None:
                columns[name] = self.measured[:, i]
            columns |= {
                f"{name}_mean": self.mean[:, i],
                f"{name}_std": self.std[:, i],
                f"{name}_lower95": lower[:, i],
                f"{name}_upper95": upper[:, i],
            }
        if self.distance is not None:
            columns["outside_training"] = self.distance
        if self.inputs_outside is not None:
            columns["inputs_outside"] = self.inputs_outside.astype(np.int64)
        return columns

    def to_frame(self) -> Any:
        """The columns as a data frame of the library that the data came in, else of polars."""
        if self.library == "pandas":
            import pandas

            return pandas.DataFrame(self.to_columns())
        if self.library == "pyarrow":
            import pyarrow

            return pyarrow.table(self.to_columns())
        import polars

        return polars.DataFrame(self.to_columns())

    def __repr__(self) -> str:
        step = "" if self.dt is None else f", every {self.dt:.6g} s"
        drawn = "" if self.samples is None else f", {len(self.samples)} samples"
        told = f", {len(self.cautions)} cautions" if self.cautions else ""
        return (
            f"Prediction({self.name!r}: {len(self)} rows{step}, outputs: "
            f"{', '.join(self.output_names)}, {self.warmup} rows seen{drawn}{told})"
        )

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        from prssm.prediction.plot import picture

        step = f", every {self.dt:.6g} s" if self.dt else ""
        facts = [("rows", f"{len(self)}{step}, of which {self.warmup} were seen")]
        if self.samples is not None:
            facts.append(("samples", str(len(self.samples))))
        return card(
            f"{self.label}: {self.name}",
            facts,
            cautions=self.cautions,
            table=self._scores(),
            picture=picture(self),
            alternative="outputs over time with their band",
        )

    def _scores(self) -> str:
        """A small table of how good the run is; empty where nothing was measured."""
        from prssm.prediction.metrics import evaluate_each

        if self.measured is None:
            return ""
        with np.errstate(all="ignore"):  # a run may be lost
            each = evaluate_each([self], np.ones(self.mean.shape[1]))
        shown = ("rmse", "fit_percent", "coverage_95")
        rows: list[list[Cell]] = [
            [name, *(scores[key] for key in shown)] for name, scores in each.items()
        ]
        return grid(["output", "RMSE", "fit %", "share in the 95 % band"], rows) if rows else ""

    def plot(self, output: int = 0, ax: Axes | None = None) -> Axes:
        """Measured output, predicted mean and two-sigma band of one output, with a legend.

        Draws into `ax`, or into a new figure: `ax.figure` is it, and `plt.show()` shows it where
        the program has imported pyplot.
        """
        from prssm.prediction.plot import plot_output

        drawn = plot_output(self, output, ax)
        drawn.legend(loc="best", fontsize="small")
        return drawn
