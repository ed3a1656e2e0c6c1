"""Graphs of ONNX in onnxruntime: equal to the plain run, in both precisions."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from fitted_models import random_linear, random_prssm, record_for

from prssm.export import draws as drawing
from prssm.export import reference
from prssm.export.describing import describe
from prssm.export.onnx.target import write
from prssm.export.targets import ExportSettings

CASES = {
    "default": lambda: random_prssm(seen=True),
    "shared, steps, two by two": lambda: random_prssm(
        shared_inducing=True, draws="step", inputs=2, outputs=2
    ),
    "matern32, no input": lambda: random_prssm(kernel="matern32", inputs=0, seen=True),
    "matern52, no recognition": lambda: random_prssm(kernel="matern52", scheme="full", states=3),
    "neurons": lambda: random_prssm(neurons=3, inputs=2, states=3),
    "linear": lambda: random_linear(outputs=2),
}
STEPS = 9
KINDS = {"double": (np.float64, 1e-11), "single": (np.float32, 2e-4)}


def loaded(folder, name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(folder / f"{name}.onnx", options)


def called(session, **values):
    names = [output.name for output in session.get_outputs()]
    arrays = {name: np.asarray(value) for name, value in values.items()}
    return dict(zip(names, session.run(names, arrays), strict=True))


def start(folder, description, u, y):
    rows = description.window
    session = loaded(folder, "start")
    inputs = {"u": u[:rows]} if u.shape[1] else {}
    return called(session, y=y[:rows], **inputs)["state"]


@pytest.mark.parametrize("precision", KINDS)
@pytest.mark.parametrize("samples", [0, 6])
@pytest.mark.parametrize("case", CASES)
def test_a_run_is_the_free_run(case, samples, precision, tmp_path):
    model = CASES[case]()
    description = describe(model)
    kind, near = KINDS[precision]
    u, y = (part.astype(kind) for part in record_for(model, rows=STEPS))
    draws = drawing.fixed(description, samples) if samples else None
    expected = reference.run(description, u, y, draws)
    folder = write(description, tmp_path, ExportSettings(samples=samples, precision=precision))
    given = {column.identifier: u[:, at] for at, column in enumerate(description.inputs)}
    if not given:
        given = {"steps_to_run": np.zeros(STEPS, kind)}
    clock = {"time": np.int64(0)} if samples else {}
    if samples and description.seen is not None:
        clock["far"] = kind(0)
    run = called(loaded(folder, "run"), state=start(folder, description, u, y), **clock, **given)
    for at, column in enumerate(description.outputs):
        units = column.std
        np.testing.assert_allclose(
            run[column.identifier] / units, expected.mean[:, at] / units, atol=near
        )
        if samples:
            std = run[f"{column.identifier}_std"]
            np.testing.assert_allclose(std / units, expected.std[:, at] / units, atol=near)


def test_steps_one_after_the_other_are_the_run(tmp_path):
    """Late in a run as well, where the counter behind the noise has gone beyond 32 bits."""
    model = random_prssm(seen=True)
    description = describe(model)
    u, y = record_for(model, rows=STEPS)
    folder = write(description, tmp_path, ExportSettings(samples=4))
    late = np.int64(2**31)
    first = start(folder, description, u, y)
    run = called(loaded(folder, "run"), state=first, time=late, far=0.0, u1=u[:, 0])
    step = loaded(folder, "step")
    state = first
    time = late
    far = 0.0
    for at in range(STEPS):
        now = called(step, state=state, time=time, far=far, u1=u[at, 0])
        assert now["y1"] == pytest.approx(run["y1"][at], rel=1e-12)
        assert now["y1_std"] == pytest.approx(run["y1_std"][at], rel=1e-12)
        state = now["next_state"]
        time = now["next_time"]
        far = now["next_far"]
    assert far == run["next_far"] > 0.0
    assert time == run["next_time"] == late + STEPS
    draws = drawing.fixed(description, 4)
    x = first[0]
    moved = reference.step(
        description,
        description.members[0],
        x,
        description.scaled_inputs(u[0]),
        weights=reference.drawn_weights(description.members[0], draws, 0),
        eps=draws.step(0, int(late)),
    )
    once = called(step, state=first, time=late, far=0.0, u1=u[0, 0])["next_state"]
    np.testing.assert_allclose(once[0], moved, rtol=1e-11)


def test_names_are_told_with_the_graph(tmp_path):
    model = random_prssm()
    model.input_names_ = ('pump "<1>"\n',)
    folder = write(describe(model), tmp_path, ExportSettings(samples=0))
    told = onnx.load(folder / "step.onnx")
    about = {entry.key: entry.value for entry in told.metadata_props}
    assert json.loads(about["inputs"]) == {"pump_1": 'pump "<1>"\n'}
    assert [value.name for value in told.graph.input] == ["state", "pump_1"]
