"""A small part of the fuzz of benchmarks/export.py: random models of all sizes and scales."""

import numpy as np
import pytest
from export_fuzz import Disagreement, disagreement, random_case, summary

from prssm.dynamics.transition import NetworkMean
from prssm.models.prssm.estimator import PRSSM


# 38 has neurons, and a GP that plays no part
@pytest.mark.parametrize("seed", [1, 2, 5, 38])
def test_c_agrees_with_the_reference_and_with_simulate(seed, tmp_path):
    found = disagreement(seed, tmp_path, flags=("-O0",))
    assert found.reference < 1e-10
    assert found.simulate is None or found.simulate < 1e-10


def neurons_of(model):
    mean = model.mixture_.models.transition.mean if isinstance(model, PRSSM) else None
    return mean.neuron_bias.shape[-1] if isinstance(mean, NetworkMean) else 0


def test_cases_have_all_sizes():
    models = [random_case(seed)[1] for seed in range(60)]
    inputs = {len(model.input_names_) for model in models}
    outputs = {len(model.output_names_) for model in models}
    assert inputs == {0, 1, 2, 3}
    assert outputs == {1, 2, 3, 4}
    neurons = {neurons_of(model) for model in models}
    assert 0 in neurons
    assert max(neurons) > 20
    scales = np.log10([model.scaler_.y_std[0] for model in models])
    assert scales.min() < -6
    assert scales.max() > 6


def test_the_summary_names_the_worst():
    cases = [Disagreement("small", 1e-16, 2e-16), Disagreement("bad", 1e-9, None)]
    lines = summary(cases)
    assert "2 models" in lines[0]
    assert "largest 1.0e-09" in lines[0]
    assert lines[-1] == "largest at: bad"
