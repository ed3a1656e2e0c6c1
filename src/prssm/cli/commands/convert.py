"""`prssm convert`: files to a folder from which training reads as it goes, for data that do not fit
in memory.
"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def convert(
    *data: Annotated[
        str,
        Parameter(help="Files that `prssm fit` reads, one an experiment, or folders of them."),
    ],
    out: Annotated[str, Parameter(help="The folder to write.")],
    inputs: Annotated[
        list[str] | None, Parameter(name=["--inputs", "-u"], negative="", help="Input columns.")
    ] = None,
    outputs: Annotated[
        list[str] | None, Parameter(name=["--outputs", "-y"], negative="", help="Output columns.")
    ] = None,
    time: Annotated[str | None, Parameter(help="Column of time stamps, checked for gaps.")] = None,
    dt: Annotated[
        float | None, Parameter(help="Seconds between rows, where there is no time column.")
    ] = None,
) -> None:
    """Convert recordings once, for `prssm fit --stream FOLDER`. A Parquet file may be larger than
    memory.
    """
    from prssm.data.stream.convert import convert as converted

    stream = converted(data, Path(out), inputs=inputs, outputs=outputs, time=time, dt=dt)
    print(
        f"{out}: {len(stream.lengths)} experiment(s), {stream.steps} rows, "
        f"inputs: {', '.join(stream.input_names) or 'none'}, outputs: "
        f"{', '.join(stream.output_names)}"
    )
