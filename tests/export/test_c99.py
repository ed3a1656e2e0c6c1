"""The generated C code computes what the model does, and compiles without a warning."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_library import WARNINGS, CLibrary
from fitted_models import random_linear, random_prssm, record_for

from prssm.export import draws as drawing
from prssm.export import reference_filter as filtering
from prssm.export.c99.selftest import SELFTEST, selftest
from prssm.export.c99.source import sources
from prssm.export.c99.target import c_files, write
from prssm.export.describing import describe
from prssm.export.reference import run, step
from prssm.export.targets import ExportSettings
from prssm.foundation.errors import OptionError
from prssm.inference.noise_search import NoiseFactors
from prssm.models.prssm.compiled import why_not
from prssm.models.prssm.filtering.members import Beside, FilterMembers

CASES = {
    "default": ({"seen": True}, {"samples": 6}),
    "mean": ({"states": 3, "points": 5}, {"samples": 0}),
    "steps": (
        {"draws": "step", "shared_inducing": True, "inputs": 0, "seen": True},
        {"samples": 6},
    ),
    "paper": ({"preset": "paper", "members": 1, "outputs": 2, "states": 3}, {"samples": 4}),
    "matern32": ({"kernel": "matern32", "inputs": 2, "scale": 1e6}, {"samples": 6}),
    "matern52": ({"kernel": "matern52", "scheme": "full", "outputs": 2}, {"samples": 6}),
    "beside": ({"states": 3, "points": 5}, {"samples": 6}),
    "unheard": ({"outputs": 2}, {"samples": 0}),
    "single": ({"scale": 1e-5, "seen": True}, {"samples": 6, "precision": "single"}),
    "neurons": ({"neurons": 3, "states": 3, "inputs": 2, "seen": True}, {"samples": 6}),
    "neurons, single": (
        {"neurons": 2, "draws": "step", "shared_inducing": True},
        {"samples": 4, "precision": "single"},
    ),
    "linear": (None, {"samples": 2}),
}
# What a fit may find for its filters: noise that keeps its direction, beside white noise.
FOUND = NoiseFactors(process=0.1, sensor=0.3, coloured=0.8, memory=0.9, second=0.5)
TOLERANCE = {"double": 1e-12, "single": 1e-5}


def model_of(case):
    options, _ = CASES[case]
    model = random_linear(inputs=2, outputs=2) if options is None else random_prssm(**options)
    if case == "linear":
        model.noises_ = FOUND
    elif case == "mean":
        model.filter_ = FilterMembers.equal(model.mixture_.models, FOUND)
    elif case in ("beside", "unheard"):
        model.filter_ = with_others(options, heard=case == "beside")
    return model


def with_others(options, *, heard):
    """Members for the filters alone, whose process noise has a shape and no colour."""
    models = random_prssm(**options, members=3, seed=1).mixture_.models
    states = models.transition.log_process_std.shape[1]
    root = np.random.default_rng(2).normal(size=(3, states, states))
    noises = (NoiseFactors(process=0.2, sensor=0.1),) * 3
    beside = Beside("x", models, noises, root @ root.swapaxes(1, 2))
    return FilterMembers((FOUND, FOUND), (heard, False), beside)


@pytest.fixture(scope="module", params=list(CASES))
def case(request, tmp_path_factory):
    """A model and its compiled code: (model, description, library)."""
    model = model_of(request.param)
    description = describe(model)
    folder = tmp_path_factory.mktemp("c99")
    flags = ("-O1", *WARNINGS)
    library = CLibrary(description, folder, flags, **CASES[request.param][1])
    return model, description, library


def near(found, expected, case):
    """In units of the outputs' deviations."""
    model, _, library = case
    unit = model.scaler_.y_std
    atol = TOLERANCE[library.settings.precision]
    np.testing.assert_allclose(found / unit, expected / unit, rtol=0, atol=atol)


def test_a_free_run_is_the_reference_run(case):
    model, description, library = case
    u, y = record_for(model)
    gappy = [np.array(y) for _ in range(3)]
    for given, rows in zip(gappy, ([0], [1], [1, 2]), strict=True):
        given[rows, 0] = np.nan
    for first in (y, *gappy, np.full_like(y, np.nan), None):
        expected = run(description, u, first, library.made.draws)
        mean, std = library.run(u, first)
        near(mean, expected.mean, case)
        if expected.std is not None:
            near(std, expected.std, case)


@pytest.mark.filterwarnings("ignore:.*outside of what the model has seen")
def test_it_is_the_models_simulation_with_the_same_draws(case):
    model, description, library = case
    if library.made.draws is None or library.settings.precision == "single":
        pytest.skip("the mean alone, or single precision: compared with the reference")
    compiles = description.method == "prssm" and why_not(model.mixture_.models) is not None
    if compiles and not description.neurons:
        pytest.skip("JAX would compile: test_description compares its reference with simulate")
    u, y = record_for(model)
    if description.method == "linear":
        expected = model.simulate(u, y)
        mean, std = library.run(u, y)
        near(mean, expected.mean, case)
        near(std, expected.std, case)
        return
    count = library.made.trajectories
    draws = drawing.of_simulate(description, len(u), count, seed=0)
    # First states and functions are tables in the code; those of the code's own seed.
    fixed = library.made.draws
    for mine, theirs in zip(fixed.first, draws.first, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    eps = np.concatenate(
        [
            [draws.step(member, row).T for row in range(len(u))]
            for member in range(len(description.members))
        ],
        axis=1,
    )
    expected = model.simulate(u, y, samples=count, seed=0)
    mean, std = library.run(u, y, eps)
    unit = model.scaler_.y_std
    np.testing.assert_allclose(mean / unit, expected.mean / unit, rtol=0, atol=1e-12)
    np.testing.assert_allclose(std / unit, expected.std / unit, rtol=0, atol=1e-12)


def test_an_equilibrium_stays_where_it_is(case):
    model, description, library = case
    u = record_for(model)[0][:1]
    assert library.call("prssm_init_steady", library.state, library.array(u[0])) == 0
    scaled = description.scaled_inputs(u[0])
    atol = 1e-10 if library.settings.precision == "double" else 1e-4
    for index, member in enumerate(description.members):
        x = library.x[index * len(library.x) // len(description.members)].astype(np.float64)
        moved = run_mean(description, member, x, scaled)
        np.testing.assert_allclose(moved, x, rtol=0, atol=atol * (1 + np.abs(x).max()))


def run_mean(description, member, x, u):
    weights = member.alpha[..., None]
    return step(description, member, x[:, None], u, weights=weights, eps=None)[:, 0]


def test_a_linear_model_rests_where_algebra_says(tmp_path):
    model = random_linear(inputs=2, outputs=1)
    library = CLibrary(describe(model), tmp_path, ("-O0",), samples=0)
    u = record_for(model)[0][0]
    assert library.call("prssm_init_steady", library.state, u) == 0
    scaled = (u - model.scaler_.u_mean) / model.scaler_.u_std
    expected = np.linalg.solve(np.eye(3) - model.A_, model.B_ @ scaled)
    np.testing.assert_allclose(library.x[0], expected, rtol=1e-9)
    broken = np.array([np.nan, 0.0])
    assert library.call("prssm_init_steady", library.state, broken) == 2


def test_without_an_equilibrium_it_starts_from_the_prior(tmp_path):
    """An integrator has none under an input other than zero."""
    model = random_linear(states=1)
    model._set(replace(model.system_, A=np.ones((1, 1))), model.start_)
    library = CLibrary(describe(model), tmp_path, ("-O0",), samples=2)
    assert library.call("prssm_init_steady", library.state, np.array([9.0])) == 1
    found = np.array(library.state)
    library.call("prssm_init_prior", library.state)
    np.testing.assert_array_equal(found, library.state)


def test_slopes_of_the_output_are_differences(case):
    model, description, library = case
    if not description.inputs or library.settings.precision == "single":
        pytest.skip("needs an input and digits")
    u, y = record_for(model)
    library.run(u[:5], y)
    sizes = len(description.outputs), len(description.inputs)
    d_mean = np.zeros(sizes)
    d_std = np.full(sizes, np.nan)
    library.call("prssm_output_slope", library.state, u[5], d_mean, d_std)
    for i in range(sizes[1]):
        h = 1e-5 * model.scaler_.u_std[i]
        ends = []
        for sign in (1.0, -1.0):
            moved = np.array(u[5])
            moved[i] += sign * h
            mean = np.zeros(sizes[0])
            std = np.full(sizes[0], np.nan)
            library.call("prssm_output", library.state, moved, mean, std)
            ends.append((mean, std))
        for found, part in ((d_mean, 0), (d_std, 1)):
            expected = (ends[0][part] - ends[1][part]) / (2 * h)
            if not np.isnan(expected).any():
                unit = model.scaler_.y_std / model.scaler_.u_std[i]
                np.testing.assert_allclose(found[:, i] / unit, expected / unit, atol=1e-8)


def test_the_filter_is_the_reference_filter(case):
    model, description, library = case
    u, y = record_for(model, rows=12)
    y[3] = np.nan
    y[5, 0] = np.nan
    single = library.settings.precision == "single"
    close = {"rtol": 1e-2, "atol": 1e-2} if single else {"rtol": 1e-7, "atol": 1e-9}
    library.call("prssm_filter_recognise", library.filter, library.array(u), library.array(y))
    now = filtering.start(description, u, y)
    for row in range(len(u)):
        inputs = library.array(u[row])
        library.call("prssm_update", library.filter, inputs, library.array(y[row]))
        now = filtering.update(description, now, u[row], y[row])
        mean, covariance, log_weight = library.beliefs
        np.testing.assert_allclose(mean, [belief.mean for belief in now.beliefs], **close)
        np.testing.assert_allclose(
            covariance, [belief.covariance for belief in now.beliefs], **close
        )
        heard = now.log_weight > -np.inf
        np.testing.assert_allclose(log_weight[heard], now.log_weight[heard], **close)
        assert (log_weight[~heard] < -1e29).all()
        shown = np.zeros((2, len(description.outputs)), library.kind)
        library.call("prssm_filter_output", library.filter, inputs, shown[0], shown[1])
        unit = model.scaler_.y_std
        for found, expected in zip(shown, filtering.output(description, now, u[row]), strict=True):
            np.testing.assert_allclose(found / unit, expected / unit, **close)
        library.call("prssm_predict", library.filter, inputs)
        now = filtering.predict(description, now, u[row])


def test_a_model_without_neurons_has_no_code_for_them():
    for precision in ("double", "single"):
        settings = ExportSettings(samples=4, precision=precision)
        source = sources(describe(random_prssm()), settings).files["prssm_model.c"]
        assert "neuron" not in source.lower()


def test_trajectories_start_from_what_the_filter_knows(tmp_path):
    """With exact draws their mean and covariance are the filter's."""
    model = random_linear(states=3)
    description = describe(model)
    library = CLibrary(description, tmp_path, ("-O0",), samples=2)
    u, y = record_for(model)
    library.call("prssm_filter_init", library.filter)
    for row in range(3):
        library.call("prssm_update", library.filter, u[row], y[row])
        library.call("prssm_predict", library.filter, u[row])
    library.call("prssm_init_filtered", library.state, library.filter)
    mean, covariance, _ = library.beliefs
    np.testing.assert_allclose(library.x.mean(axis=0), mean[0, :3], rtol=1e-9)
    np.testing.assert_allclose(np.cov(library.x.T), covariance[0, :3, :3], atol=1e-9)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_warning_and_the_self_test_passes(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    model = random_prssm(inputs=2)
    model.output_names_ = ('a "quoted" */ name\n??/',)
    model.input_names_ = ("int", "in/*t")
    folder = write(describe(model), tmp_path / "out", ExportSettings(samples=4))
    words = [compiler, "-std=c99", "-O2", *WARNINGS, "prssm_model.c", SELFTEST, "-lm", "-o", "t"]
    subprocess.run(words, cwd=folder, check=True)
    done = subprocess.run([folder / "t"], capture_output=True, text=True, check=True)
    assert "microseconds" in done.stdout
    header = (folder / "prssm_model.h").read_text()
    assert "A step took" in header
    assert "on the stack" in header
    assert "#define PRSSM_INPUT_int_2 0" in header


def test_the_self_test_finds_a_wrong_number(tmp_path):
    description = describe(random_prssm())
    settings = ExportSettings(samples=0)
    made = sources(description, settings)
    files = {**made.files, SELFTEST: selftest(description, settings, made)}
    source = files["prssm_model.c"]
    at = source.index("Y_MEAN[1]")
    place = source.index("{", at) + 1
    files["prssm_model.c"] = source[:place] + "1.0 + " + source[place:]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    words = ["gcc", "-std=c99", "-O1", "prssm_model.c", SELFTEST, "-lm", "-o", "t"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "t"], capture_output=True, check=False).returncode == 1


def test_without_a_compiler_the_header_says_so(monkeypatch):
    monkeypatch.setattr("prssm.export.c99.compiler._NAMES", ())
    monkeypatch.delenv("CC", raising=False)
    files = c_files(describe(random_prssm()), ExportSettings(samples=0))
    assert "not measured: no C compiler" in files["prssm_model.h"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(OptionError, match="expected the name of a folder"):
        write(describe(random_prssm()), tmp_path / "out", ExportSettings(samples=0))
    assert (tmp_path / "out").read_text() == "mine"
