"""`prssm demo`: the whole way once, on a simulated system, in some twelve seconds."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from prssm.cli.outputs import MODEL, REPORT, checked_name

DEMO_SET = "drives_sim"
# The one place to change what the demo fits: the default preset at the one of its levels that these
# data ask for, with fewer models. `prssm fit` tries all levels.
DEMO_OPTIONS: dict[str, Any] = {
    "complexity": "free",
    "restarts": 4,
    "folds": 3,
    "fold_restarts": 1,
    "seed": 0,
}
DEMO_BUDGET = 9.0  # seconds of fitting, for machines with fewer or slower cores than two


def demo(
    *,
    report: Annotated[Path, Parameter(help="Where the report goes.")] = Path("demo-report.html"),
    out: Annotated[Path | None, Parameter(help="Also keep the model.")] = None,
    quiet: Annotated[bool, Parameter(negative="", help="No progress bar.")] = False,
) -> None:
    """Fit a PR-SSM to simulated electric drives, compare it with simple models and write a report.

    Two motors move a belt; the sensor reports only the magnitude of the speed, so that its sign is
    a hidden state.
    """
    checked_name(report, REPORT, "--report")
    if out is not None:
        checked_name(out, MODEL, "--out")
    from prssm.data.coerce import as_records
    from prssm.data.sets import catalogue
    from prssm.evaluation.comparison import compare
    from prssm.models.prssm.estimator import PRSSM
    from prssm.report.fit.page import write_report
    from prssm.report.tables import print_table, score_table

    train, test = (as_records(part) for part in catalogue.load(DEMO_SET))
    model = PRSSM(**DEMO_OPTIONS)
    model.fit(train, progress=not quiet, budget=DEMO_BUDGET)
    comparison = compare(model, train, test, hurry=True)
    print_table(
        score_table(comparison.rows, title=f"{DEMO_SET}: free run, {comparison.runs[0].label}")
    )
    if model.training_ is not None:
        print(f"training: {model.training_.summary()}")
    if out is not None:
        print(f"model: {model.save(out)}")
    write_report(
        report,
        model,
        comparison.runs,
        baselines=comparison.baselines,
        title="prssm demo",
        data=DEMO_SET,
    )
    print(f"report: {report}")
