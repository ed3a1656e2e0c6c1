"""Running what is missing: in this process, on killed and living local processes, on a cluster."""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter

import benchmark_fakes
import numpy as np
import pytest

from prssm.evaluation.benchmark.experiment import run_experiment
from prssm.evaluation.benchmark.plan import Experiment, experiments, variant_of
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs import cluster
from prssm.evaluation.jobs.results import Results
from prssm.foundation.errors import MissingExtraError, OptionError


class Diary:
    """A watcher that writes down what it sees, and may do something at the end of each
    experiment.
    """

    def __init__(self, at_finish=lambda: None):
        self.events = []
        self.at_finish = at_finish

    def start(self, total, done):
        self.events.append(("start", total, done))

    def started(self, experiment):
        self.events.append(("started", experiment.key))

    def finished(self, experiment, record):
        self.events.append(("finished", experiment.key, record["outcome"]))
        self.at_finish()

    def stop(self):
        self.events.append(("stop",))


def _keys(results):
    return Counter(json.loads(line)["key"] for line in results.path.read_text().splitlines())


def test_a_rerun_skips_what_is_there_and_retries_failures_only_when_asked(monkeypatch, tmp_path):
    benchmark_fakes.install(monkeypatch)
    fits = benchmark_fakes.FITS
    planned = experiments(["toy"], [variant_of("prssm"), variant_of("prssm:behave=raise")], 2)
    diary = Diary()
    assert run_all(planned, Results(tmp_path), watcher=diary) == 4
    assert diary.events[0] == ("start", 4, 0)
    assert diary.events[-1] == ("stop",)
    assert fits == {"well": 2, "raise": 2}
    assert run_all(planned, Results(tmp_path)) == 0
    assert fits == {"well": 2, "raise": 2}
    assert run_all(planned, Results(tmp_path), retry_failed=True) == 2
    assert fits == {"well": 2, "raise": 4}
    more = experiments(["toy"], [variant_of("prssm")], 3)
    assert run_all(more, Results(tmp_path)) == 1


def test_equal_experiments_run_once_under_the_first_label(monkeypatch, tmp_path):
    benchmark_fakes.install(monkeypatch)
    same = [Experiment("toy", variant_of(spec), 0) for spec in ("prssm", "prssm:iterations=50")]
    results = Results(tmp_path)
    assert run_all(same, results) == 1
    assert results.records[same[0].key]["label"] == "prssm"


def test_interruption_keeps_what_is_finished(monkeypatch, tmp_path):
    benchmark_fakes.install(monkeypatch)

    def interrupt():
        raise KeyboardInterrupt

    diary = Diary(interrupt)
    planned = experiments(["toy"], [variant_of("prssm")], 3)
    with pytest.raises(KeyboardInterrupt):
        run_all(planned, Results(tmp_path), watcher=diary)
    assert diary.events[-1] == ("stop",)
    assert list(Results(tmp_path).records) == [planned[0].key]
    assert run_all(planned, Results(tmp_path)) == 2


def test_two_processes_one_killed_in_the_middle(monkeypatch, tmp_path):
    """Nothing is lost and nothing counted twice. Seed 0 hangs at its first try; that process is
    killed.
    """
    notes = tmp_path / "tries"
    notes.mkdir()
    monkeypatch.setenv("FAKE_FOLDER", str(notes))
    planned = experiments(["kink"], [variant_of("constant")], 4)
    victim = notes / planned[0].key

    def kill_the_hanging():
        while not (victim.exists() and victim.read_text().endswith("\n")):
            time.sleep(0.02)
        os.kill(int(victim.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill_the_hanging, daemon=True)
    killer.start()
    results = Results(tmp_path / "runs")
    assert run_all(planned, results, workers=2, work=benchmark_fakes.pretend) == 4
    killer.join()
    assert _keys(results) == {experiment.key: 1 for experiment in planned}
    assert all(record["outcome"] == "ok" for record in results.records.values())
    tries = {path.name: len(path.read_text().split()) for path in notes.iterdir()}
    assert tries == {experiment.key: 2 if experiment.seed == 0 else 1 for experiment in planned}
    for experiment in planned:
        np.testing.assert_array_equal(results.arrays(experiment.key)["seed"], experiment.seed)


def test_processes_give_the_same_record_as_this_one(tmp_path):
    (planned,) = experiments(["kink"], [variant_of("constant")], 1)
    results = Results(tmp_path)
    run_all([planned], results, workers=2)
    here = run_experiment(planned)
    there = results.records[planned.key]
    for name in ("metrics", "data", "configuration", "versions", "key", "outcome"):
        assert there[name] == here.record[name]
    np.testing.assert_array_equal(
        results.arrays(planned.key)["test0.mean"], here.arrays["test0.mean"]
    )


def test_a_dask_cluster_needs_only_its_address(tmp_path):
    distributed = pytest.importorskip("distributed")
    planned = experiments(["kink"], [variant_of("constant")], 2)
    results = Results(tmp_path)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as dask:
        assert run_all(planned, results, dask=dask.scheduler_address) == 2
        assert run_all(planned, results, dask=dask.scheduler_address) == 0
    assert _keys(results) == {experiment.key: 1 for experiment in planned}


def test_a_cluster_that_is_not_there_is_said_and_nothing_recorded(monkeypatch, tmp_path):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 0.2)
    with pytest.raises(OptionError, match=r"no scheduler answers at 'tcp://127.0.0.1:9'") as caught:
        run_all(
            experiments(["kink"], [variant_of("constant")], 1),
            Results(tmp_path),
            dask="tcp://127.0.0.1:9",
        )
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_without_dask_the_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'prssm\[cluster\]'"):
        run_all(
            experiments(["kink"], [variant_of("constant")], 1),
            Results(tmp_path),
            dask="tcp://127.0.0.1:9",
        )
