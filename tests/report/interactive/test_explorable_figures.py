"""Explorable figures show what they were given, and names as they are."""

import dataclasses

import numpy as np
import pytest
from small_models import small_linear, small_record

from prssm.evaluation.comparison import run_over
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals
from prssm.training.log import CONVERGED, TrainingLog

pytest.importorskip("bokeh", reason="needs the extra interactive")

from bokeh.models import (
    ColumnDataSource,
    DataRange1d,
    GlyphRenderer,
    Legend,
    Line,
    Plot,
    VArea,
    VBar,
    VStrip,
)

from prssm.report.interactive import progress, residuals, responses, runs, slices
from prssm.report.interactive.embedding import embedded

EVIL = "</script><script>alert('x')</script>"
MATHS = "$$\\alpha$$"


def plots(layout) -> list[Plot]:
    """The panels of a figure, row by row."""
    return [layout] if isinstance(layout, Plot) else [child for child, *_ in layout.children]


def glyphs(plot: Plot, kind: type) -> list[tuple[GlyphRenderer, dict]]:
    """The visible renderers of a kind, and their data."""
    found = [
        r
        for r in plot.renderers
        if isinstance(r.glyph, kind) and getattr(r.glyph, "line_alpha", 1.0) != 0.0
    ]
    return [(r, r.data_source.data) for r in found]


def words(layout) -> list[str]:
    """The one legend of a figure."""
    (legend,) = layout.select({"type": Legend})
    return [item.label.value for item in legend.items]


@pytest.fixture(scope="module")
def model():
    return small_linear()


@pytest.fixture(scope="module")
def record(model):
    return small_record(model, rows=120)


@pytest.fixture(scope="module")
def run(model, record) -> Prediction:
    outside = np.zeros(120)
    outside[30:40] = 1.5
    return dataclasses.replace(model.simulate(record), distance=outside)


def test_a_free_run_shows_measured_values_means_bands_and_marks(run) -> None:
    other = dataclasses.replace(run, mean=run.mean + 1.0, distance=None)
    layout = runs.free_runs({"mine": run, EVIL: other}, bands=["mine"])
    (plot,) = plots(layout)
    (measured, mine, others) = glyphs(plot, Line)
    np.testing.assert_array_equal(measured[1]["time"], run.time)
    np.testing.assert_array_equal(measured[1]["value0"], run.measured[:, 0])
    np.testing.assert_array_equal(measured[1]["value1"], run.mean[:, 0])
    np.testing.assert_array_equal(measured[1]["value2"], other.mean[:, 0])
    assert [r.glyph.y for r, _ in (measured, mine, others)] == ["value0", "value1", "value2"]
    ((band, data),) = glyphs(plot, VArea)
    assert (band.glyph.y1, band.glyph.y2) == ("low1", "high1")
    np.testing.assert_array_equal(data["low1"], run.mean[:, 0] - 2 * run.std[:, 0])
    np.testing.assert_array_equal(data["high1"], run.mean[:, 0] + 2 * run.std[:, 0])
    (seen, left) = glyphs(plot, VStrip)
    np.testing.assert_allclose(seen[1]["x1"], (run.warmup - 0.5) * 0.5)
    np.testing.assert_allclose((left[1]["x0"], left[1]["x1"]), [[14.75], [19.75]])
    assert words(layout) == ["measured", "mine", EVIL, *list(runs._marks({"": run}))]


def test_panels_share_their_time_axis_and_their_legend(run) -> None:
    twice = dataclasses.replace(
        run,
        mean=np.tile(run.mean, 2),
        std=np.tile(run.std, 2),
        measured=np.tile(run.measured, 2),
        output_names=("a", "b"),
    )
    layout = runs.free_runs({"mine": twice})
    first, second = plots(layout)
    assert first.x_range is second.x_range
    assert first.y_range is not second.y_range
    assert len(words(layout)) == 4
    linked = [r for r, _ in glyphs(first, Line) if r.js_property_callbacks]
    assert len(linked) == 2


def test_figures_of_one_record_can_share_their_time_axis(run) -> None:
    (first,) = plots(runs.free_runs({"mine": run}))
    (second,) = plots(runs.inputs(run, x_range=first.x_range))
    assert second.x_range is first.x_range
    assert isinstance(first.x_range, DataRange1d)


def test_a_long_run_is_thinned(run) -> None:
    rows = 100_000
    rng = np.random.default_rng(0)
    mean = np.cumsum(rng.normal(size=(rows, 1)), axis=0)
    long = Prediction(mean, np.ones((rows, 1)), measured=mean + 1.0, dt=0.1)
    layout = runs.free_runs({"mine": long})
    sources = list(layout.select({"type": ColumnDataSource}))
    longest = max(len(source.data["time"]) for source in sources if "time" in source.data)
    assert 1000 < longest <= 4002
    assert len(embedded({"run": layout}).script) < 400_000


def test_a_band_that_explodes_does_not_flatten_the_lines(run) -> None:
    wide = dataclasses.replace(run, std=run.std * np.geomspace(1.0, 1e9, len(run))[:, None])
    (plot,) = plots(runs.free_runs({"mine": wide}))
    lines = np.concatenate([run.mean, run.measured])
    reach = np.nanmax(lines) - np.nanmin(lines)
    assert plot.y_range.end - plot.y_range.start < 3.0 * reach


def test_inputs_errors_states_and_recordings_are_drawn(run, record) -> None:
    ((_, data),) = glyphs(plots(runs.inputs(run))[0], Line)
    np.testing.assert_array_equal(data["value0"], run.inputs[:, 0])
    _, (_, data) = glyphs(plots(runs.errors(run))[0], Line)
    np.testing.assert_array_equal(data["value1"], run.measured[:, 0] - run.mean[:, 0])
    first, _ = plots(runs.states(run))
    ((_, data),) = glyphs(first, Line)
    np.testing.assert_array_equal(data["value0"], run.state_mean[:, 0])
    output, given = plots(runs.recorded(record))
    ((_, data),) = glyphs(output, Line)
    np.testing.assert_array_equal(data["value0"], record.y[:, 0])
    ((_, data),) = glyphs(given, Line)
    np.testing.assert_array_equal(data["value0"], record.u[:, 0])


def test_residual_tests_mark_what_is_beyond_the_band() -> None:
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(300, 2))
    errors[1:, 0] += 0.9 * errors[:-1, 0]
    found = Residuals.of(
        [errors], [rng.normal(size=(300, 1))], output_names=("a", MATHS), input_names=(EVIL,)
    )
    layout = residuals.correlations(found)
    first, *others = plots(layout)
    assert len(others) == 3
    (_, (bars, data)) = glyphs(first, VBar)
    np.testing.assert_array_equal(data["lag"], np.arange(1, 21))
    np.testing.assert_array_equal(data[bars.glyph.top], found.autocorrelation[:, 0])
    beyond = np.abs(found.autocorrelation[:, 0]) > found.autocorrelation_band[:, 0]
    assert beyond[0]
    assert [colour == residuals.PREDICTED for colour in data["colour"]] == beyond.tolist()
    (_, (_, data)) = glyphs(others[-1], VBar)
    np.testing.assert_array_equal(data["value"], found.cross_correlation[:, 1, 0])


def test_responses_and_static_curves_of_several_models_are_drawn(model) -> None:
    near = model.linearise(samples=0)
    curve = model.static_curve(samples=0)
    both = {"one": near, "two": near}
    for kind, told in (("step", near.step_response()), ("impulse", near.impulse_response())):
        (plot,) = plots(responses.responses(both, kind))
        (_, data), _ = glyphs(plot, Line)
        np.testing.assert_array_equal(data["at"], told.time)
        np.testing.assert_array_equal(data["middle"], told.band.middle[:, 0, 0])
        np.testing.assert_array_equal(data["high"], told.band.high[:, 0, 0])
    (plot,) = plots(responses.static_curves(both, {"one": curve, "two": curve}))
    (_, data), _ = glyphs(plot, Line)
    np.testing.assert_array_equal(data["at"], curve.inputs[:, 0])
    np.testing.assert_array_equal(data["middle"], curve.band.middle[:, 0])
    drawn = [r.data_source.data for r in plots(responses.poles(near))[0].renderers]
    np.testing.assert_array_equal(drawn[-1]["x"], near.poles.real)


def test_slices_show_the_curve_and_where_the_run_was(model, run) -> None:
    found = model.transition_slices(run, samples=0)
    layout = slices.slices(found)
    shown = plots(layout)
    assert len(shown) == 6  # two states over two states and one input
    ((_, data),) = glyphs(shown[-1], Line)
    np.testing.assert_array_equal(data["at"], found.grid[2])
    np.testing.assert_array_equal(data["middle"], found.band.middle[2, :, 1])
    rug = shown[-1].renderers[-1].data_source.data
    np.testing.assert_array_equal(np.sort(rug["x"]), np.sort(run.inputs[:, 0]))


def test_training_horizon_coverage_and_errors_on_the_way_are_drawn(model, record, run) -> None:
    log = TrainingLog(
        np.arange(10, 60, 10),
        np.array([[-9.0, -5, -3, -2, -1], [-9.0, -8, -7, -6, -5]]),
        np.array([-5.0, -1.0]),
        outcomes=(CONVERGED, CONVERGED),
        kept=1,
        seconds=1.0,
    )
    layout = progress.training_curve(log)
    assert words(layout) == ["kept: restart 1", "other restarts"]
    (_, first), (_, last) = glyphs(layout, Line)
    np.testing.assert_array_equal(first["middle"], log.objective[0])
    np.testing.assert_array_equal(last["middle"], log.objective[1])
    layout = progress.errors_by_horizon({"mine": [run]}, model.scaler_.y_std)
    ((_, data),) = glyphs(layout, Line)
    error = (run.measured - run.mean) / model.scaler_.y_std
    np.testing.assert_allclose(data["middle"][-1], np.sqrt(np.nanmean(error**2)))
    ideal, _ = glyphs(progress.coverage([run_over(model, "test", [record])]), Line)
    np.testing.assert_array_equal(ideal[1]["at"], ideal[1]["middle"])
    layout = progress.errors_on_the_way({"mine": ([1.0, 2.0], [5.0, 4.0])}, "test RMSE")
    ((_, data),) = glyphs(layout, Line)
    np.testing.assert_array_equal(data["middle"], [5.0, 4.0])


def test_embedded_names_are_text_and_no_formula(run) -> None:
    evil = dataclasses.replace(run, output_names=(MATHS,), name=EVIL)
    parts = embedded({"run": runs.free_runs({EVIL: evil})})
    assert EVIL not in parts.script
    assert "alert(" not in parts.places["run"]
    assert "PlainText" in parts.script
    assert "http" not in parts.script
    assert len(parts) > len(parts.script) + 1_000_000  # the library is inside
    assert len(embedded({})) == 0
