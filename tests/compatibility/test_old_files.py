"""Model files and streams that commit 1b7ea1f wrote still work.

`make.py` made the text under `files` with that commit; here it becomes files again, by code that
shares nothing with the package, and the package reads them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from stored_text import write_model, write_stream

import prssm
from prssm.models.registry import METHODS

FILES = Path(__file__).parent / "files"
MODELS = sorted(path.stem for path in FILES.glob("*.json") if path.stem != "stream")
# How many standard errors a sampled run may be away: in forty rows of twelve models, and with
# tails heavier than a Gaussian's, five are never exceeded by chance.
ERRORS = 5.0


def stored(name):
    return json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))


def test_there_is_a_file_of_every_method_of_that_time():
    methods = {stored(name)["header"]["method"] for name in MODELS}
    assert methods == {
        "constant",
        "linear",
        "prssm",
        "gp-narx",
        "nigp",
        "msgp",
        "revarb1",
        "revarb2",
        "ss-gp-ssm",
    }
    assert methods <= set(METHODS)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_file_simulates_as_it_did(name, tmp_path):
    text = stored(name)
    expected = text["expected"]
    model = prssm.load(write_model(text, tmp_path / "old.prssm"))
    assert model.preset == text["header"]["preset"]
    assert model.output_names_ == tuple(text["header"]["outputs"])
    record = prssm.Record(expected["u"], expected["y"], 0.1)
    run = model.simulate(record, samples=expected["samples"], seed=1)  # the stored one had seed 0
    assert run.distance is None  # nobody kept what those models had seen
    assert run.outside is None
    mean = np.asarray(expected["mean"])
    std = np.asarray(expected["std"])
    if expected["samples"] is None:
        np.testing.assert_allclose(run.mean[:, 0], mean, rtol=1e-7, atol=1e-7 * mean.std())
        np.testing.assert_allclose(run.std[:, 0], std, rtol=1e-7)
        return
    # Both runs are means of so many samples, and their errors add up. The deviation's own error is
    # smaller than the mean's for a Gaussian, and at most about as large for the mixtures here.
    error = std * np.sqrt(2.0 / expected["samples"])
    assert np.all(np.abs(run.mean[:, 0] - mean) < ERRORS * error)
    assert np.all(np.abs(run.std[:, 0] - std) < ERRORS * error)


def test_a_stream_reads_as_it_did(tmp_path):
    text = stored("stream")
    stream = prssm.Stream.open(write_stream(text, tmp_path / "old"))
    assert stream.input_names == ("valve",)
    assert stream.output_names == ("flow",)
    assert stream.names == ("log0.csv", "log1.csv")
    assert stream.dt == pytest.approx(0.1)
    np.testing.assert_array_equal(stream.lengths, [40, 40])
    rows = np.reshape(text["rows"], (80, 2))
    read = stream.read(0, 80)
    np.testing.assert_array_equal(np.column_stack([read.u, read.y]), rows)
    # The second experiment is the log over which the models above were simulated.
    np.testing.assert_allclose(rows[40:, 1], stored("constant")["expected"]["y"], rtol=1e-6)
    scaler = stream.scaler()
    np.testing.assert_allclose(scaler.y_mean, rows[:, 1].mean(), rtol=1e-6)
    np.testing.assert_allclose(scaler.u_std, rows[:, 0].std(), rtol=1e-6)
