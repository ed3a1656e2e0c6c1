"""Each step of preprocessing against what mathematics says of it."""

import warnings

import numpy as np
import pytest

from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.preprocessing.preview import preview
from prssm.data.record import Record
from prssm.foundation.errors import DataError, ModelFileError, OptionError

DT = 0.05


def wave(hertz: float, rows: int = 2000, dt: float = DT) -> np.ndarray:
    return np.sin(2.0 * np.pi * hertz * dt * np.arange(rows))


def learnt(words: list[str], *records: Record) -> tuple[Preprocessing, list[Record]]:
    steps = Preprocessing.of(words)
    return steps.learn(steps.training(records))


def test_a_line_is_taken_out_exactly_and_given_back_exactly() -> None:
    rng = np.random.default_rng(0)
    t = DT * np.arange(400)
    noise = rng.standard_normal((400, 2))
    table = np.column_stack([np.ones(400), t])
    noise -= table @ np.linalg.lstsq(table, noise, rcond=None)[0]  # so that the line is known
    u = noise[:, 0] + 3.0 - 0.7 * t
    y = noise[:, 1] - 40.0 + 0.2 * t
    y[7] = np.nan
    record = Record(u, y, DT)
    steps, (seen,) = learnt(["detrend=linear"], record)
    slopes = np.polyfit(t, seen.u[:, 0], 1)[0]
    assert abs(slopes) < 1e-13
    np.testing.assert_allclose(seen.u[:, 0], noise[:, 0] + u.mean(), atol=1e-12)
    np.testing.assert_allclose(steps.undone(seen.y, record), record.y, rtol=1e-14)
    assert np.isnan(seen.y[7, 0])
    assert seen.y.mean(where=~np.isnan(seen.y)) == pytest.approx(np.nanmean(y), abs=0.02)


def test_a_line_goes_on_over_the_rest_of_the_recording_and_begins_anew_in_another() -> None:
    t = DT * np.arange(300)
    record = Record(np.sin(t), 5.0 + 2.0 * t, DT)
    steps, (seen,) = learnt(["detrend=linear"], record[:200])
    level = seen.y[0, 0]
    np.testing.assert_allclose(steps.prepare(record[200:]).seen.y, level, atol=1e-11)
    np.testing.assert_allclose(steps.prepare(record[:50]).seen.y, level, atol=1e-11)
    stamped = Record(np.sin(t), 5.0 + 2.0 * t, time=t)
    np.testing.assert_allclose(steps.prepare(stamped[200:]).seen.y, level, atol=1e-11)
    far = Record(np.zeros(1000), np.zeros(1000), DT)
    assert "carried on" in steps.cautions(far)[0]
    assert steps.cautions(record) == []


@pytest.mark.parametrize("hertz", [0.2, 1.0, 2.0, 3.0, 6.0])
def test_the_low_pass_has_the_gain_of_its_formula_and_no_delay(hertz: float) -> None:
    cutoff = 2.0
    ratio = np.tan(np.pi * hertz * DT) / np.tan(np.pi * cutoff * DT)
    gain = 1.0 / (1.0 + ratio**8)  # Butterworth of order 4, twice
    record = Record(wave(hertz), wave(hertz), DT)
    _, (seen,) = learnt([f"lowpass={cutoff}Hz"], record)
    middle = slice(500, 1500)
    for values in (seen.u, seen.y):
        np.testing.assert_allclose(values[middle, 0], gain * record.u[middle, 0], atol=2e-6)


def test_what_the_low_pass_takes_is_known_as_variance_and_causal_outputs_stay() -> None:
    record = Record(wave(0.5), wave(0.5) + 0.3 * wave(8.0), DT)
    steps, _ = learnt(["lowpass=2"], record)
    assert steps.lost_variance[0] == pytest.approx(0.3**2 / 2.0, rel=0.01)
    causal = steps.prepare(record, causal=True).seen
    np.testing.assert_array_equal(causal.y, record.y)
    assert not np.array_equal(causal.u, record.u)


def test_resampling_a_sine_gives_its_values_at_the_new_moments() -> None:
    record = Record(wave(0.4), wave(0.4), DT, name="log")
    steps, (seen,) = learnt(["resample=0.2s"], record)
    t = 0.2 * np.arange(len(seen))
    middle = slice(20, -20)
    np.testing.assert_allclose(seen.y[middle, 0], np.sin(2.0 * np.pi * 0.4 * t)[middle], atol=2e-3)
    assert seen.dt == 0.2
    assert len(seen) == 500
    np.testing.assert_array_equal(steps.prepare(seen).seen.y, seen.y)  # is at that rate already
    measured, _ = steps.prepare(record)
    np.testing.assert_array_equal(measured.y, seen.y)


def test_decimation_needs_no_sampling_time_and_keeps_nothing_fast() -> None:
    rows = np.arange(2000)
    slow = np.sin(2.0 * np.pi * rows / 200.0)
    fast = np.sin(2.0 * np.pi * rows / 5.0)  # would come back as a slow wave
    _, (seen,) = learnt(["decimate=4"], Record(slow, slow + fast))
    middle = slice(20, -20)
    assert len(seen) == 500
    np.testing.assert_allclose(seen.y[middle, 0], slow[::4][middle], atol=2e-2)
    np.testing.assert_allclose(seen.clock, np.arange(500.0))


def test_a_delay_moves_one_input_by_rows_or_seconds() -> None:
    u = np.arange(20.0).reshape(10, 2)
    record = Record(u, np.zeros(10), 0.1, input_names=["valve", "pump [V]"])
    for word in ("delay=pump:3", "delay=pump:0.3s", "delay=pump [V]:3"):
        steps, _ = learnt([word], record)
        seen = steps.prepare(record).seen
        np.testing.assert_array_equal(seen.u[:, 0], u[:, 0])
        np.testing.assert_array_equal(seen.u[:, 1], [1, 1, 1, 1, 3, 5, 7, 9, 11, 13])
        (step,) = steps.model_steps
        again = type(step).of(step.value).restored(step.learnt(), record.input_names, ["y"])
        assert again == step


def test_spikes_are_emptied_and_nothing_else() -> None:
    rng = np.random.default_rng(1)
    y = np.sin(np.arange(500) / 15.0) + 0.02 * rng.standard_normal(500)
    places = [50, 51, 200, 333]
    y[places] += [2.0, 1.5, -3.0, 4.0]
    record = Record(np.repeat(rng.standard_normal(50), 10), y)
    (left,) = Preprocessing.of(["outliers"]).training([record])
    assert np.flatnonzero(np.isnan(left.y[:, 0])).tolist() == places
    np.testing.assert_array_equal(left.u, record.u)
    (filled,) = Preprocessing.of(["outliers=8:fill"]).training([record])
    assert np.abs(filled.y[places, 0] - np.sin(np.array(places) / 15.0)).max() < 0.1
    assert not np.isnan(filled.y).any()


def test_values_that_are_measured_seldom_have_no_neighbours_to_be_spikes_among() -> None:
    y = np.full(600, np.nan)
    y[::20] = np.random.default_rng(2).standard_normal(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (left,) = Preprocessing.of(["outliers"]).training([Record(np.zeros(600), y)])
    np.testing.assert_array_equal(left.y[:, 0], y)


def test_cut_and_split_take_rows_or_seconds() -> None:
    record = Record(np.arange(100.0), np.arange(100.0), 0.1)
    for word in ("cut=10:30,60:", "cut=1s:3s,6s:"):
        first, second = Preprocessing.of([word]).training([record])
        assert (first.u[0, 0], first.u[-1, 0]) == (10.0, 29.0)
        assert (second.u[0, 0], second.u[-1, 0]) == (60.0, 99.0)
        assert second.clock[0] == pytest.approx(6.0)
    steps = Preprocessing.of(["cut=0:80", "split=20:40"])
    assert [len(part) for part in steps.training([record])] == [20, 40]
    (held_out,) = steps.held_out([record])
    np.testing.assert_array_equal(held_out.u[:, 0], np.arange(20.0, 40.0))
    assert [len(part) for part in Preprocessing.of("split=0.7").held_out([record])] == [30]


def test_a_preview_shows_before_and_after() -> None:
    record = Record(wave(0.4), wave(0.4) + 3.0, DT)
    (look,) = preview(record, ["cut=0:1000", "split=0.8", "resample=0.1"])
    assert look.before is record
    assert [len(part) for part in look.after] == [400]
    assert [len(part) for part in look.held_out] == [100]
    assert look.notes == ("400 of 2000 rows train", "100 rows are held back",
                          "a row is 0.1 s, it was 0.05 s")  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["detrnd"], "unknown step 'detrnd'. Did you mean 'detrend'?"),
        (["detrend=cubic"], "detrend: expected mean or linear, got 'cubic'"),
        (["lowpass=-2"], "lowpass: expected a frequency above 0"),
        (["lowpass"], "lowpass: expected a frequency above 0"),
        (["lowpass=2", "lowpass=3"], "lowpass is there twice"),
        (["resample=0"], "resample: expected a time"),
        (["decimate=1"], "decimate: expected a whole number of rows from 2 on"),
        (["cut=900:100"], "cut: expected spans"),
        (["cut=1:3s"], "cut: expected spans"),
        (["split=1.5"], "split: expected a share"),
        (["outliers=1"], "at least 2"),
        (["outliers=8:mend"], "outliers: expected a number"),
        (["delay=3"], "delay: expected an input and rows or a time"),
        (["lowpass=2", "cut=0:10"], "cut=0:10 comes after lowpass=2"),
        ([3], "expected words such as"),
    ],
)
def test_bad_words_are_refused_in_one_line(words: list, message: str) -> None:
    with pytest.raises(OptionError) as refused:
        Preprocessing.of(words)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("word", "dt", "message"),
    [
        ("lowpass=2", None, "needs the sampling time"),
        ("lowpass=20", DT, "expected less than 10 Hz"),
        ("resample=0.1", None, "needs the sampling time"),
        ("cut=5000:6000", DT, "fewer than 2 rows are left"),
        ("split=5000:6000", DT, "no recording has 2 of those rows"),
        ("delay=valve:3", DT, "no input is called 'valve'"),
        ("delay=u:9000", DT, "expected from 1 row to fewer than the 2000"),
    ],
)
def test_what_does_not_fit_the_data_is_refused(word: str, dt: float | None, message: str) -> None:
    record = Record(wave(0.4), wave(0.4), dt)
    with pytest.raises((DataError, OptionError), match=message):
        learnt([word], record)


def test_damaged_files_are_refused() -> None:
    steps, _ = learnt(["detrend=linear"], Record(wave(0.4), wave(0.4), DT))
    (part,) = steps.to_list()
    again = Preprocessing.from_list([part], ["u"], ["y"])
    assert again.to_list() == [part]
    with pytest.raises(ModelFileError, match="expected 2 numbers"):
        Preprocessing.from_list([part], ["u", "v"], ["y"])
    with pytest.raises(ModelFileError, match="expected a list of steps"):
        Preprocessing.from_list("detrend", ["u"], ["y"])
