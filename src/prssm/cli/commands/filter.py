"""`prssm filter`: where the state was at every row of a recording, as a table."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.outputs import FILTERED, SMOOTHED, TABLE, checked_name, numbered
from prssm.evaluation.tasks.settings import FilterSettings


def filter_(
    model: Annotated[Path, Parameter(help="A model file.")],
    data: Annotated[
        str, Parameter(help="A file with inputs and outputs, or the name of a data set.")
    ],
    *,
    out: Annotated[
        Path | None,
        Parameter(
            help="Where the table goes: .csv or .parquet.",
            show_default=f"{FILTERED}; with --smooth {SMOOTHED}",
        ),
    ] = None,
    smooth: Annotated[
        bool,
        Parameter(negative="", help="Use the whole recording for every row, not only its past."),
    ] = False,
    method: Annotated[
        str, Parameter(help="Which filter: 'extended' or 'unscented'.")
    ] = FilterSettings.method,
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Estimate state and outputs at every row from the measurements up to it.

    Columns: time, inputs, measured outputs; mean, std and 95 % limits of each output without the
    sensors' noise; innovations with their deviations; mean and std of each state. Outputs may have
    gaps. Of a data set, the test part is filtered.
    """
    table = checked_name(out or (SMOOTHED if smooth else FILTERED), TABLE, "--out")
    settings = FilterSettings(
        model=model,
        data=data,
        smooth=smooth,
        method=method,
        **columns.chosen(),
    )
    from prssm.data.io.files import write_columns
    from prssm.evaluation.tasks import state_estimation

    found = state_estimation.filtered(settings)
    for estimate, path in zip(found, numbered(table, len(found)), strict=True):
        write_columns(path, estimate.to_columns())
        print(f"estimate: {path}")
