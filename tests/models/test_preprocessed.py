"""A model with preprocessing: the same on new data, in files, in filters, in exports."""

from pathlib import Path

import numpy as np
import pytest

import prssm
from prssm.data.io.files import write_columns
from prssm.data.record import Record
from prssm.export.describing import describe
from prssm.report.fit.findings import _record, behaviour_of

DT = 0.1
WORDS = ["outliers", "detrend=linear", "lowpass=2Hz"]


def system(rows: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.standard_normal(rows // 5), 5)
    y = np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.9 * y[t - 1] + 0.3 * u[t - 1]
    return u, y + 0.05 * rng.standard_normal(rows)


def drifting() -> Record:
    u, y = system()
    t = DT * np.arange(len(u))
    return Record(u + 3.0, y - 40.0 + 0.2 * t, DT)


@pytest.fixture(scope="module")
def model() -> prssm.LinearSSM:
    return prssm.LinearSSM(order=1).fit(drifting()[:400], preprocess=WORDS)


def test_an_offset_does_not_change_a_fit_that_takes_it_out() -> None:
    u, y = system()
    plain = prssm.LinearSSM(order=1).fit(Record(u, y, DT), preprocess="detrend")
    moved = prssm.LinearSSM(order=1).fit(Record(u + 3.0, y - 40.0, DT), preprocess="detrend")
    first = plain.simulate(Record(u, y, DT))
    second = moved.simulate(Record(u + 3.0, y - 40.0, DT))
    np.testing.assert_allclose(second.mean + 40.0, first.mean, atol=1e-6)
    np.testing.assert_allclose(second.std, first.std, rtol=1e-6)


def test_a_line_does_not_change_a_fit_that_takes_it_out() -> None:
    u, y = system()
    t = DT * np.arange(len(u))
    plain = Record(u, y, DT)
    moved = Record(u + 3.0 + 0.1 * t, y - 40.0 + 0.2 * t, DT)
    models = [
        prssm.LinearSSM(order=1).fit(record[:400], preprocess="detrend=linear")
        for record in (plain, moved)
    ]
    first = models[0].simulate(plain[400:])
    second = models[1].simulate(moved[400:])
    line = (-40.0 + 0.2 * t)[400:, None]
    np.testing.assert_allclose(second.mean - line, first.mean, atol=1e-6)
    np.testing.assert_array_equal(second.measured, moved[400:].y)
    assert second.cautions == first.cautions == ()


def test_a_detrended_model_needs_no_scale(model: prssm.LinearSSM) -> None:
    assert model.scaler_.y_mean[0] == pytest.approx(-36.0, abs=1.0)  # level at the middle


def test_the_band_still_covers_what_the_low_pass_took_out(model: prssm.LinearSSM) -> None:
    record = drifting()[400:]
    scores = model.evaluate(record)
    assert scores["coverage_95"] == pytest.approx(0.95, abs=0.07)  # 2 standard errors are 0.03
    run = model.simulate(record, samples=50)
    np.testing.assert_allclose(run.samples.std(axis=0), run.std, rtol=1e-9)
    assert (run.std**2 >= model.preprocessing_.lost_variance).all()


def test_saved_and_loaded_is_the_same_to_the_last_bit(
    model: prssm.LinearSSM, tmp_path: Path
) -> None:
    again = prssm.load(model.save(tmp_path / "model.prssm"))
    record = drifting()[400:]
    assert again.preprocessing_.words == WORDS
    for name in ("simulate", "filter", "smooth"):
        first = getattr(model, name)(record)
        second = getattr(again, name)(record)
        np.testing.assert_array_equal(first.mean, second.mean)
        np.testing.assert_array_equal(first.std, second.std)


def test_a_free_run_reads_no_output_after_the_warm_up(model: prssm.LinearSSM) -> None:
    record = drifting()[400:]
    y = np.array(record.y)
    y[model.warmup :] = 1e3
    np.testing.assert_array_equal(
        model.simulate(record.changed(y=y)).mean, model.simulate(record).mean
    )


def test_a_filter_reads_no_later_output(model: prssm.LinearSSM) -> None:
    record = drifting()[400:]
    y = np.array(record.y)
    y[100:] += 5.0
    changed = model.filter(record.changed(y=y))
    found = model.filter(record)
    np.testing.assert_array_equal(changed.mean[:100], found.mean[:100])
    ahead = model.predict(record, horizon=2)
    np.testing.assert_array_equal(
        model.predict(record.changed(y=y), horizon=2).mean[:102], ahead.mean[:102]
    )


def test_a_filter_knows_that_raw_outputs_are_noisier(model: prssm.LinearSSM) -> None:
    found = model.filter(drifting()[400:])
    errors = (found.innovation / found.innovation_std)[20:]
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(("word", "rows", "step"), [("resample=0.2", 100, 0.2),
                                                    ("decimate=4", 50, 0.4)])  # fmt: skip
def test_a_model_at_another_rate_says_so(word: str, rows: int, step: float) -> None:
    record = Record(*system(), DT)
    model = prssm.LinearSSM(order=1).fit(record[:400], preprocess=word)
    run = model.simulate(record[400:])
    assert model.dt_ == pytest.approx(step)
    assert run.dt == pytest.approx(step)
    assert run.mean.shape == (rows, 1)
    assert np.sqrt(np.mean((run.mean - run.measured) ** 2)) < 0.15
    assert len(model.filter(record[400:])) == rows


def test_what_goes_row_by_row_is_refused_or_has_the_offset(
    model: prssm.LinearSSM, tmp_path: Path
) -> None:
    for use in (
        model.observer,
        model.as_jax,
        lambda: prssm.export(model, "c", tmp_path / "code"),
    ):
        with pytest.raises(prssm.OptionError, match="trained with detrend=linear, which needs"):
            use()
    u, y = system()
    plain = prssm.LinearSSM(order=1).fit(Record(u, y - 40.0, DT), preprocess="detrend=mean")
    (column,) = describe(plain).outputs
    assert column.mean == pytest.approx(-40.0 + y.mean(), abs=1e-9)


def test_only_what_trains_passes_the_steps_for_training() -> None:
    record = drifting()
    model = prssm.LinearSSM(order=1).fit(record, preprocess=["cut=0:300", "split=0.9"])
    other = prssm.LinearSSM(order=1).fit(record[:270])
    assert len(model.simulate(record)) == len(record)
    np.testing.assert_array_equal(model.simulate(record).mean, other.simulate(record).mean)


def test_a_stream_is_refused(tmp_path: Path) -> None:
    u, y = system(100)
    write_columns(tmp_path / "log.csv", {"u": u, "y": y})
    prssm.convert(tmp_path / "log.csv", tmp_path / "rows")
    with pytest.raises(prssm.OptionError, match="a stream trains as it was converted"):
        prssm.PRSSM().fit(prssm.Stream.open(tmp_path / "rows"), preprocess=["detrend"])


def test_data_that_are_at_the_slow_rate_already_need_no_filter() -> None:
    u, y = system()
    record = Record(u, y, DT)
    model = prssm.LinearSSM(order=1).fit(record, preprocess=["lowpass=2", "resample=0.5"])
    slow = model.preprocessing_.prepare(record).measured
    run = model.simulate(slow)
    assert len(run) == len(slow) == 120
    assert run.dt == 0.5


def test_a_run_knows_where_its_recording_began(model: prssm.LinearSSM) -> None:
    run = model.simulate(drifting()[400:])
    assert run.origin == pytest.approx(40.0)
    again = model.simulate(_record(run))
    np.testing.assert_array_equal(again.mean, run.mean)
    assert behaviour_of(model) is not None
