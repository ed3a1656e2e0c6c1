"""The page: self-contained, safe with any names, complete, and its numbers are the scores."""

import base64
import copy
import dataclasses
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from prssm.data.record import Record
from prssm.evaluation.comparison import Run, compare
from prssm.models.constant import Constant
from prssm.report.fit.page import write_report
from prssm.report.tables import METRICS, ScoreRow
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog

EVIL = "<script>alert('x')</script>\" onload=\"$\\frac"
MATHS = "$\\nosuch$"  # matplotlib would take it for a formula, and fail
CURVES = np.array([[-9.0, -5, -3, -2, -1], [-9.0, -8, -7, -6, -5], [-9.0, *[np.nan] * 4]])
LOG = TrainingLog(
    np.arange(10, 60, 10),
    CURVES,
    np.array([-1.0, -5.0, np.nan]),
    outcomes=(CONVERGED, CONVERGED, DIVERGED),
    kept=0,
    seconds=12.5,
)


class Page(HTMLParser):
    """Tags with their attributes, images, and tables as lists of texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self.open_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        self.open_cell = tag in ("td", "th") or (self.open_cell and tag == "code")
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open_cell = self.open_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open_cell:
            self.rows[-1][-1] += data

    def row(self, first: str) -> list[str]:
        return next(row for row in self.rows if row and row[0] == first)


def fitted(names: tuple[str, ...], rows: int = 200) -> tuple[Constant, list[Run]]:
    """A model with every optional part: latent states, a training curve, missing measurements,
    several outputs.
    """
    noise = np.random.default_rng(0)
    y = noise.normal(size=(rows, len(names)))
    y[5:9, 0] = np.nan
    record = Record(
        noise.normal(size=rows), y, 0.1, output_names=names, input_names=[EVIL], name=EVIL
    )
    model = Constant().fit(record[: rows // 2])
    model.training_ = LOG
    runs = compare(model, [record[: rows // 2]], [record[rows // 2 :]]).runs
    states = {
        "state_mean": noise.normal(size=(rows // 2, 3)),
        "state_std": np.ones((rows // 2, 3)),
        "warmup": 4,
    }
    return model, [
        dataclasses.replace(
            run, predictions=[dataclasses.replace(p, **states) for p in run.predictions]
        )
        for run in runs
    ]


@pytest.fixture(scope="module", autouse=True)
def only_the_constant() -> None:
    """Rows of other methods are given by hand here."""
    patch = pytest.MonkeyPatch()
    patch.setattr("prssm.evaluation.comparison.BASELINES", ())
    yield
    patch.undo()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, list[Run]]:
    model, runs = fitted((EVIL, MATHS))
    path = tmp_path_factory.mktemp("report") / "new" / "report.html"
    write_report(
        path,
        model,
        runs,
        baselines=[
            ScoreRow("linear", {"rmse": 0.123456, "fit_percent": 12.34}),
            ScoreRow("x", {}, EVIL),
        ],
        title=EVIL,
        data=EVIL,
        static=True,
    )
    text = path.read_text(encoding="utf-8")
    assert len(text) < 2_000_000
    return Page(text), runs


def test_nothing_is_fetched_from_anywhere(page: tuple[Page, list[Run]]) -> None:
    for _tag, attributes in page[0].tags:
        for name in ("src", "href", "data", "action", "srcset", "style"):
            assert attributes.get(name, "data:").startswith(("data:", "#"))
    assert {tag for tag, _ in page[0].tags}.isdisjoint(
        {"script", "link", "iframe", "object", "embed", "base"}
    )


def test_it_says_what_to_do_next(page: tuple[Page, list[Run]]) -> None:
    steps = page[0].words.split("What to do next")[-1].split("What was fitted")[0]
    assert "1 of 3 restarts diverged: try half the --learning-rate" in steps


def test_names_cannot_become_markup(page: tuple[Page, list[Run]]) -> None:
    parsed = page[0]
    assert all("onload" not in attributes for _, attributes in parsed.tags)
    assert parsed.row("Outputs")[1] == f"{EVIL}, {MATHS}"
    assert parsed.row("Data")[1] == EVIL
    assert EVIL in parsed.words


def test_numbers_in_the_tables_are_the_scores(page: tuple[Page, list[Run]]) -> None:
    parsed, (test, train) = page
    expected = [
        format(test.scores[key], METRICS[key].format)
        for key in (
            "rmse",
            "rmse_after_warmup",
            "fit_percent",
            "log_likelihood_scaled",
            "coverage_95",
        )
    ]
    assert parsed.row("constant")[1:6] == expected
    assert parsed.row("linear")[1:4] == ["0.1235", "n/a", "12.3"]
    assert parsed.row("x")[-1] == EVIL
    for key, metric in METRICS.items():
        row = next(row for row in parsed.rows if len(row) == 4 and row[0] == metric.title)
        assert row[1:3] == [format(run.scores[key], metric.format) for run in (test, train)]
    assert parsed.row("seed")[1] == "0"


def test_every_figure_is_there_and_can_be_drawn(page: tuple[Page, list[Run]]) -> None:
    images = {
        attributes["alt"]: attributes["src"] for tag, attributes in page[0].tags if tag == "img"
    }
    assert {
        "residuals over time",
        "observed against promised coverage",
        "latent states with band",
        "training objective over iterations",
        f"free run over {EVIL}",
    } <= set(images)
    for source in images.values():
        head, _, content = source.partition(",")
        assert head == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(base64.b64decode(content)).tag.endswith("svg")
    assert sum(tag == "h2" for tag, _ in page[0].tags) >= 8


def test_diverged_restarts_are_said(page: tuple[Page, list[Run]]) -> None:
    assert "1 of 3 restarts diverged" in page[0].words


def test_a_model_without_states_curve_or_test_data(tmp_path: Path) -> None:
    model = Constant().fit(Record(np.arange(30.0), np.sin(np.arange(30.0))))
    comparison = compare(model, [Record(np.arange(30.0), np.sin(np.arange(30.0)))], [])
    parsed = Page(
        write_report(
            tmp_path / "r.html",
            model,
            comparison.runs,
            baselines=comparison.baselines,
            static=True,
        ).read_text()
    )
    assert "No data was kept back" in parsed.words
    assert "Latent states" not in parsed.words


def test_a_run_that_exploded_can_still_be_reported(tmp_path: Path) -> None:
    model, runs = fitted(("y",))
    test = runs[0].predictions[0]
    grown = np.array(test.mean)
    grown[50:] = np.inf
    exploded = Run("test data", [dataclasses.replace(test, mean=grown)], {"rmse": float("inf")})
    path = write_report(tmp_path / "r.html", model, [exploded, runs[1]])
    parsed = Page(path.read_text())
    assert parsed.row("constant")[1] == "n/a"


def test_matplotlib_is_left_as_it_was(tmp_path: Path) -> None:
    before = copy.deepcopy(dict(matplotlib.rcParams))
    model, runs = fitted(("y",))
    write_report(tmp_path / "r.html", model, runs, static=True)
    assert dict(matplotlib.rcParams) == before
