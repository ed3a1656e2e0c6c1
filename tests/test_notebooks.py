"""What objects show of themselves in a notebook: escaped, small, quick, and never an error."""

import base64
import dataclasses
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pytest
from small_models import small_linear, small_record

from prssm.data.record import Record
from prssm.evaluation.comparison import Comparison, ScoreRow, run_over
from prssm.foundation.show.cards import card, grid, shown_in_notebooks
from prssm.models.constant import Constant
from prssm.models.linear_ssm import LinearSSM
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals
from prssm.report.tables import Table, score_table

EVIL = "<script>alert(1)</script>$\\nosuch$"
LARGEST = 250_000  # characters


class Shown(HTMLParser):
    """Tags, words and images of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        assert len(text) < LARGEST
        self.tags: list[str] = []
        self.words = ""
        self.images: list[str] = []
        self.feed(text)
        assert "script" not in self.tags

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attrs)["src"])

    def handle_data(self, data: str) -> None:
        self.words += f"{data} "


@pytest.fixture(scope="module")
def model() -> LinearSSM:
    return small_linear()


@pytest.fixture(scope="module")
def record(model) -> Record:
    plain = small_record(model, rows=60)
    return plain.changed(input_names=[EVIL], output_names=["level"], name=EVIL)


@pytest.fixture(scope="module")
def run(model, record) -> Prediction:
    plain = model.simulate(record.changed(input_names=["u"]))
    return dataclasses.replace(plain, output_names=(EVIL,), cautions=(EVIL,))


def test_a_record_shows_its_columns_and_a_picture(record) -> None:
    shown = Shown(record._repr_html_())
    assert EVIL in shown.words
    assert "60, every 0.5 s" in shown.words
    assert f"{np.nanmin(record.y):.4g}" in shown.words
    (image,) = shown.images
    assert b"<svg" in base64.b64decode(image.split(",")[1])


def test_a_prediction_shows_scores_cautions_and_a_picture(run) -> None:
    shown = Shown(run._repr_html_())
    assert f"Caution:  {EVIL}".replace("  ", " ") in shown.words.replace("  ", " ")
    rmse = np.sqrt(np.nanmean((run.measured - run.mean) ** 2))
    assert f"{rmse:.4g}" in shown.words
    assert len(shown.images) == 1


def test_models_show_whether_they_are_fitted_and_what_they_found(model) -> None:
    assert "not fitted yet" in Shown(LinearSSM(order=2)._repr_html_()).words
    shown = Shown(model._repr_html_())
    assert "LinearSSM" in shown.words
    assert "level 0" in shown.words


def test_observers_residuals_tables_and_comparisons_show_numbers(model, record) -> None:
    observer = model.observer().update([3.0], [-1.0])
    shown = Shown(observer._repr_html_())
    assert "1 taken in" in shown.words
    assert repr(observer) == "Observer(inputs: valve 0, outputs: level 0, 1 rows taken in)"
    assert f"{observer.output.mean[0]:.4g}" in shown.words
    rng = np.random.default_rng(0)
    found = Residuals.of(
        [rng.normal(size=(99, 1))],
        [rng.normal(size=(99, 1))],
        output_names=("y",),
        input_names=(EVIL,),
    )
    assert f"{found.whiteness[0]:.4g}" in Shown(found._repr_html_()).words
    rows = [ScoreRow(EVIL, {"rmse": 0.12345}), ScoreRow("b", {}, EVIL)]
    assert "0.1235" in Shown(score_table(rows)._repr_html_()).words
    plain = [run_over(model, "test data", [record.changed(input_names=["u"])])]
    shown = Shown(Comparison(plain, [], rows)._repr_html_())
    assert "test data" in shown.words
    assert "0.1235" in shown.words


def test_a_long_recording_is_shown_quickly() -> None:
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=(200_000, 2)), axis=0)
    long = Record(rng.normal(size=200_000), y)
    run = Prediction(y, np.ones_like(y), measured=y, output_names=("a", "b"))
    Shown(Record(y[:100], y[:100])._repr_html_())  # matplotlib is imported
    begun = time.process_time()
    Shown(long._repr_html_())
    Shown(run._repr_html_())
    assert time.process_time() - begun < 10.0  # some tenths where nothing else runs


def test_what_is_odd_is_shown_too() -> None:
    """No outputs, nothing measured, values that ran away: all are objects that a user may have."""
    steps = np.arange(5.0)
    Shown(Record(None, steps)._repr_html_())
    Shown(Record(steps, None)._repr_html_())
    Shown(Record(steps, np.full(5, np.nan))._repr_html_())
    mean = np.array([[0.0], [1.0], [np.inf], [np.nan], [1e300]])
    for measured in (None, np.full((5, 1), np.nan), np.zeros((5, 1))):
        shown = Shown(Prediction(mean, np.ones((5, 1)), measured=measured)._repr_html_())
        assert "pre" not in shown.tags
    Shown(Table("", ["a"], [])._repr_html_())
    Shown(Constant().fit(np.arange(9.0), np.arange(9.0))._repr_html_())


def test_an_error_on_the_way_becomes_plain_text() -> None:
    class Broken:
        def __repr__(self) -> str:
            return EVIL

        @shown_in_notebooks
        def _repr_html_(self) -> str:
            raise RuntimeError("no")

    shown = Shown(Broken()._repr_html_())
    assert shown.tags == ["pre"]
    assert EVIL in shown.words


def test_long_texts_and_tables_are_cut() -> None:
    assert len(card("x" * 10_000)) < 500
    shown = Shown(grid(["n"], [[i] for i in range(500)]))
    assert "and 470 more" in shown.words
    assert shown.tags.count("tr") == 31


def test_plots_give_axes_and_belong_to_pyplot_only_where_a_program_has_it(
    run, record, monkeypatch
) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    ax = run.plot()
    assert "matplotlib.pyplot" not in sys.modules
    assert run.plot(ax=ax) is ax
    assert [ax.get_ylabel() for ax in record.plot()] == ["level", EVIL]

    class Pyplot:
        figures = 0

        @classmethod
        def figure(cls, **options):
            from matplotlib.figure import Figure

            cls.figures += 1
            return Figure(**options)

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", Pyplot)
    run.plot()
    record.plot()
    run.plot(ax=ax)
    assert Pyplot.figures == 2
    run._repr_html_()
    record._repr_html_()
    assert Pyplot.figures == 2  # what a notebook draws by itself belongs to nobody
