"""`prssm convert`: files to a folder from which training reads as it goes.

It is for data that do not fit in memory.
"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords


def convert(
    *data: Annotated[
        str,
        Parameter(help="Files that `prssm fit` reads, one an experiment, or folders of them."),
    ],
    out: Annotated[str, Parameter(help="The folder to write.")],
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
) -> None:
    """Convert recordings once, for `prssm fit --stream FOLDER`.

    A Parquet file may be larger than memory.
    """
    from prssm.data.io.columns import FileWords
    from prssm.data.stream.convert import convert as converted
    from prssm.evaluation.tasks.sources import refuse_columns

    refuse_columns(data, FileWords(columns.decimal, columns.query))
    stream = converted(data, Path(out), **columns.chosen())
    print(
        f"{out}: {len(stream.lengths)} experiment(s), {stream.steps} rows, "
        f"inputs: {', '.join(stream.input_names) or 'none'}, outputs: "
        f"{', '.join(stream.output_names)}"
    )
