"""What one takes away: reports, exports and scores, written into the project folder."""

import shutil
from pathlib import Path

from prssm.evaluation.comparison import run_over
from prssm.evaluation.tasks import saved_model
from prssm.evaluation.tasks.settings import ExportTask
from prssm.export.targets import target_named
from prssm.foundation.errors import DataError
from prssm.report.fit.page import write_report
from prssm.studio.jobs.judge import Rows
from prssm.studio.project.models import Models


def export(models: Models, project: Path, id_: str, target: str) -> Path:
    """A model in another language, as one file: a folder is packed."""
    path = models.path(id_)
    out = project / "exports" / f"{path.stem}{target_named(target).suffix}"
    out.parent.mkdir(exist_ok=True)
    if out.is_dir():
        shutil.rmtree(out)
    written = saved_model.export(ExportTask(model=path, to=target, out=out))
    if written.is_dir():
        return Path(shutil.make_archive(str(written), "zip", written.parent, written.name))
    return written


def report(models: Models, project: Path, id_: str, rows: Rows, title: str) -> Path:
    """The report about a model on its own data, one HTML page."""
    if not rows.scored:
        raise DataError(f"{id_}: there are no rows to report on")
    model = models.one(id_)
    runs = [run_over(model, "training data", rows.train)]
    if rows.held_out:
        runs.insert(0, run_over(model, "test data", rows.scored))
    plain = [row for row in rows.plain if row.label != model.name]
    path = project / "reports" / f"{models.path(id_).stem}.html"
    path.parent.mkdir(exist_ok=True)
    return write_report(path, model, runs, plain, title=f"{id_} on {title}", data=title)
