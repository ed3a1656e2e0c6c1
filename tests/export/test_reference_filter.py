"""The plain filter of a description is that of the model, and its slopes are differences."""

import numpy as np
import pytest
from fitted_models import random_prssm, record_for

from prssm.export import reference_filter as filtering
from prssm.export.describing import describe
from prssm.export.reference import step
from prssm.inference.noise_search import NoiseFactors
from prssm.models.prssm.filtering.members import FilterMembers

CASES = {
    "default": {"states": 3, "inputs": 2},
    "neurons": {"states": 3, "inputs": 2, "neurons": 3},
    "matern32": {"kernel": "matern32"},
    "shared matern52, neurons": {"kernel": "matern52", "shared_inducing": True, "neurons": 2},
}


@pytest.mark.parametrize("case", CASES)
def test_slopes_are_differences_of_a_step(case):
    model = random_prssm(**CASES[case])
    description = describe(model)
    member = description.members[0]
    states = description.states
    rng = np.random.default_rng(0)
    xu = rng.normal(size=states + len(description.inputs))
    weights = member.alpha[..., None]
    # All states at once, a column moved in each.
    ends = [
        step(
            description,
            member,
            xu[:states, None] + side * 1e-5 * np.eye(states),
            xu[states:],
            weights=weights,
            eps=None,
        )
        for side in (1.0, -1.0)
    ]
    found = filtering.slope(description, member, xu)
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-5, rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", ["default", "neurons"])
def test_it_is_the_observer_of_the_model(case):
    model = random_prssm(**CASES[case])
    noises = NoiseFactors(process=0.1, sensor=0.3, coloured=0.8, memory=0.9)
    model.filter_ = FilterMembers.equal(model.mixture_.models, noises)
    description = describe(model)
    u, y = record_for(model, rows=8)
    y[5] = np.nan
    observer = model.observer()
    now = filtering.start(description, u, y)
    for row in range(len(u)):
        if row:
            now = filtering.predict(description, now, u[row - 1])
        now = filtering.update(description, now, u[row], y[row])
        observer.update(u[row], y[row])
    mean, _ = filtering.output(description, now, u[-1])
    np.testing.assert_allclose(observer.output.mean, mean, rtol=1e-9)
    first = now.beliefs[0]
    states = description.states
    np.testing.assert_allclose(observer.state.mean, first.mean[:states], rtol=1e-8)
    variance = np.diag(first.covariance)[:states]
    np.testing.assert_allclose(observer.state.std, np.sqrt(variance), rtol=1e-8)
