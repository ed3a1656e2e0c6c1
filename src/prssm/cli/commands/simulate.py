"""`prssm simulate`: a free run of a saved model over the inputs of a file.

The result is a table that other programs read.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.outputs import SIMULATED, TABLE, checked_name, numbered
from prssm.cli.whole import FirstRows, MaybeWhole, Whole
from prssm.evaluation.tasks.settings import SavedModelSettings

if TYPE_CHECKING:
    import numpy as np

    from prssm.prediction.prediction import Prediction


def simulate(
    model: Annotated[Path, Parameter(help="A model file.")],
    data: Annotated[
        str,
        Parameter(
            help="A file with the inputs (and, for the start, outputs), or the name of a data set."
        ),
    ],
    *,
    out: Annotated[Path, Parameter(help="Where the predictions go: .csv or .parquet.")] = SIMULATED,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
    samples: Annotated[
        MaybeWhole,
        Parameter(
            help="Draw this many trajectories and write them too, as columns; else none are "
            "written."
        ),
    ] = None,
    seed: Annotated[Whole, Parameter(help="Of the random numbers.")] = 0,
    start: FirstRows = None,
) -> None:
    """Run a model freely over the inputs of a file.

    Only the first outputs (the warm-up) are read, to find the state at the start; a file without
    outputs works too. Columns: time, inputs, measured outputs, mean, std and 95 % limits of
    each output, and how far each row is outside of what the model has seen (0 inside). Of a data
    set, the test part runs.
    """
    checked_name(out, TABLE, "--out")
    settings = SavedModelSettings(
        model=model,
        data=data,
        samples=samples,
        seed=seed,
        start=start,
        **columns.chosen(),
    )
    from prssm.data.io.files import write_columns
    from prssm.evaluation.tasks import saved_model

    runs = saved_model.simulate(settings)
    for run, path in zip(runs, numbered(out, len(runs)), strict=True):
        write_columns(path, run.to_columns() | ({} if samples is None else _sampled(run)))
        print(f"prediction: {path}")


def _sampled(run: "Prediction") -> dict[str, "np.ndarray"]:
    """A column for each trajectory of each output."""
    if run.samples is None:
        return {}
    return {
        f"{name}_sample{s}": run.samples[s, :, i]
        for s in range(len(run.samples))
        for i, name in enumerate(run.output_names)
    }
