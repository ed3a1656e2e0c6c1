"""`prssm predict`: every row of a recording from measurements some rows before it, as a table."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.outputs import PREDICTED, TABLE, checked_name, numbered
from prssm.cli.whole import Whole
from prssm.evaluation.tasks.settings import PredictSettings


def predict(
    model: Annotated[Path, Parameter(help="A model file.")],
    data: Annotated[
        str, Parameter(help="A file with inputs and outputs, or the name of a data set.")
    ],
    *,
    horizon: Annotated[
        Whole, Parameter(help="How many rows ahead; 1 is the next row.")
    ] = PredictSettings.horizon,
    out: Annotated[Path, Parameter(help="Where the predictions go: .csv or .parquet.")] = PREDICTED,
    method: Annotated[
        str, Parameter(help="Which filter: 'extended' or 'unscented'.")
    ] = PredictSettings.method,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Predict every row from the measurements up to --horizon rows before it.

    Inputs count as known up to the row itself. Columns: time, inputs, measured outputs, and mean,
    std and 95 % limits of each output. Of a data set, the test part is predicted.
    """
    checked_name(out, TABLE, "--out")
    settings = PredictSettings(
        model=model,
        data=data,
        horizon=horizon,
        method=method,
        **columns.chosen(),
    )
    from prssm.data.io.files import write_columns
    from prssm.evaluation.tasks import state_estimation

    found = state_estimation.predicted(settings)
    for run, path in zip(found, numbered(out, len(found)), strict=True):
        write_columns(path, run.to_columns())
        print(f"prediction: {path}")
