"""`prssm export`: a saved model in another language."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.whole import Whole
from prssm.evaluation.tasks.settings import ExportTask
from prssm.export.targets import TARGETS

_KNOWN = "; ".join(f"{name}: {target.says}" for name, target in TARGETS.items())


def export(
    model: Annotated[Path, Parameter(help="A model file of prssm or linear.")],
    *,
    to: Annotated[str, Parameter(help=f"The language. {_KNOWN}.")],
    out: Annotated[
        Path | None,
        Parameter(help="Where it goes; else beside the model file, under its name."),
    ] = None,
    samples: Annotated[
        Whole,
        Parameter(help="Sampled trajectories that carry the band; 0: the mean alone, faster."),
    ] = 50,
    precision: Annotated[str, Parameter(help="double or single.")] = "double",
    seed: Annotated[Whole, Parameter(help="Of the sampled trajectories.")] = 0,
) -> None:
    """Write a saved model in another language.

    What is written takes and gives physical units, has named inputs and outputs, and needs no
    Python.
    """
    task = ExportTask(model=model, to=to, out=out, samples=samples, precision=precision, seed=seed)
    from prssm.evaluation.tasks import saved_model

    print(f"{to}: {saved_model.export(task)}")
