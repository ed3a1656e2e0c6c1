"""The official protocols: what is read, what counts, and how it is told."""

import importlib.util
from pathlib import Path

import numpy as np
from fitted_models import random_prssm, record_for

from prssm.data.record import Record
from prssm.data.sets.public_sets import PUBLIC

PATH = Path(__file__).parents[2] / "studies" / "official.py"
SPEC = importlib.util.spec_from_file_location("official", PATH)
official = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(official)


def test_errors_count_after_the_rows_that_were_read():
    model = random_prssm(states=3, recognition_window=8)
    u, y = record_for(model)
    record = Record(u, y, model.dt_)
    run = model.simulate(record, start=5)
    expected = np.sqrt(np.mean((run.mean - y)[5:] ** 2))
    assert official.errors(model, [record], start=5, skip=5) == [expected]


def test_the_table_has_published_errors_and_both_figures():
    row = {
        "set": "ced",
        "seed": 0,
        "rows": PUBLIC["ced"].unscored,
        "rmse": [0.0512, 0.0411],
        "warmup": 16,
        "rmse_own_start_later_rows": [0.05, 0.04],
        "rmse_later_rows": [0.05, 0.04],
        "fit_s": 60.0,
    }
    assert row["rows"] == 10
    last = official.report([row]).splitlines()[-1]
    assert "0.0512 and 0.0411" in last
    assert "0.074 CT-SUBNET" in last
    assert set(official.TASKS) <= set(PUBLIC)
