"""Sweeps and searches on a method whose scores are known in advance."""

import json
import sys

import numpy as np
import pytest
import search_fakes
from search_fakes import FITS, SHOWN, toy

from prssm.data.record import Record
from prssm.evaluation.search import proposers
from prssm.evaluation.search.choice import configurations, unbeaten
from prssm.evaluation.search.search import TRIALS_FILE, search
from prssm.foundation.errors import DataError, MissingExtraError, OptionError, TrainingError


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    search_fakes.install(monkeypatch)


def sweep(folder, over, **how):
    return search(toy(), over, out=folder, **({"method": "fake"} | how))


def tried(found):
    return [record for record in found.records if not record["baseline"]]


class Interrupting:
    """A watcher that ends the search after some trials, as Ctrl-C would."""

    def __init__(self, after):
        self.left = after

    def start(self, total, done): ...
    def started(self, experiment): ...
    def stop(self): ...

    def finished(self, experiment, record):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_a_sweep_scores_every_combination_on_the_held_out_tail(tmp_path):
    found = sweep(tmp_path, ["level=0.5,0,2", "seed=0..1"], hold_out=0.25)
    assert [(record["params"]["level"], record["seed"]) for record in tried(found)] == [
        (0.5, 0),
        (0.0, 0),
        (2.0, 0),
        (0.5, 1),
        (0.0, 1),
        (2.0, 1),
    ]
    # outputs are 1 and -1 around the mean 0, so the mean square error is 1 + prediction^2
    for record in tried(found):
        predicted = record["params"]["level"] + record["seed"] / 100
        assert record["metrics"]["rmse"] == pytest.approx(np.sqrt(1 + predicted**2), rel=1e-12)
        likelihood = -0.5 * np.log(2 * np.pi) - 0.5 * (1 + predicted**2)
        assert record["metrics"]["log_likelihood_scaled"] == pytest.approx(likelihood)
    assert {len(record) for shown in SHOWN for record in shown} == {60}  # of 80 rows
    assert found.best["params"] == {"level": 0.0, "seed": 0}
    order = [
        configuration.params["level"] for configuration in configurations(tried(found), "rmse")
    ]
    assert order == [0.0, 0.5, 2.0]
    (record, *_) = tried(found)
    assert record["versions"]["prssm"]
    assert record["seconds"] > 0


def test_folds_predict_every_row_once(tmp_path):
    found = sweep(tmp_path, ["level=1"], folds=2)
    assert FITS["1.0"] == 2
    assert tried(found)[0]["metrics"]["rmse"] == pytest.approx(np.sqrt(2))


def test_seeds_are_averaged_before_configurations_are_compared(tmp_path):
    # predictions 0 and 0.05 against -0.02 and 0.03
    found = sweep(tmp_path, ["level=0,-0.02", "seed=0,5"])
    assert found.best["params"] == {"level": -0.02, "seed": 0}


def test_a_configuration_that_mostly_fails_comes_after_those_that_finish(tmp_path):
    found = sweep(tmp_path, ["level=0,1", "behave=well,raise", "seed=0..1"])
    ranked = configurations(tried(found), "rmse")
    assert [configuration.params["level"] for configuration in ranked[:2]] == [0.0, 1.0]
    bad = {
        "key": "x",
        "baseline": False,
        "method": "fake",
        "configuration": {},
        "outcome": "failed",
        "metrics": None,
    }
    lucky = [bad, bad, bad | {"outcome": "ok", "metrics": {"nrmse": 0.0}}]
    assert configurations([*lucky, *tried(found)], "rmse")[2].trials == lucky


def test_a_failed_trial_is_a_record_with_its_reason(tmp_path):
    found = sweep(tmp_path, ["behave=raise,diverge,well"])
    outcomes = {
        record["params"]["behave"]: (record["outcome"], record["reason"]) for record in tried(found)
    }
    assert outcomes["raise"] == ("failed", "ZeroDivisionError: no luck")
    assert outcomes["diverge"][0] == "failed"
    assert "free run on the held-out part diverged" in outcomes["diverge"][1]
    assert outcomes["well"] == ("ok", None)
    with pytest.raises(
        TrainingError,
        match="none of the 1 trials finished; the first ended with: ZeroDivisionError",
    ):
        _ = sweep(tmp_path / "all", ["behave=raise"]).best


def test_the_same_call_goes_on_where_it_was_interrupted(tmp_path):
    over = ["level=0,1,2,3"]
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, over, watcher=Interrupting(3))
    assert FITS.total() == 2  # after the constant
    found = sweep(tmp_path, over)
    assert FITS == {"0.0": 1, "1.0": 1, "2.0": 1, "3.0": 1}
    lines = [json.loads(line)["key"] for line in (tmp_path / TRIALS_FILE).read_text().splitlines()]
    assert len(lines) == len(set(lines)) == len(found.records) == 5
    wider = sweep(tmp_path, ["level=0,1,2,3,4"])
    assert (FITS.total(), len(tried(wider))) == (5, 5)


def test_ctrl_c_inside_a_trial_is_no_failed_trial(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path, ["behave=well,interrupt"])
    assert len((tmp_path / TRIALS_FILE).read_text().splitlines()) == 2


def test_failed_trials_run_again_only_when_asked(tmp_path):
    sweep(tmp_path, ["behave=raise,well"])
    sweep(tmp_path, ["behave=raise,well"])
    assert FITS.total() == 2
    sweep(tmp_path, ["behave=raise,well"], retry_failed=True)
    assert FITS.total() == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": toy(100)}, "other training data"),
        ({"options": {"rate": 0.5}}, "other options: none there, rate=0.5 here"),
        ({"hold_out": 0.5}, "other held out"),
        ({"preset": "paper"}, "other preset: default there"),
        (
            {"over": ["method=fake,constant"]},
            "other method: fake there, searched over here",
        ),
    ],
)
def test_another_question_in_the_same_folder_is_refused(tmp_path, change, words):
    sweep(tmp_path, ["level=0"])
    before = (tmp_path / TRIALS_FILE).read_bytes()
    asked = {"data": toy(), "over": ["level=0"], "method": "fake"} | change
    with pytest.raises(DataError) as caught:
        search(asked.pop("data"), asked.pop("over"), out=tmp_path, **asked)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (tmp_path / TRIALS_FILE).read_bytes() == before


def test_methods_take_the_options_that_they_have(tmp_path):
    found = sweep(
        tmp_path,
        ["method=constant,fake", "level=0,1"],
        method="prssm",
        preset="paper",
        options={"rate": "0.5"},
    )
    assert [record["params"] for record in tried(found)] == [
        {"method": "constant"},
        {"method": "fake", "level": 0.0},
        {"method": "fake", "level": 1.0},
    ]
    assert [record["preset"] for record in tried(found)] == ["default", "paper", "paper"]
    assert tried(found)[1]["options"] == {"level": 0.0, "rate": 0.5}


def test_what_a_simple_model_does_better_is_said(tmp_path):
    assert unbeaten(sweep(tmp_path / "a", ["level=0.1,2"]).records, "rmse") == ["constant"]
    alternating = Record(
        np.arange(80.0), np.where(np.arange(80) < 56, toy().y[:, 0], 1.0 + 0.1 * toy().y[:, 0])
    )
    found = search(alternating, ["level=1"], out=tmp_path / "b", method="fake")
    assert unbeaten(found.records, "rmse") == []


def test_poor_trials_are_stopped_by_the_evidence_of_those_before(tmp_path):
    # the median of the first four is 3
    found = sweep(tmp_path, ["elbo=1,2,4,7,2.8,2.95"], prune=True)
    assert [record["outcome"] for record in tried(found)] == ["ok"] * 4 + ["stopped", "ok"]
    stopped = tried(found)[4]
    assert stopped["reason"].startswith("after 30% of training: ELBO 2.800 a step, below 2.900")
    assert (stopped["curve"], stopped["metrics"]) == ([2.8] * 3, None)
    assert stopped["seconds"] > 0
    assert tried(found)[0]["curve"] == [1.0] * 10
    kept = sweep(tmp_path / "unpruned", ["elbo=1,2,4,7,2.8"])
    assert [record["outcome"] for record in tried(kept)] == ["ok"] * 5
    other = sweep(tmp_path / "kinds", ["horizon=1,2,3,4,9", "elbo=5,-5"], prune=True)
    assert {record["outcome"] for record in other.records} == {"ok"}  # no five trials of one kind


def test_a_search_finds_its_way_and_stops_at_its_number(tmp_path):
    found = sweep(tmp_path, ["level=-4.0..4.0", "rate=0.01..1:log"], trials=25)
    assert len(tried(found)) == 25
    # by chance alone: 1 - (7/8)^25 = 0.96, so the course counts too
    assert abs(found.best["params"]["level"]) < 0.5
    late = [abs(record["params"]["level"]) for record in tried(found)[10:]]
    early = [abs(record["params"]["level"]) for record in tried(found)[:10]]
    assert np.mean(late) < np.mean(early)
    assert len(tried(sweep(tmp_path, ["level=-4.0..4.0", "rate=0.01..1:log"], trials=25))) == 25
    assert FITS.total() == 25


def test_an_interrupted_search_ends_like_an_uninterrupted_one(tmp_path):
    over = ["level=-4.0..4.0", "behave=well,raise", "horizon=none,3"]
    whole = [record["params"] for record in tried(sweep(tmp_path / "whole", over, trials=16))]
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path / "cut", over, trials=16, watcher=Interrupting(13))
    assert [record["params"] for record in tried(sweep(tmp_path / "cut", over, trials=16))] == whole


def test_a_search_in_a_small_space_ends_when_all_is_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(proposers, "_TRIES", 40)
    found = sweep(tmp_path, ["level=0,1", "method=fake,constant"], trials=50, method="prssm")
    assert {record["label"] for record in tried(found)} == {
        "method=fake level=0",
        "method=fake level=1",
        "method=constant",
    }


def test_a_search_by_likelihood_makes_it_large(tmp_path):
    found = sweep(tmp_path, ["level=0..3"], trials=4, by="log-likelihood")
    assert found.best["params"] == {"level": 0}


def test_optuna_is_needed_for_a_search_only(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'prssm\[search\]'"):
        sweep(tmp_path, ["level=0,1"], trials=2)
    assert len(tried(sweep(tmp_path, ["level=0,1"]))) == 2


def test_words_of_the_call_are_checked(tmp_path):
    for wrong, words in (
        ({"by": "mse"}, "--by"),
        ({"trials": 0}, "--trials"),
        ({"preset": "papr"}, "paper"),
        ({"options": {"level": 1}}, "--over searches it"),
        ({"options": {"ratte": 1}}, "Did you mean 'rate'"),
    ):
        with pytest.raises(OptionError, match=words):
            sweep(tmp_path, ["level=0,1"], **wrong)
    assert list(tmp_path.iterdir()) == []


def test_two_processes_share_the_trials(tmp_path):
    found = search(toy(), ["seed=0..3"], out=tmp_path, method="constant", workers=2)
    assert sorted(record["seed"] for record in tried(found)) == [0, 1, 2, 3]
    assert {record["metrics"]["rmse"] for record in tried(found)} == {1.0}
    assert {record["outcome"] for record in found.records} == {"ok"}
