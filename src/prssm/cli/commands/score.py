"""`prssm score`: how well a saved model runs freely over a recording."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from prssm.cli.columns import ReadingWords
from prssm.cli.outputs import SCORES, checked_name
from prssm.cli.whole import FirstRows, MaybeWhole, Whole
from prssm.evaluation.tasks.settings import SavedModelSettings
from prssm.foundation.plain_json import write_json

if TYPE_CHECKING:
    from prssm.evaluation.tasks.saved_model import Scored


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
    columns: Annotated[ReadingWords, Parameter(name="*")] = ReadingWords(),  # noqa: B008 - frozen
    samples: Annotated[
        MaybeWhole, Parameter(help="Trajectories to draw. Default: the model's own number.")
    ] = None,
    seed: Annotated[Whole, Parameter(help="Of the random numbers.")] = 0,
    start: FirstRows = None,
) -> None:
    """Score the free run of a model against what was measured.

    The table has error, fit, log-likelihood and coverage of the band. Below it stands whether
    errors one step ahead are white and independent of the inputs.
    """
    if out is not None:
        checked_name(out, SCORES, "--out")
    settings = SavedModelSettings(
        model=model,
        data=data,
        samples=samples,
        seed=seed,
        start=start,
        **columns.chosen(),
    )
    from prssm.evaluation.comparison import Run
    from prssm.evaluation.tasks import saved_model
    from prssm.report.residual_words import in_words
    from prssm.report.tables import metric_table, outputs_table, print_table

    scored = saved_model.score(settings)
    title = f"{scored.model.name}: free run over {data}"
    print_table(metric_table(scored.metrics, title=title))
    if len(scored.each) > 1:
        run = Run(data, [], scored.metrics, scored.each)
        print_table(outputs_table(run, title="each output alone"))
    print("\n".join(in_words(scored.residuals)))
    if out is not None:
        write_json(out, _document(settings, scored))
        print(f"scores: {out}")


def _document(settings: SavedModelSettings, scored: "Scored") -> dict[str, Any]:
    found = scored.residuals
    return {
        "model": str(settings.model),
        "method": scored.model.name,
        "data": settings.data,
        "outputs": list(scored.model.output_names_),
        "records": len(scored.records),
        "rows": sum(len(record) for record in scored.records),
        "seed": settings.seed,
        "start": settings.start,
        "metrics": scored.metrics,
        "metrics_of_each_output": scored.each,
        "residuals": None if isinstance(found, str) else found.to_dict(),
    }
