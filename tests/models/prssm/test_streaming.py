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
    "engine": "adjoint",
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
        prssm.PRSSM("paper", **TINY).fit(
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
        ({"complexity": "auto"}, "start='random', got 'auto'"),
        ({"folds": 2}, "folds: expected 0 for a stream at one level, got 2"),
        ({"scheme": "full"}, "expected 'stochastic' for a stream"),
        ({"stride": 3}, "stride: expected 1 for a stream, got 3"),
    ],
)
def test_what_a_stream_cannot_do_is_said(stream, options, message):
    with pytest.raises(OptionError, match=message):
        prssm.PRSSM("paper", **(TINY | options)).fit(stream)


# ---- where held-out errors decide ----

QUICK = {"iterations": 10, "restarts": 1, "fold_restarts": 1, "grow": False}


def test_the_default_preset_fits_pieces_of_a_stream_as_any_data(stream, monkeypatch, tmp_path):
    """What it is given is what it would be given of the same rows in memory."""
    monkeypatch.setattr(prssm.Stream.pieces, "__defaults__", (300, 120))
    given = []
    fit = prssm.PRSSM._fit_scaled

    def seen(model, records, session):
        given.extend(records)
        fit(model, records, session)

    monkeypatch.setattr(prssm.PRSSM, "_fit_scaled", seen)
    model = prssm.PRSSM(**QUICK).fit(stream)
    expected = [stream.scaler().scale(record) for record in stream.pieces()]
    assert [len(record) for record in given] == [30, 100, 100]
    for record, same in zip(given, expected, strict=True):
        np.testing.assert_array_equal(record.y, same.y)
    assert model.held_out_
    assert model.witnesses_ is not None
    assert model.simulate(log(50, 7)).distance is not None
    words = "230 of 490 rows, in pieces that are spread over all of it"
    assert ("Stream", words) in model.findings()
    loaded = prssm.load(model.save(tmp_path / "model.prssm"))
    assert ("Stream", words) in loaded.findings()


def test_a_stream_that_fits_into_memory_is_read_whole(stream):
    assert [len(record) for record in stream.pieces()] == [30, 60, 400]
    assert [record.name for record in stream.pieces()] == list(stream.names)


@pytest.mark.parametrize("rows", [30, 100, 240, 400, 489])
def test_pieces_of_a_stream_are_spread_and_bounded(stream, rows):
    pieces = stream.pieces(rows, 40)
    assert max(map(len, pieces)) <= 40
    assert 0.4 * rows <= sum(map(len, pieces)) <= rows
    begins = [row_number(stream, piece) for piece in pieces]
    assert begins == sorted(set(begins))
    if len(pieces) > 2:
        assert begins[0] == 0
        assert begins[-1] + len(pieces[-1]) == stream.steps


def row_number(stream, piece) -> int:
    """Where a piece begins among all rows; the inputs are random, so that none is there twice."""
    rows = stream.read(0, stream.steps).u[:, 0]
    return int(np.flatnonzero(rows == piece.u[0, 0])[0])


def test_methods_that_need_all_data_say_so(stream):
    with pytest.raises(OptionError, match="constant needs all data in memory"):
        prssm.Constant().fit(stream)
