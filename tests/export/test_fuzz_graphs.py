"""Random models of all sizes and scales: CasADi and ONNX agree with the plain run."""

import pytest
from export_graphs import disagreements


@pytest.mark.parametrize("seed", range(4))
def test_graphs_agree_with_the_plain_run(seed):
    assert max(disagreements(seed).values()) < 1e-10
