"""The whole experiment under the paper's protocol, on the real recordings."""

import pytest

from prssm.evaluation.benchmark.experiment import run_experiment
from prssm.evaluation.benchmark.plan import PAPER_SETS, Experiment, variant_of
from prssm.evaluation.benchmark.published import published


@pytest.mark.recordings
@pytest.mark.parametrize("dataset", PAPER_SETS)
def test_the_constant_row_is_the_known_one(recordings, dataset):
    record = run_experiment(Experiment(dataset, variant_of("constant"), 0)).record
    (known,) = [row for row in published().references if row.label.startswith("constant")]
    assert round(record["metrics"]["test"]["rmse"], 3) == known.rmse[dataset].mean
