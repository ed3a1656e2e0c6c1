"""Pages and figures of a benchmark: self-contained, escaped, with the command and the machine that
made them.
"""

import re
from dataclasses import replace

import benchmark_fakes
import numpy as np
import pytest

from prssm.evaluation.benchmark.figure_plans import FIGURES, plan_figure
from prssm.evaluation.benchmark.plan import chosen_variants, experiments, variant_of
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.report.benchmark.page import Benchmark, draw_all, html_page, write_pages
from prssm.report.benchmark.paper_figures import draw


@pytest.fixture
def told(monkeypatch, tmp_path):
    benchmark_fakes.install(monkeypatch)
    variants = chosen_variants(["prssm", "prssm:behave=raise"])
    planned = experiments(["drives"], variants, 2)
    plans = [plan_figure(name, variant_of("prssm"), variants, seeds=2) for name in FIGURES]
    results = Results(tmp_path / "runs")
    run_all([*planned, *(e for plan in plans for e in plan.experiments())], results)
    return Benchmark(planned, plans, results, command="prssm benchmark --methods '<b>'")


def test_html_stands_alone_and_is_escaped(told):
    one = replace(told, figures=told.figures[:1])
    page = html_page(one, draw_all(one))
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    assert page.count("data:image/") == 1
    assert '<span class="best">0.373 (0.000)</span>' in page
    assert '<span class="second">0.451 (0.021)</span>' in page


def test_pages_say_where_the_figures_come_from(told, tmp_path):
    docs = tmp_path / "docs" / "results.md"
    shown = [told.figures[0], told.figures[-1]]
    written = write_pages(told.results.folder, replace(told, figures=shown), docs)
    assert all(path.stat().st_size > 0 for path in written)
    text = docs.read_text()
    record = told.records()[0]
    for words in (
        told.command,
        record["machine"],
        record["versions"]["jax"],
        record["finished"][:10],
        "ICML 2018",
        "ZeroDivisionError: no luck",
    ):
        assert words in text
    assert "| PR-SSM (paper) | 0.492 (0.038) |" in text
    for plan in shown:
        assert f"](figures/{plan.name}.png)" in text
        assert (docs.parent / "figures" / f"{plan.name}.png").read_bytes()[:4] == b"\x89PNG"
    assert (told.results.folder / "results.md").exists()


def test_each_figure_is_drawn_once(told, tmp_path, monkeypatch):
    drawn = []

    def counted(plan, results):
        drawn.append(plan.name)
        return draw(plan, results)

    monkeypatch.setattr("prssm.report.benchmark.paper_figures.draw", counted)
    write_pages(told.results.folder, told, tmp_path / "docs" / "results.md")
    assert drawn == [plan.name for plan in told.figures]


def test_all_methods_have_a_panel_and_the_failed_one_says_why(told):
    (plan,) = [plan for plan in told.figures if plan.name == "drives-methods"]
    axes = [ax for ax in draw(plan, told.results).axes if ax.get_visible()]
    assert [ax.get_title().split(",")[0] for ax in axes] == [
        "constant",
        "linear",
        "prssm",
        "prssm:behave=raise",
    ]
    measured, mean = axes[2].lines[-2:]
    np.testing.assert_array_equal(measured.get_ydata(), np.arange(8.0))
    np.testing.assert_allclose(mean.get_ydata(), 0.5)
    assert "no luck" in axes[3].texts[0].get_text()


def test_learning_curves_are_mean_over_seeds(told):
    (plan,) = [plan for plan in told.figures if plan.name == "full-vs-stochastic"]
    left, _ = draw(plan, told.results).axes
    curves = {line.get_label(): line for line in left.lines}
    assert set(curves) == {
        f"{scheme}, {part}" for scheme in ("full", "stochastic") for part in ("train", "test")
    }
    counts = sorted({e.variant.configuration()["iterations"] for e in plan.experiments()})
    np.testing.assert_array_equal(curves["full, test"].get_xdata(), counts)
    rmse = [np.sqrt(np.mean((np.arange(8.0) - offset) ** 2)) for offset in (0.5, 0.51)]
    np.testing.assert_allclose(curves["full, test"].get_ydata(), np.mean(rmse))


def test_a_figure_of_experiments_that_were_not_run_says_so(told, tmp_path):
    figure = draw(told.figures[0], Results(tmp_path / "empty"))
    assert [text.get_text() for ax in figure.axes for text in ax.texts] == [
        "not run\nnothing stored to draw"
    ] * 2
    for plan in told.figures[1:]:
        draw(plan, Results(tmp_path / "empty"))
