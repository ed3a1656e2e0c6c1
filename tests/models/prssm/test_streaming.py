"""A run that reads its windows from disk is the run in memory, and memory does not grow with the
data.
"""

import jax
import numpy as np
import pytest

import prssm
from prssm.data.io.files import write_record
from prssm.data.stream.convert import convert
from prssm.foundation.errors import OptionError, TrainingInterrupted
from prssm.models.prssm.fitting import streaming
from prssm.training.optimise import CHUNK
from prssm.training.session import Silent

TINY = {
    "latent_dim": 2,
    "inducing": 3,
    "samples": 2,
    "batch": 2,
    "horizon": 10,
    "recognition_window": 3,
    "recognition_hidden": 4,
    "iterations": 23,
    "restarts": 1,
}


def log(rows, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, rows).astype(np.float32)
    return prssm.Record(
        u,
        (np.convolve(u, [0.0, 0.5, 0.3])[:rows] + 0.01 * rng.normal(size=rows)).astype(np.float32),
    )


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("streams")
    files = [
        write_record(folder / f"{seed}.npz", log(rows, seed))
        for seed, rows in enumerate((30, 60, 400))
    ]
    return convert(files, folder / "stream")


@pytest.fixture(scope="module")
def streamed(stream):
    return prssm.PRSSM("paper", **TINY).fit(stream)


def close(model, other) -> None:
    """Of a stream only a sample tells what the states were."""
    (_, arrays) = model._state()
    (_, others) = other._state()
    assert arrays.keys() == others.keys()
    assert "usual.factor" in arrays
    for name, array in arrays.items():
        if name.startswith("usual."):
            continue
        np.testing.assert_allclose(others[name], array, rtol=1e-6, atol=1e-9, err_msg=name)


def test_a_streamed_run_is_the_run_in_memory(streamed):
    """By JAX: compiled training, which streams do not have yet, draws other random numbers."""
    close(
        prssm.PRSSM("paper", **TINY, engine="adjoint").fit(
            [log(rows, seed) for seed, rows in enumerate((30, 60, 400))]
        ),
        streamed,
    )
    assert streamed.training_.waited >= 0.0
    assert "waiting for data" in streamed.training_.summary()


def test_a_resumed_streamed_run_is_the_same_run(stream, streamed, tmp_path):
    class Stop(Silent):
        def update(self, done, figures):
            raise KeyboardInterrupt

    with pytest.raises(TrainingInterrupted, match="iteration 10 of 23"):
        prssm.PRSSM("paper", **TINY).fit(stream, checkpoint=tmp_path / "c", progress=Stop())
    close(
        streamed, prssm.PRSSM("paper", **TINY).fit(stream, checkpoint=tmp_path / "c", resume=True)
    )


def test_memory_is_bounded_whatever_the_size_of_the_data(stream, monkeypatch):
    """Training reads windows and a sample, a chunk ahead at most: never the 490 rows of the set."""
    reads = []
    read = prssm.Stream.read

    def counted(self, begin, end, name="stream"):
        reads.append(end - begin)
        return read(self, begin, end, name)

    monkeypatch.setattr(prssm.Stream, "read", counted)
    monkeypatch.setattr(streaming, "SAMPLE_ROWS", 40)
    prssm.PRSSM("paper", **TINY).fit(stream)
    assert max(reads) <= 200  # of one experiment, which says how long they are
    assert sum(rows == 200 for rows in reads) <= 2
    window_reads = [rows for rows in reads if rows == TINY["horizon"]]
    chunks = len(window_reads) / (CHUNK * TINY["batch"])
    # those of training and of the final comparison, and one ahead of each
    assert chunks in (3 + 5, 3 + 5 + 1, 3 + 5 + 2)


def test_windows_are_those_that_the_objective_draws(stream):
    """The starts of a chunk, by the objective's own rule applied to the starts in memory."""
    source = streaming.StreamWindows(stream, stream.scaler(), 4, horizon=10)
    key = jax.random.key(3)
    with streaming.double_precision():
        chunk = source.of_chunk(key, 20)
        starts = prssm.data.windows.sliding(
            [log(rows, seed) for seed, rows in enumerate((30, 60, 400))], 10
        ).starts
        expected = jax.random.choice(jax.random.split(jax.random.fold_in(key, 21))[0], starts, (4,))
    for window, start in enumerate(np.asarray(expected)):
        whole = stream.scaler().scale(stream.read(start, start + 10))
        np.testing.assert_array_equal(chunk.u[1, 10 * window : 10 * window + 10], whole.u)
        np.testing.assert_array_equal(chunk.y[1, 10 * window : 10 * window + 10], whole.y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"complexity": "auto"}, "one level and without folds.*got 'auto' and folds=0"),
        ({"folds": 2}, "folds=2"),
        ({"scheme": "full"}, "expected 'stochastic' for a stream"),
        ({"stride": 3}, "stride: expected 1 for a stream, got 3"),
    ],
)
def test_what_a_stream_cannot_do_is_said(stream, options, message):
    with pytest.raises(OptionError, match=message):
        prssm.PRSSM("paper", **(TINY | options)).fit(stream)


def test_methods_that_need_all_data_say_so(stream):
    with pytest.raises(OptionError, match="constant needs all data in memory"):
        prssm.Constant().fit(stream)
