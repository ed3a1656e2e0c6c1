"""A report whose every name tries to break out of the page."""

from pathlib import Path

import numpy as np
from small_models import small_linear

from prssm.data.record import Record
from prssm.evaluation.comparison import Run, run_over
from prssm.report.fit.page import write_report
from prssm.report.tables import ScoreRow

EVIL = "</script><img src=x onerror=\"document.title='hacked'\">$$\\alpha$$"


def reported(path: Path, rows: int, **more) -> Path:
    model = small_linear()
    rng = np.random.default_rng(0)
    u = 3.0 + 2.0 * np.repeat(rng.normal(size=rows // 10), 10)
    run = model.simulate(Record(u, None, 0.5))
    y = run.mean + 0.3 * rng.normal(size=(rows, 1))
    model.input_names_ = (EVIL,)
    model.output_names_ = (f"{EVIL} out",)
    found: Run = run_over(model, "test data", [Record(u, y, 0.5, name=EVIL)])
    other = ScoreRow(EVIL, {"rmse": 1.0}, predictions=found.predictions)
    return write_report(path, model, [found], [other], title=EVIL, held_out=True, **more)
