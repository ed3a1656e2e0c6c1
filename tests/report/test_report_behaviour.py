"""How the system behaves: figures, words, and methods that have no such section."""

import numpy as np
import pytest
from small_models import small_linear, small_record

from prssm.data.preprocessing.pipeline import Preprocessing
from prssm.evaluation.comparison import Run
from prssm.foundation.errors import DataError
from prssm.models.constant import Constant
from prssm.prediction.metrics import evaluate
from prssm.report.fit import behaviour as page
from prssm.report.fit.findings import POINTS, Behaviour, behaviour_of, gathered
from prssm.report.fit.sections import sections


@pytest.fixture(scope="module")
def model():
    return small_linear()


def test_the_words_say_where_it_rests_and_how_slow_it_is(model):
    words = page.in_words(behaviour_of(model).near)
    assert "At valve 0 = 3, the mean of training, the model rests at level 0 = -0.75." in words
    slowest = np.abs(np.linalg.eigvals(model.A_)).max()
    assert f"slowest pole is {slowest:.4g}, a time constant of" in words


def test_responses_say_which_dead_time_they_leave_out(model):
    assert page.without_dead_times(model) == ""
    delayed = small_linear()
    steps = Preprocessing.of(["detrend", "delay=u:3", "delay=u:0.5s"])
    delayed.preprocessing_, _ = steps.learn([small_record(delayed)])
    told = page.without_dead_times(delayed)
    assert "leave the dead time out" in told
    assert "outputs answer later than drawn, by 3 rows for u, 1 row (0.5s) for u." in told
    run = delayed.simulate(small_record(delayed))
    runs = [Run("test data", [run], evaluate([run], delayed.scaler_.y_std))]
    shown = [one for one in sections(gathered(delayed, runs, [], True)) if "step" in one.pictures]
    assert [one.explanation.endswith(told) for one in shown] == [True]


def test_figures_draw_what_was_computed(model):
    found = behaviour_of(model)
    near = found.near
    for kind, response in (("step", near.step_response()), ("impulse", near.impulse_response())):
        (line,) = page.response_figure(near, kind).axes[0].lines
        np.testing.assert_array_equal(line.get_ydata(), response.band.middle[:, 0, 0])
    curve = found.curve
    line, point = page.static_figure(near, curve).axes[0].lines
    assert len(curve.inputs) == POINTS
    np.testing.assert_array_equal(line.get_xdata(), curve.inputs[:, 0])
    np.testing.assert_allclose(point.get_ydata(), -0.75)
    *_, best = page.pole_figure(near).axes[0].lines
    np.testing.assert_array_equal(best.get_xdata(), near.poles.real)


def test_slices_are_drawn_over_the_rows_of_the_run(model):
    run = model.simulate(small_record(model, rows=30))
    found = model.transition_slices(run, samples=0)
    axes = page.slice_figure(found).axes
    assert len(axes) == 6
    curve, marks = axes[-1].lines
    np.testing.assert_array_equal(curve.get_ydata(), found.band.middle[2, :, 1])
    np.testing.assert_array_equal(marks.get_xdata()[::3], run.inputs[:, 0])
    assert axes[-1].get_xlabel() == "valve 0"


def test_a_curve_along_one_input_leaves_the_others(model):
    curve = behaviour_of(model).curve
    two = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [2.0, 4.0], [2.0, 5.0], [2.0, 6.0]])
    wide = type(curve)(two, curve.band, curve.found)
    np.testing.assert_array_equal(wide.along(0, np.array([2.0, 5.0])), [0, 1, 2])
    np.testing.assert_array_equal(wide.along(1, np.array([2.0, 5.0])), [3, 1, 5])


def test_a_model_that_is_not_stable_or_does_not_rest_says_so(monkeypatch):
    unstable = small_linear()
    unstable.system_.A[0, 0] = 1.5
    assert "it is not stable: its largest pole is" in page.in_words(behaviour_of(unstable).near)

    def no_rest(**_):
        raise DataError("no equilibrium")

    monkeypatch.setattr(unstable, "linearise", no_rest)
    assert behaviour_of(unstable) == "no equilibrium"


def test_methods_without_a_state_have_no_section():
    assert behaviour_of(Constant().fit(np.arange(9.0), np.arange(9.0))) is None


def test_a_state_space_model_has_one(model):
    assert isinstance(behaviour_of(model), Behaviour)
