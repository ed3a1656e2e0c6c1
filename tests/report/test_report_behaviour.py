"""The section on step response, static curve and poles: its numbers, and when there is none."""

import numpy as np
import pytest
from small_models import small_linear

from prssm.foundation.errors import DataError
from prssm.models.constant import Constant
from prssm.report.fit import behaviour as page
from prssm.report.fit.behaviour import behaviour


@pytest.fixture(scope="module")
def model():
    return small_linear()


def test_the_section_shows_the_response_the_curve_and_the_poles(model):
    heading, words, images = behaviour(model)
    assert heading == "Step response, static curve and poles"
    assert "At valve 0 = 3, the mean of training, the model rests at level 0 = -0.75." in words
    slowest = np.abs(np.linalg.eigvals(model.A_)).max()
    assert f"slowest pole is {slowest:.4g}, a time constant of" in words
    assert len(images) == 3


def test_figures_draw_what_was_computed(model):
    near = model.linearise()
    (line,) = page.step_figure(near).axes[0].lines
    expected = near.step_response().band.middle[:, 0, 0]
    np.testing.assert_array_equal(line.get_ydata(), expected)
    curve = model.static_curve(np.linspace(1.0, 5.0, page.POINTS))
    line, point = page.static_figure(near, curve).axes[0].lines
    np.testing.assert_array_equal(line.get_xdata(), curve.inputs[:, 0])
    np.testing.assert_allclose(point.get_ydata(), -0.75)
    *_, best = page.pole_figure(near).axes[0].lines
    np.testing.assert_array_equal(best.get_xdata(), near.poles.real)


def test_a_model_that_is_not_stable_or_does_not_rest_says_so(monkeypatch):
    unstable = small_linear()
    unstable.system_.A[0, 0] = 1.5
    assert "it is not stable: its largest pole is" in behaviour(unstable)[1]

    def no_rest(**_):
        raise DataError("no equilibrium")

    monkeypatch.setattr(unstable, "linearise", no_rest)
    _, words, images = behaviour(unstable)
    assert "does not come to rest" in words
    assert images == []


def test_methods_without_a_state_have_no_section():
    assert behaviour(Constant().fit(np.arange(9.0), np.arange(9.0))) is None
