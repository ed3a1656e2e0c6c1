"""FMUs are valid, run in FMPy, and compute what the model does."""

import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c_library import WARNINGS
from fitted_models import random_linear, random_prssm, record_for

import prssm
from prssm.export import draws as drawing
from prssm.export.describing import describe
from prssm.export.reference import run

fmpy = pytest.importorskip("fmpy", reason="needs the extra fmu")
STEP = 0.1
FAILS = r"[Ee]rror|status"
HOSTILE = ('level "x" <a>&\n]]>', "int", "level_std", "a/*b\x00")
BOTH = pytest.mark.parametrize("version", [2, 3])


def make(model, folder, version, samples=6):
    return prssm.export(model, to=f"fmu{version}", out=folder / "plant.fmu", samples=samples)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """One model with names of all kinds and with neurons, and its two FMUs."""
    model = random_prssm(inputs=2, outputs=2, seen=True, neurons=3)
    model.output_names_ = HOSTILE[:2]
    model.input_names_ = HOSTILE[2:]
    paths = {v: make(model, tmp_path_factory.mktemp(f"fmu{v}"), v) for v in (2, 3)}
    return model, paths


class Slave:
    """An instance in FMPy with the variables by name; messages of the FMU are kept."""

    def __init__(self, path: Path) -> None:
        self.told = fmpy.read_model_description(str(path), validate=True)
        self.folder = fmpy.extract(str(path))
        self.messages = []
        self.version = int(self.told.fmiVersion[0])
        kind = {2: fmpy.fmi2.FMU2Slave, 3: fmpy.fmi3.FMU3Slave}[self.version]
        self.fmu = kind(
            guid=self.told.guid,
            unzipDirectory=self.folder,
            modelIdentifier=self.told.coSimulation.modelIdentifier,
            instanceName="plant",
        )
        self.references = {one.name: one.valueReference for one in self.told.modelVariables}
        options = {} if self.version == 2 else {"logMessage": self._log}
        if self.version == 2:
            options = {"callbacks": self._callbacks()}
        self.fmu.instantiate(**options)

    def _callbacks(self):
        fmi2 = fmpy.fmi2
        functions = fmi2.fmi2CallbackFunctions()
        functions.logger = fmi2.fmi2CallbackLoggerTYPE(
            lambda env, name, status, category, message: self.messages.append(message)
        )
        functions.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
        functions.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
        return functions

    def _log(self, environment, status, category, message):
        self.messages.append(message)

    def start(self, way=None, **values):
        if way is not None:
            self.set_integer("start", way)
        for name, value in values.items():
            self.set(name, value)
        if self.version == 2:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def set(self, name, value):
        setter = self.fmu.setReal if self.version == 2 else self.fmu.setFloat64
        setter([self.references[name]], [value])

    def set_integer(self, name, value):
        setter = self.fmu.setInteger if self.version == 2 else self.fmu.setInt32
        setter([self.references[name]], [value])

    def get(self, *names):
        getter = self.fmu.getReal if self.version == 2 else self.fmu.getFloat64
        return np.array(getter([self.references[name] for name in names]))

    def step(self, at, size=STEP):
        self.fmu.doStep(currentCommunicationPoint=at, communicationStepSize=size)

    def close(self):
        self.fmu.freeInstance()


@pytest.fixture
def slave():
    """Makes instances, and frees them in the end."""
    made = []

    def new(path):
        made.append(Slave(path))
        return made[-1]

    yield new
    for one in made:
        one.close()


def outputs_of(model):
    columns = describe(model).outputs
    return [column.identifier for column in columns], [f"{c.identifier}_std" for c in columns]


def started_from_samples(one, model, u, y):
    description = describe(model)
    for columns, values in ((description.inputs, u), (description.outputs, y)):
        for row in range(description.window):
            for column, value in zip(columns, values[row], strict=True):
                one.set(f"first.{column.identifier}[{row + 1}]", value)
    one.start(way=2, **dict(zip([c.identifier for c in description.inputs], u[0], strict=True)))


@BOTH
def test_it_is_valid_for_fmpy(exported, version):
    from fmpy.validation import validate_fmu

    _, paths = exported
    assert validate_fmu(str(paths[version])) == []
    told = fmpy.read_model_description(str(paths[version]), validate=True)
    words = [one.description for one in told.modelVariables if one.causality == "output"]
    assert words[0].startswith('level "x" <a>& ]]> (usually')


@BOTH
def test_variables_have_the_units_of_the_data(tmp_path, version):
    model = random_linear(inputs=2)
    inputs = model.input_names_
    (output,) = model.output_names_
    units = {inputs[0]: "s", output: 'l/min <"&\n'}  # a unit of time, and one that XML must escape
    model.domain_ = replace(model.domain_, units=units)
    path = make(model, tmp_path, version)
    told = fmpy.read_model_description(str(path), validate=True)
    found = {one.name: one.unit for one in told.modelVariables}
    assert found["time"] == "s"
    names = [column.identifier for column in (*describe(model).inputs, *describe(model).outputs)]
    assert [found[name] for name in names] == ["s", None, 'l/min <"&']
    assert found[f"{names[2]}_std"] == found[f"first.{names[2]}[1]"] == 'l/min <"&'
    defined = {unit.name: unit.baseUnit for unit in told.unitDefinitions}
    assert list(defined) == ["s", 'l/min <"&']
    assert defined["s"].s == 1
    assert defined['l/min <"&'] is None


@BOTH
def test_it_is_valid_for_a_second_reader(exported, caplog, version):
    toolbox = pytest.importorskip("fmu_manipulation_toolbox.operations")
    checker = pytest.importorskip("fmu_manipulation_toolbox.checker")
    fmu = toolbox.FMU(str(exported[1][version]))
    generic = checker.OperationGenericCheck()
    fmu.apply_operation(generic)
    fmu.apply_operation(checker.OperationSemanticCheck())
    assert generic.compliant_with_version == f"{version}.0"
    assert [one.message for one in caplog.records if one.levelname == "ERROR"] == []


@BOTH
def test_the_run_is_the_reference_run(exported, slave, version):
    """From the first samples, with inputs that change at every step."""
    model, paths = exported
    u, y = record_for(model, rows=15)
    description = describe(model)
    expected = run(description, u, y, drawing.fixed(description, 6))
    one = slave(paths[version])
    started_from_samples(one, model, u, y)
    means, stds = outputs_of(model)
    for row in range(len(u)):
        for column, value in zip(description.inputs, u[row], strict=True):
            one.set(column.identifier, value)
        np.testing.assert_allclose(one.get(*means), expected.mean[row], rtol=1e-10)
        np.testing.assert_allclose(one.get(*stds), expected.std[row], rtol=1e-10)
        one.step(row * STEP)
    assert one.messages == []


@BOTH
def test_fmpy_simulates_it(exported, version):
    model, paths = exported
    means, _ = outputs_of(model)
    result = fmpy.simulate_fmu(
        str(paths[version]), stop_time=1.0, output_interval=STEP, start_values={"start": 1}
    )
    description = describe(model)
    u = np.tile(model.scaler_.u_mean, (11, 1))
    expected = run(description, u, None, drawing.fixed(description, 6))
    np.testing.assert_allclose(result[means[0]], expected.mean[:, 0], rtol=1e-9)


@BOTH
def test_a_longer_communication_step_is_several_steps(exported, slave, version):
    model, paths = exported
    means, _ = outputs_of(model)
    short, long = (slave(paths[version]) for _ in range(2))
    for one in (short, long):
        one.start(way=1)
    for row in range(3):
        short.step(row * STEP)
    long.step(0.0, 3 * STEP)
    np.testing.assert_array_equal(short.get(*means), long.get(*means))
    assert long.get("time")[0] == pytest.approx(3 * STEP)


@BOTH
@pytest.mark.parametrize("size", [0.5 * STEP, 1.5 * STEP, 0.0, -STEP])
def test_another_communication_step_is_an_error_that_says_why(exported, slave, version, size):
    one = slave(exported[1][version])
    one.start()
    with pytest.raises(Exception, match=FAILS):
        one.step(0.0, size)
    assert "expected a multiple of the model's step of 0.1 s" in str(one.messages[-1])


@BOTH
def test_a_state_is_kept_written_and_taken_back(exported, slave, version):
    model, paths = exported
    means, stds = outputs_of(model)
    one = slave(paths[version])
    one.start(way=1)
    one.step(0.0)
    kept = one.fmu.getFMUstate() if version == 2 else one.fmu.getFMUState()
    text = one.fmu.serializeFMUstate(kept) if version == 2 else one.fmu.serializeFMUState(kept)
    one.step(STEP)
    later = one.get(*means, *stds)
    other = slave(paths[version])
    other.start(way=1)
    if version == 2:
        one.fmu.setFMUstate(kept)
        other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(text))
        one.fmu.freeFMUstate(kept)
    else:
        one.fmu.setFMUState(kept)
        other.fmu.setFMUState(other.fmu.deserializeFMUState(text))
        one.fmu.freeFMUState(kept)
    for again in (one, other):
        again.step(STEP)
        np.testing.assert_array_equal(again.get(*means, *stds), later)


@BOTH
def test_directional_derivatives_are_differences(exported, slave, version):
    model, paths = exported
    means, stds = outputs_of(model)
    names = [column.identifier for column in describe(model).inputs]
    one = slave(paths[version])
    one.start(way=1)
    one.step(0.0)
    unknowns = [one.references[name] for name in (*means, *stds)]
    knowns = [one.references[name] for name in names]
    seed = np.array([0.3, -0.7])
    found = np.array(one.fmu.getDirectionalDerivative(unknowns, knowns, list(seed)))
    here = one.get(*names)
    ends = []
    h = 1e-5
    for sign in (1.0, -1.0):
        for name, value, direction in zip(names, here, seed, strict=True):
            one.set(name, value + sign * h * direction)
        ends.append(one.get(*means, *stds))
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * h), atol=1e-7)
    if version == 3:
        weights = [1.0, 2.0, -1.0, 0.5]
        adjoint = one.fmu.getAdjointDerivative(unknowns, knowns, weights, 2)
        assert np.dot(adjoint, seed) == pytest.approx(np.dot(weights, found), rel=1e-6)


def test_it_starts_at_rest_and_again_after_a_reset(slave, tmp_path):
    model = random_linear(inputs=1)
    one = slave(make(model, tmp_path, version=2))
    (y,), _ = outputs_of(model)
    one.start(u1=1.7)
    rest = one.get(y)
    one.step(0.0)
    np.testing.assert_allclose(one.get(y), rest, rtol=1e-9)
    one.fmu.reset()
    one.start()
    assert abs(one.get(y) - rest) > 1e-3


@BOTH
def test_mistakes_are_errors_with_a_reason(exported, slave, version):
    one = slave(exported[1][version])
    first = describe(exported[0]).inputs[0].identifier
    for name, value, said in (
        (first, float("nan"), "expected a finite number"),
        ("time", 1.0, "expected an input"),
    ):
        with pytest.raises(Exception, match=FAILS):
            one.set(name, value)
        assert said in str(one.messages[-1])
    with pytest.raises(Exception, match=FAILS):
        one.set_integer("start", 7)
    with pytest.raises(Exception, match=FAILS):
        one.step(0.0)
    assert "initialized" in str(one.messages[-1])


def test_a_model_without_inputs_or_recognition(slave, tmp_path):
    model = random_prssm(inputs=0, scheme="full")
    one = slave(make(model, tmp_path, version=3, samples=0))
    one.start(way=1)
    expected = run(describe(model), np.zeros((3, 0)))
    for row in range(3):
        np.testing.assert_allclose(one.get("y1"), expected.mean[row], rtol=1e-10)
        one.step(row * STEP)
    assert "y1_std" not in one.references


@BOTH
def test_its_sources_compile_without_a_warning_and_name_nothing_else(exported, tmp_path, version):
    with zipfile.ZipFile(exported[1][version]) as archive:
        archive.extractall(tmp_path)
    words = ["gcc", "-std=c99", *WARNINGS, "-fsyntax-only", f"fmi{version}.c"]
    subprocess.run(words, cwd=tmp_path / "sources", check=True)
    (library,) = (tmp_path / "binaries").rglob("plant.*")
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    assert "python" not in needed


def test_refusals(tmp_path, monkeypatch):
    with pytest.raises(prssm.OptionError, match=r"ends in \.fmu"):
        prssm.export(random_prssm(), to="fmu2", out=tmp_path / "plant.zip")
    monkeypatch.setattr("prssm.export.c99.compiler._NAMES", ())
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(prssm.PrssmError, match="no C compiler was found; install"):
        prssm.export(random_prssm(), to="fmu2", out=tmp_path / "plant.fmu")
    assert list(tmp_path.iterdir()) == []
