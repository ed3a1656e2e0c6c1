"""Notes about data: numbers that are known, rows that are named, steps that help."""

import numpy as np
import pytest
from scipy.signal import lfilter

import prssm
from prssm.data.advice.advise import notes_about
from prssm.data.advice.delays import delay, delay_between, lags_of
from prssm.data.advice.excitation import excitation_order
from prssm.data.advice.levels import scale_step
from prssm.data.advice.looked import Looked, Whole
from prssm.data.advice.rate import fast
from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.data.record import Record


def record(rows: int = 600, dt: float | None = 0.1, lag: int = 1, seed: int = 3) -> Record:
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.standard_normal(rows), rng.integers(1, 12, rows))[:rows]
    y = np.zeros(rows)
    for t in range(lag, rows):
        y[t] = 0.8 * y[t - 1] + 0.4 * u[t - lag]
    return Record(u, y + 0.02 * rng.standard_normal(rows), dt, input_names=["valve"])


def spoilt(change) -> Record:
    sound = record()
    y = np.array(sound.y)
    change(y)
    return sound.changed(y=y)


def only(data: Record, **more) -> prssm.Note:
    (note,) = prssm.advise(data, **more)
    assert "\n" not in str(note)
    return note


def test_sound_data_get_no_note() -> None:
    assert prssm.advise(record()) == []
    assert prssm.advise(record(), test=record(seed=4)) == []


def test_spikes_are_named_by_row_and_the_step_removes_them() -> None:
    def change(y: np.ndarray) -> None:
        y[[100, 250]] += 9.0

    data = spoilt(change)
    note = only(data)
    assert (note.what, note.where, note.step) == ("outliers", "y", "outliers")
    assert note.rows == ((100, 101), (250, 251))
    assert "2 values more than 8 deviations" in note.says
    (mended,) = Preprocessing.of(note.step).training([data])
    assert [n.what for n in notes_about([mended])] == ["missing"]


def test_gaps_are_counted() -> None:
    def change(y: np.ndarray) -> None:
        y[50] = np.nan
        y[200:212] = np.nan

    note = only(spoilt(change))
    assert note.rows == ((200, 212),)
    assert "missing in 2.2 % of the rows, at most 12 one after another (from row 200)" in note.says


def test_a_drift_is_measured_and_the_step_removes_it() -> None:
    def change(y: np.ndarray) -> None:
        y[:, 0] += np.linspace(0.0, 4.0, len(y))

    data = spoilt(change)
    note = only(data)
    assert (note.what, note.step) == ("drift", "detrend=linear")
    told = float(note.says.split("drifts by ")[1].split()[0])
    assert told == pytest.approx(4.0, abs=0.1)
    steps = Preprocessing.of(note.step)
    assert notes_about(steps.learn([data])[1]) == []


def test_a_drift_of_the_input_is_no_drift_of_the_output() -> None:
    sound = record()
    ramp = np.linspace(0.0, 3.0, len(sound))[:, None]
    moved = sound.changed(u=sound.u + ramp, y=sound.y + 2.0 * ramp)
    assert "drift" not in [note.what for note in prssm.advise(moved)]


@pytest.mark.parametrize("lag", [8, 12, 25])
def test_a_delay_is_found_in_rows_and_seconds_and_the_step_removes_it(lag: int) -> None:
    data = record(lag=lag)
    note = only(data)
    assert f"after {lag} rows ({lag / 10:.4g} s)" in note.says
    assert note.step == f"delay=valve:{lag - 1}"
    _, seen = Preprocessing.of(note.step).learn([data])
    assert delay_between(lags_of(Looked(seen), 0), 0, 1) == (1, 1, 1)


def test_a_fit_says_a_delay_until_the_step_removes_it(recwarn: pytest.WarningsRecorder) -> None:
    data = record(lag=14)
    step = only(data).step
    said = rf"answers input 'valve' after 14 .*preprocess '{step}'"
    with pytest.warns(prssm.PrssmWarning, match=said):
        prssm.Constant().fit(data)
    recwarn.clear()
    prssm.Constant().fit(data, preprocess=step)
    prssm.Constant().fit(record(lag=9))  # a few rows more or less are the states' own matter
    assert [str(one.message) for one in recwarn] == []


def three_lags(seed: int, dead_time: int) -> Record:
    """A slow system, disturbed and noisy, whose input moves all thirty rows or so."""
    rng = np.random.default_rng(seed)
    rows = 600
    u = rng.standard_normal(rows)[np.sort(rng.integers(0, 20, rows))]
    y = np.concatenate([np.full(dead_time, u[0]), u])[:rows]
    for keep in np.exp(-1.0 / rng.uniform(1.0, 20.0, 3)):
        y = lfilter([0.0, 1.0 - keep], [1.0, -keep], y)
    disturbance = lfilter([0.2], [1.0, -0.98], rng.standard_normal(rows))
    return Record(u, y / y.std() + 0.1 * disturbance + 0.1 * rng.standard_normal(rows))


def test_a_fit_does_not_take_a_slow_system_for_a_late_one() -> None:
    def told(dead_time: int) -> int:
        systems = [three_lags(seed, dead_time) for seed in range(60)]
        return sum(bool(list(delay(Looked([one]), sure=True))) for one in systems)

    assert told(0) <= 3
    assert told(16) >= 50


def test_of_many_inputs_the_late_one_is_found_at_bounded_cost() -> None:
    rng = np.random.default_rng(0)
    rows = 10_000
    held = [np.repeat(rng.standard_normal(rows), rng.integers(2, 20, rows)) for _ in range(12)]
    u = np.stack([column[:rows] for column in held], axis=1)
    y = lfilter([0.0, 0.3], [1.0, -0.7], u[:, 3] + np.roll(u[:, 7], 20))
    data = Record(u, y + 0.1 * rng.standard_normal(len(y)))
    (note,) = delay(Looked([data]), sure=True)
    assert note.step == "delay=u8:20"
    lags = lags_of(Looked([data]), 0)
    assert lags.rows * len(lags.gram) <= 4_000_000
    assert lags.rows > 4 * len(lags.gram)


def test_the_range_of_a_delay_holds_the_truth() -> None:
    records = [record(rows=300, lag=9, seed=seed) for seed in range(30)]
    found = [delay_between(lags_of(Looked([one]), 0), 0, 1) for one in records]
    inside = [each is not None and each.low <= 9 <= each.high for each in found]
    assert sum(inside) >= 27


def test_clipping_and_levels() -> None:
    def clip(y: np.ndarray) -> None:
        np.minimum(y, np.quantile(y, 0.95), out=y)

    note = only(spoilt(clip))
    assert note.what == "clipping"
    assert "highest value" in note.says

    def coarse(y: np.ndarray) -> None:
        y[:] = 0.25 * np.round(y / 0.25)

    note = only(spoilt(coarse))
    assert note.what == "quantisation"
    assert "0.25 apart" in note.says
    assert scale_step(np.array([0.0, 0.3, 0.6, 1.5])) == pytest.approx(0.3)
    assert scale_step(np.array([0.0, 0.3, 0.7])) is None


def test_an_input_of_k_sines_has_order_2k() -> None:
    rows = np.arange(2000)
    for count in (1, 2, 3):
        periods = np.array([7.3, 11.9, 17.1])[:count]
        wave = np.sin(2.0 * np.pi * rows[:, None] / periods).sum(axis=1)
        assert excitation_order(Whole("input", "u", [wave])) == 2 * count
    noise = np.random.default_rng(0).standard_normal(2000)
    assert excitation_order(Whole("input", "u", [noise])) == 20


def test_poor_inputs_are_named() -> None:
    sound = record()
    rows = np.arange(len(sound))
    wave = np.sin(2.0 * np.pi * rows / 17.0)
    assert "at 1 frequencies only" in only(sound.changed(u=wave[:, None])).says
    step = (rows > 300).astype(float)
    told = [note.what for note in prssm.advise(sound.changed(u=step[:, None]))]
    assert told == ["excitation", "two levels"]
    still = sound.changed(u=np.column_stack([sound.u, np.ones(len(sound))]),
                          input_names=["valve", "fan"])  # fmt: skip
    assert "input 'fan' is 1 in all rows" in only(still).says


def test_sampling_that_is_too_fast_or_too_slow() -> None:
    slow = record(rows=300, dt=1.0)
    at = np.linspace(0.0, 299.0, 299 * 40 + 1)
    u, y = (np.interp(at, np.arange(300), values[:, 0]) for values in (slow.u, slow.y))
    (note,) = fast(Looked([Record(u, y, 0.025)]))
    (seen,) = Preprocessing.of(note.step).learn([Record(u, y, 0.025)])[1]
    assert "sampled too fast" not in [each.what for each in notes_about([seen])]
    rng = np.random.default_rng(0)
    u = rng.standard_normal(400)
    assert only(Record(u, u + 0.1 * rng.standard_normal(400))).what == "sampled too slowly"


def test_columns_that_repeat_others() -> None:
    sound = record()
    both = np.column_stack([sound.y, 2.0 * sound.y + 1.0])
    note = only(sound.changed(y=both, output_names=["bar", "psi"]))
    assert (note.what, note.where) == ("collinear", "psi")


def test_a_test_unlike_training() -> None:
    sound = record()
    other = record(seed=4)
    found = prssm.advise(sound, test=other.changed(u=other.u + 20.0))
    assert [note.what for note in found] == ["test range"]
    assert "100% of the test rows" in found[0].says
    slow = other.changed(u=np.repeat(other.u[::100], 100, axis=0))
    assert [note.what for note in prssm.advise(sound, test=slow)] == ["test pace"]


@pytest.mark.filterwarnings("error")
def test_odd_records_are_looked_at_without_an_error() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(300)
    nothing = np.full(300, np.nan)
    odd = {
        "two rows": Record([1.0, 2.0], [1.0, 2.0]),
        "no inputs": Record(None, noise),
        "no outputs": Record(noise, None),
        "no value": Record(noise, nothing),
        "one value": Record(noise, np.append(1.0, nothing[1:])),
        "constant": Record(np.ones(300), np.ones(300)),
        "tiny": Record(1e-200 * noise, 1e-200 * noise[::-1]),
        "huge": Record(1e90 * rng.standard_normal(300), 1e90 * noise),
    }
    said = {name: [note.what for note in prssm.advise(each)] for name, each in odd.items()}
    assert said["no inputs"] == said["no outputs"] == said["tiny"] == said["huge"] == []
    assert said["constant"] == ["constant", "constant"]
    assert said["one value"] == ["missing", "constant"]
    for each in odd.values():
        Preprocessing.of(["outliers=fill", "detrend=linear"]).training([each])
