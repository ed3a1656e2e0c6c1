"""A free run that leaves the numbers is a record with its reason, and everything else goes on:
shown with SS-GP-SSM.

The paper's SS-GP-SSM has a mean error of 411.6 on Ballbeam. Ours is made worse here by hand.
"""

from types import SimpleNamespace

import benchmark_fakes
import numpy as np
import pytest

from prssm.data.record import Record
from prssm.data.sets import catalogue
from prssm.evaluation.benchmark.plan import experiments, variant_of
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.job_record import FAILED, OK
from prssm.evaluation.jobs.results import Results
from prssm.models.ssgpssm import estimator as ss_gp_ssm
from prssm.report.benchmark.tables import failure_table, rmse_table
from prssm.training.log import TrainingLog

SMALL = "ss-gp-ssm:iterations=4,particles=2,n_basis_x=2,n_basis_u=2,simulation_samples=4,warmup=2"


def _damped(length: int, seed: int) -> Record:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=length)
    y = np.zeros(length)
    for t in range(1, length):
        y[t] = 0.7 * y[t - 1] + u[t - 1] + 0.1 * rng.normal()
    return Record(u, y, name="damped")


@pytest.mark.parametrize(
    ("weight", "outcome"),
    [(0.0, OK), (1e4, OK), (1e200, FAILED), (1e308, FAILED), (np.nan, FAILED)],
)
def test_a_blown_up_model_brings_nothing_down(monkeypatch, tmp_path, weight, outcome):
    """Large weights give a large error, like the paper's, larger ones a failed record; the constant
    is scored anyway.
    """
    benchmark_fakes.install_data(monkeypatch, lambda name: (_damped(40, 0), _damped(40, 1)))
    monkeypatch.setattr(
        catalogue, "describe", lambda name: SimpleNamespace(name=name, unscored=0, lags=None)
    )
    monkeypatch.setattr(ss_gp_ssm, "run", lambda starts, *_, **__: _posterior(starts, weight))
    planned = experiments(["damped"], [variant_of(SMALL), variant_of("constant")], 1)
    results = Results(tmp_path)
    assert run_all(planned, results) == 2
    ours, constant = (results.records[experiment.key] for experiment in planned)
    assert (ours["outcome"], constant["outcome"]) == (outcome, OK)
    if outcome == OK:
        worse = ours["metrics"]["test"]["rmse"] > 100 * constant["metrics"]["test"]["rmse"]
        assert worse == (weight > 0.0)
        return
    assert ours["reason"].startswith("the free run on the train part diverged: ")
    assert failure_table(planned, results.records).rows == [["damped", SMALL, 0, ours["reason"]]]
    assert rmse_table(planned, results.records).rows[0] == [SMALL, "no value, 1 of 1 failed"]


def _posterior(starts, weight):
    """In place of training: two models, both with this weight on every basis function."""
    draws = ss_gp_ssm.Draws(
        *(
            np.stack([np.asarray(part[0])] * 2)
            for part in (starts.weights + weight, starts.process, starts.output_std, starts.hyper)
        )
    )
    log = TrainingLog(
        np.array([1]), np.zeros((1, 1)), np.zeros(1), outcomes=("finished",), kept=0, seconds=0.0
    )
    return draws, log
