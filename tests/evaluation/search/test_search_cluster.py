"""A search on a cluster: trials are proposed as threads get free; a worker of another version is
refused.
"""

import pytest
from search_fakes import toy

import prssm
from prssm.evaluation.jobs import cluster
from prssm.evaluation.jobs.cluster import WorkerVersionError
from prssm.evaluation.jobs.workers import Done, Started
from prssm.evaluation.search.search import search


class Client:
    """Stands for a dask client whose workers answer these versions."""

    def __init__(self, answers):
        self.answers = answers

    def run(self, function, on_error):
        assert function() == prssm.__version__  # what an honest worker of this version would answer
        return self.answers


def test_workers_of_this_version_are_welcome():
    cluster._check_versions(Client({"tcp://a:1": prssm.__version__}))
    assert cluster._same_version(abs, -3, prssm.__version__) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [("0.0.9", "has prssm 0.0.9"), (ImportError("no prssm"), "no prssm that can")],
)
def test_a_worker_of_another_version_is_named(answer, words):
    with pytest.raises(WorkerVersionError) as caught:
        cluster._check_versions(Client({"tcp://a:1": prssm.__version__, "tcp://b:2": answer}))
    assert "the worker tcp://b:2" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_that_joins_later_ends_the_run_instead_of_failing_trials():
    with pytest.raises(WorkerVersionError, match=r"here is 9\.9"):
        cluster._same_version(abs, -3, "9.9")


def test_a_search_on_a_cluster_asks_for_trials_one_by_one(monkeypatch, tmp_path):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant",))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as dask:
        address = dask.scheduler_address
        found = search(
            toy(), ["seed=0..2"], out=tmp_path, method="constant", trials=3, dask=address
        )
        events = list(cluster.run_on_dask(abs, iter([-1, -2]), address))
    assert sorted(record["seed"] for record in found.records if not record["baseline"]) == [0, 1, 2]
    assert events == [Started(-1), Done(-1, 1), Started(-2), Done(-2, 2)]
