"""A run that leaves what training covered says so: in Python, on the terminal, in the CSV."""

from pathlib import Path

import numpy as np
import polars
import pytest

import prssm
from prssm.cli.main import main
from prssm.data.io.files import write_columns


def system(rows: int = 80, scale: float = 1.0, dt: float | None = 0.1, seed: int = 0):
    rng = np.random.default_rng(seed)
    u = rng.uniform(0.0, scale, rows)
    y = np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.8 * y[t - 1] + 0.2 * u[t - 1]
    return prssm.Record(u, y, dt)


@pytest.fixture(scope="module")
def model() -> prssm.Constant:
    return prssm.Constant().fit(system())


def test_inputs_outside_the_training_range_are_said_and_marked(model) -> None:
    far = system(scale=2.0)
    with pytest.warns(
        prssm.PrssmWarning, match=r"input 'u' reaches 1\.9.*training saw 0\.0"
    ) as said:
        run = model.simulate(far)
    assert len(said) == 1
    low, high = model.domain_.input_range[:, 0]
    expected = far.u[:, 0] > high + 0.1 * (high - low)
    np.testing.assert_array_equal(run.inputs_outside, expected)
    np.testing.assert_array_equal(run.to_columns()["inputs_outside"], expected)
    assert f"{expected.sum()} of 80 rows" in run.cautions[0]


@pytest.mark.filterwarnings("error")
def test_a_run_inside_the_range_says_nothing(model) -> None:
    run = model.simulate(system(seed=1))
    assert run.cautions == ()
    assert not run.inputs_outside.any()


def test_another_sampling_time_is_refused_and_a_near_one_is_said(model) -> None:
    record = system()
    with pytest.raises(prssm.DataError, match=r"every 0\.01 s.*trained on 0\.1 s.*resample"):
        model.simulate(record.changed(dt=0.01))
    with pytest.warns(prssm.PrssmWarning, match="slower or faster by 5%"):
        model.simulate(record.changed(dt=0.105))
    assert model.simulate(record.changed(dt=None)).cautions == ()


def test_first_outputs_that_training_never_saw(model) -> None:
    linear = prssm.LinearSSM(order=1).fit(system())
    record = system()
    with pytest.warns(prssm.PrssmWarning, match="first values of output 'y' reach 50"):
        linear.simulate(record.changed(y=np.full((80, 1), 50.0)))


def test_other_units_are_said(model) -> None:
    trained = prssm.Constant().fit(system().changed(units={"u": "V"}))
    with pytest.warns(prssm.PrssmWarning, match="column 'u' is in mV, in training it was in V"):
        trained.simulate(system().changed(units={"u": "mV"}))


def test_other_units_are_said_of_columns_under_another_name() -> None:
    trained = prssm.Constant().fit(system().changed(units={"y": "m"}))
    other = system().changed(output_names=("level",), units={"level": "mm"})
    with pytest.warns(prssm.PrssmWarning, match="column 'level' is in mm, in training it was in m"):
        trained.simulate(other)


def test_columns_in_another_order_are_refused() -> None:
    u = np.random.default_rng(0).normal(size=(40, 2))
    trained = prssm.Constant().fit(prssm.Record(u, u[:, :1], input_names=("hot", "cold")))
    swapped = prssm.Record(u, u[:, :1], input_names=("cold", "hot"))
    with pytest.raises(prssm.DataError, match=r"cold, hot; expected .* training: hot, cold"):
        trained.simulate(swapped)


def test_an_output_in_another_unit_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    u = system().u[:, 0]
    y = system().y[:, 0]
    log = write_columns(tmp_path / "log.csv", {"valve": u, "level [m]": y})
    other = write_columns(tmp_path / "next.csv", {"valve": u, "level [mm]": 1000.0 * y})
    trained = prssm.Constant().fit(log, inputs=["valve"], outputs=["level [m]"])
    words = r"column 'level \[mm\]' is not read, the model's output is 'level \[m\]'"
    with pytest.warns(prssm.PrssmWarning, match=words):
        trained.simulate(other)
    with pytest.warns(prssm.PrssmWarning, match=words):
        trained.simulate(polars.read_csv(other))


def test_the_model_file_remembers(tmp_path: Path) -> None:
    stamps = [f"2024-05-31 12:00:{second:02d}" for second in range(60)]
    record = system(60)
    columns = {"when": np.array(stamps), "valve [%]": record.u[:, 0], "flow": record.y[:, 0]}
    path = write_columns(tmp_path / "log.csv", columns)
    trained = prssm.Constant().fit(path, inputs=["valve [%]"], outputs=["flow"], time="when")
    again = prssm.load(trained.save(tmp_path / "m.prssm"))
    assert again.domain_.time == "when"
    assert again.domain_.units == {"valve [%]": "%"}
    assert again.dt_ == 1.0
    np.testing.assert_array_equal(again.domain_.input_range, trained.domain_.input_range)
    np.testing.assert_array_equal(again.domain_.output_range, trained.domain_.output_range)


def write_log(path: str, scale: float = 1.0, step: float = 1.0, rows: int = 60) -> None:
    record = system(rows, scale)
    seconds = np.arange(rows) * step
    stamps = np.datetime64("2024-05-31T12:00:00", "ms") + (1000 * seconds).astype("timedelta64[ms]")
    texts = np.array([str(stamp).replace("T", " ") for stamp in stamps])
    write_columns(path, {"when": texts, "valve": record.u[:, 0], "flow": record.y[:, 0]})


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log("log.csv")
    words = ["fit", "log.csv", "-u", "valve", "-y", "flow", "--time", "when", "--quiet"]
    assert main([*words, "--method", "constant", "--out", "m.prssm"]) == 0
    return tmp_path


@pytest.mark.usefixtures("fitted")
def test_simulate_needs_no_telling_and_gives_the_stamps_back(capsys) -> None:
    assert main(["simulate", "m.prssm", "log.csv", "--out", "p.csv"]) == 0
    assert capsys.readouterr().err == ""
    frame = polars.read_csv("p.csv")
    assert frame.columns[0] == "when"
    assert frame["when"].to_list() == polars.read_csv("log.csv")["when"].to_list()
    assert frame["inputs_outside"].sum() == 0


@pytest.mark.usefixtures("fitted")
def test_the_terminal_says_what_to_distrust(capsys) -> None:
    write_log("far.csv", scale=2.0)
    assert main(["simulate", "m.prssm", "far.csv", "--out", "p.csv"]) == 0
    told = capsys.readouterr().err
    assert told.startswith("prssm: caution: far.csv: input 'valve' reaches 1.9")
    assert told.count("\n") == 1
    assert polars.read_csv("p.csv")["inputs_outside"].sum() > 10
    write_log("fast.csv", step=0.1)
    assert main(["score", "m.prssm", "fast.csv"]) == 2
    assert "sampled every 0.1 s, but the model was trained on 1 s" in capsys.readouterr().err
    write_log("fast.csv", step=0.1, rows=200)
    assert main(["score", "m.prssm", "fast.csv", "--resample", "1s"]) == 0


@pytest.mark.usefixtures("fitted")
def test_gaps_are_offered_and_mended(capsys) -> None:
    lines = Path("log.csv").read_text().splitlines()
    Path("gap.csv").write_text("\n".join([*lines[:30], *lines[35:]]) + "\n")
    assert main(["simulate", "m.prssm", "gap.csv"]) == 2
    assert "5 rows missing after line 30" in capsys.readouterr().err
    assert main(["simulate", "m.prssm", "gap.csv", "--gaps", "split", "--out", "p.csv"]) == 0
    assert [len(polars.read_csv(f"p-{i}.csv")) for i in range(2)] == [29, 26]
