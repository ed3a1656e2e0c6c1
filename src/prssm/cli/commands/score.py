"""`prssm score`: how well a saved model runs freely over a recording."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.outputs import SCORES, checked_name, write_json


def score(
    model: Annotated[Path, Parameter(help="A model file.")],
    data: Annotated[
        str,
        Parameter(
            help="A file with inputs and outputs, or the name of a data set (its test part)."
        ),
    ],
    *,
    out: Annotated[Path | None, Parameter(help="Also write the scores as JSON.")] = None,
    inputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--inputs", "-u"],
            negative="",
            help="Input columns, if not called as in training.",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        Parameter(
            name=["--outputs", "-y"],
            negative="",
            help="Output columns, if not called as in training.",
        ),
    ] = None,
    time: Annotated[str | None, Parameter(help="Column of time stamps.")] = None,
    dt: Annotated[float | None, Parameter(help="Seconds between rows.")] = None,
    samples: Annotated[
        int | None, Parameter(help="Trajectories to draw. Default: the model's own number.")
    ] = None,
    seed: Annotated[int, Parameter(help="Of the random numbers.")] = 0,
) -> None:
    """Score the free run of a model against what was measured: error, fit, log-likelihood, coverage
    of the band.
    """
    if out is not None:
        checked_name(out, SCORES, "--out")
    from prssm.cli.sources import check_samples, records_for_model
    from prssm.models.files import load
    from prssm.report.tables import metric_table, print_table

    check_samples(samples)
    fitted = load(model)
    records = records_for_model(fitted, data, inputs=inputs, outputs=outputs, time=time, dt=dt)
    metrics = fitted.score(records, samples=samples, seed=seed)
    print_table(metric_table(metrics, title=f"{fitted.name}: free run over {data}"))
    if out is not None:
        write_json(
            out,
            {
                "model": str(model),
                "method": fitted.name,
                "data": data,
                "outputs": list(fitted.output_names_),
                "records": len(records),
                "rows": sum(len(record) for record in records),
                "seed": seed,
                "metrics": metrics,
            },
        )
        print(f"scores: {out}")
