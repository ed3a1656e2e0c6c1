"""Watchers of a benchmark: every finished experiment is said once, with its figure or its
reason.
"""

import benchmark_fakes
import pytest

from prssm.evaluation.benchmark.plan import experiments, variant_of
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.report.progress import Lines, Live


@pytest.mark.parametrize("watcher", [Lines, Live])
def test_each_experiment_gets_a_line_on_standard_error(watcher, monkeypatch, tmp_path, capsys):
    benchmark_fakes.install(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")
    planned = experiments(["toy"], [variant_of("prssm"), variant_of("prssm:behave=raise")], 2)
    run_all(planned, Results(tmp_path), watcher=watcher())
    told = capsys.readouterr()
    assert told.out == ""
    for seed, rmse in ((0, "3.775"), (1, "3.767")):
        assert told.err.count(f"toy prssm seed {seed}: test RMSE {rmse}") == 1
        assert (
            told.err.count(
                f"toy prssm:behave=raise seed {seed}: failed: ZeroDivisionError: no luck"
            )
            == 1
        )
