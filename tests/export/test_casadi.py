"""Functions of CasADi: equal to the plain run, with exact slopes, from a file as well."""

from dataclasses import replace

import casadi
import numpy as np
import pytest
from fitted_models import random_linear, random_prssm, record_for

import prssm
from prssm.export import draws as drawing
from prssm.export import reference
from prssm.export.casadi.target import write
from prssm.export.describing import describe
from prssm.export.targets import ExportSettings
from prssm.foundation.errors import OptionError

CASES = {
    "default": lambda: random_prssm(seen=True),
    "shared, steps, two by two": lambda: random_prssm(
        shared_inducing=True, draws="step", inputs=2, outputs=2, seen=True
    ),
    "matern32, no input": lambda: random_prssm(kernel="matern32", inputs=0),
    "matern52, no recognition": lambda: random_prssm(kernel="matern52", scheme="full", states=3),
    "neurons": lambda: random_prssm(neurons=3, inputs=2, states=3),
    "linear": lambda: random_linear(outputs=2),
}
STEPS = 12


def started(functions, description, u, y):
    rows = description.window
    return functions.start(y=y[:rows], u=u[:rows])["state"]


@pytest.mark.parametrize("samples", [0, 6])
@pytest.mark.parametrize("case", CASES)
def test_a_horizon_is_the_free_run(case, samples):
    model = CASES[case]()
    description = describe(model)
    u, y = record_for(model, rows=STEPS)
    draws = drawing.fixed(description, samples) if samples else None
    expected = reference.run(description, u, y, draws)
    functions = prssm.as_casadi(model, samples=samples, horizon=STEPS, widen=True)
    rows = dict(zip(functions.input_names, u.T[:, None], strict=True))
    run = functions.horizon(state=started(functions, description, u, y), **rows)
    for at, name in enumerate(functions.output_names):
        np.testing.assert_allclose(run[name].full()[0], expected.mean[:, at], rtol=1e-11)
        if samples:
            std = run[f"{name}_std"].full()[0]
            np.testing.assert_allclose(std, expected.std[:, at], rtol=1e-11)
    assert (f"{name}_std" in run) == bool(samples)


def test_for_optimisers_the_band_is_smooth_unless_it_is_asked_to_widen():
    model = random_prssm(seen=True)
    description = describe(model)
    u, y = record_for(model, rows=STEPS)
    functions = prssm.as_casadi(model, samples=6, horizon=STEPS)
    run = functions.horizon(state=started(functions, description, u, y), u1=u.T)
    smooth = replace(description, seen=None)
    expected = reference.run(smooth, u, y, drawing.fixed(smooth, 6)).std
    np.testing.assert_allclose(run["y1_std"].full()[0], expected[:, 0], rtol=1e-11)


@pytest.mark.parametrize("neurons", [0, 3])
def test_slopes_are_exact(neurons):
    model = random_prssm(seen=True, neurons=neurons)
    functions = prssm.as_casadi(model, samples=4, horizon=5, widen=True)
    u, y = record_for(model, rows=5)
    state = started(functions, describe(model), u, y)
    inputs = casadi.MX.sym("inputs", 1, 5)
    run = functions.horizon(state=state, u1=inputs)
    slopes = [casadi.jacobian(run[name], inputs) for name in ("y1", "y1_std")]
    by_mean, by_std = (part.full() for part in casadi.Function("slope", [inputs], slopes)(u.T))
    for column in range(5):
        ends = [
            functions.horizon(state=state, u1=(u + side * 1e-5 * np.eye(5)[:, [column]]).T)
            for side in (1, -1)
        ]
        for name, found in (("y1", by_mean), ("y1_std", by_std)):
            expected = (ends[0][name] - ends[1][name]).full()[0] / 2e-5
            np.testing.assert_allclose(found[:, column], expected, atol=1e-8)


def test_the_file_is_the_function(tmp_path):
    model = random_prssm()
    path = write(describe(model), tmp_path / "new" / "m.casadi", ExportSettings(samples=4))
    loaded = casadi.Function.load(str(path))
    built = prssm.as_casadi(model, samples=4).step
    rng = np.random.default_rng(0)
    at = [rng.normal(size=built.size_in(place)) for place in range(built.n_in())]
    for one, other in zip(loaded(*at), built(*at), strict=True):
        np.testing.assert_array_equal(one.full(), other.full())
    assert loaded.name_in() == ["state", "u1", "noise"]
    assert loaded.name_out() == ["next_state", "y1", "y1_std"]
    both = casadi.FileDeserializer(str(path))
    assert [both.unpack().name(), both.unpack().name()] == ["step", "start"]


def test_hostile_names_are_identifiers():
    model = random_prssm(inputs=2)
    model.input_names_ = ("jac", "1 \"; drop'\n")
    functions = prssm.as_casadi(model, samples=0)
    assert functions.step.name_in() == ["state", *functions.input_names, "noise"]
    assert functions.input_names[0] == "x_jac"


def test_mistakes_are_named(tmp_path):
    model = random_prssm()
    with pytest.raises(OptionError, match="horizon: expected at least 1 step, got 0"):
        prssm.as_casadi(model, horizon=0)
    with pytest.raises(OptionError, match=r"samples: expected 0 \(the mean alone\) or .* got 1"):
        prssm.as_casadi(model, samples=1)
    with pytest.raises(OptionError, match="precision: expected double"):
        write(describe(model), tmp_path / "m", ExportSettings(precision="single"))
    with pytest.raises(OptionError, match="out: expected the name of a file, got the folder"):
        prssm.export(model, to="casadi", out=tmp_path)
