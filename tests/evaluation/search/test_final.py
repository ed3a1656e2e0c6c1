"""The end of a search: options that `prssm fit` takes, one refit, one look at the test part."""

import json

import numpy as np
import pytest
import search_fakes
from search_fakes import FITS, toy

import prssm
from prssm.cli.merging import merge
from prssm.cli.settings import FitWords, fit_settings
from prssm.data.record import Record
from prssm.evaluation.search.final import refit, write_options
from prssm.evaluation.search.search import search
from prssm.models.registry import method


@pytest.fixture
def found(monkeypatch, tmp_path):
    search_fakes.install(monkeypatch)
    return search(toy(), ["level=0.5,2", "horizon=none"], out=tmp_path, method="fake")


def part(value):
    return [Record(np.arange(20.0), np.full(20, value) + 0.1 * np.sin(np.arange(20.0)))]


def test_the_options_file_is_read_back_as_it_was_meant(found, tmp_path):
    settings = {
        "data": ['a "quoted" name.csv'],
        "inputs": ["ü"],
        "outputs": None,
        "dt": 1e-05,
        "split": 0.7,
    }
    path = write_options(tmp_path, found.best, settings)
    meant = fit_settings(merge((), FitWords(config=str(path)), {}))
    assert (meant.data.data, meant.data.inputs) == (('a "quoted" name.csv',), ("ü",))
    assert (meant.data.outputs, meant.data.dt, meant.data.split) == (None, 1e-05, 0.7)
    assert (meant.method, meant.preset) == ("fake", "default")
    model = method("fake")(**method("fake").Config.parse(meant.options))
    assert (model.config.level, model.config.horizon, model.config.seed) == (0.5, None, 0)


def test_the_chosen_is_refitted_to_all_and_scored_once(found, tmp_path):
    FITS.clear()
    chosen = refit(tmp_path, found.best, [toy()], test=part(3.0))
    assert FITS == {"0.5": 1}
    assert search_fakes.SHOWN[-1][0].u.shape == (80, 1)
    rows = chosen["scores"]
    assert rows["fake"]["scores"]["rmse"] == pytest.approx(
        np.sqrt(np.mean((part(3.0)[0].y - 0.5) ** 2))
    )
    assert rows["constant"]["scores"]["rmse"] == pytest.approx(
        np.sqrt(np.mean(part(3.0)[0].y ** 2))
    )
    assert refit(tmp_path, found.best, [toy()], test=part(3.0)) == chosen
    assert FITS == {"0.5": 1}
    assert prssm.load(tmp_path / "best.prssm").config.level == 0.5
    assert json.loads((tmp_path / "chosen.json").read_text()) == chosen


def test_another_choice_says_that_the_test_part_was_seen_before(found, tmp_path):
    first = refit(tmp_path, found.best, [toy()], test=part(3.0))
    other = next(record for record in found.records if record["params"].get("level") == 2.0)
    second = refit(tmp_path, other, [toy()], test=part(3.0))
    assert second["earlier"] == [
        {"label": "level=0.5 horizon=none", "rmse": first["scores"]["fake"]["scores"]["rmse"]}
    ]
    third = refit(tmp_path, found.best, [toy()], test=part(3.0))
    assert [look["label"] for look in third["earlier"]] == [
        "level=0.5 horizon=none",
        "level=2 horizon=none",
    ]
    assert refit(tmp_path, found.best, [toy()], test=part(4.0))["earlier"] == []


def test_without_test_data_nothing_is_scored_and_a_later_test_part_needs_no_new_fit(
    found, tmp_path
):
    FITS.clear()
    assert refit(tmp_path, found.best, [toy()], test=[])["scores"] is None
    later = refit(tmp_path, found.best, [toy()], test=part(3.0))
    assert later["scores"]["fake"]["scores"]["rmse"] > 0
    assert FITS == {"0.5": 1}


def test_a_simple_model_that_cannot_be_fitted_says_why(found, tmp_path, monkeypatch):
    monkeypatch.setattr("prssm.evaluation.comparison.BASELINES", ("constant", "unknown"))
    rows = refit(tmp_path, found.best, [toy()], test=part(3.0))["scores"]
    assert rows["unknown"]["note"].startswith("failed: unknown method")
