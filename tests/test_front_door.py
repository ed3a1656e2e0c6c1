"""`import prssm`: every public name is there, is typed, and is loaded when it is first used."""

import ast
import inspect
import os
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

import prssm
from prssm.foundation import errors

SOURCE = Path(prssm.__file__)
RIGHT = """\
import prssm

log: prssm.Record = prssm.read("log.csv", inputs=["valve"], outputs=["pressure"], time="t")
logs: list[prssm.Record] = prssm.read(["a.csv", "b.mat"])
for model in (prssm.PRSSM(latent_dim=3), prssm.REVARB(layers=2), prssm.LinearSSM()):
    model.fit(log[:100])
run: prssm.Prediction = prssm.PRSSM("paper").fit(logs).simulate(log, seed=1)
runs: list[prssm.Prediction] = prssm.GPNARX().fit(log).simulate((log, log))
lower, upper = run.interval(0.9)
scores: dict[str, float] = prssm.Constant().fit(log).evaluate(logs)
try:
    again = prssm.load(prssm.NIGP().fit(log).save("m.prssm"))
    print(again.name, again.simulate(log).mean)
except prssm.DataError as error:
    print(error)
except (prssm.PrssmError, prssm.TrainingInterrupted):
    pass
stream: prssm.Stream = prssm.convert("log.csv", "folder", inputs="u")
best = prssm.search(logs, {"seed": "0..3"}, method="constant", folds=2).best["options"]
print(prssm.export(again, to="c", out="folder", samples=0).name)
train, test = prssm.datasets.load("drives", folder=None)
print(prssm.__version__, issubclass(prssm.PrssmWarning, UserWarning))
"""
WRONG = """\
import prssm

prssm.PRSMM()
prssm.read("log.csv", imputs=["valve"])
prssm.Constant().fit(prssm.read("log.csv")).simulate(prssm.read("log.csv")).means
run: prssm.Prediction = prssm.Constant().simulate([prssm.read("log.csv")])
"""


def type_checked(folder: Path, **scripts: str) -> list[str]:
    """What mypy says about a user's scripts, a line each. Other packages are left out: what is
    checked is ours, and their stubs take long to read.
    """
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "mypy.ini").write_text(
        "[mypy]\nfollow_imports = silent\nignore_missing_imports = true\nno_site_packages = true\n"
        "no_implicit_reexport = true\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *(f"{name}.py" for name in scripts)],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(SOURCE.parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def test_a_users_script_is_checked_by_its_types(tmp_path: Path) -> None:
    said = type_checked(tmp_path, right=RIGHT, wrong=WRONG)
    assert [line for line in said if line.startswith("right.py")] == []
    assert {line.split(":")[1] for line in said} == {"3", "4", "5", "6"}
    assert 'no attribute "PRSMM"' in " ".join(said)
    # without it a checker ignores the types of an installed package
    assert (SOURCE.parent / "py.typed").exists()


def test_what_editors_see_is_what_is_loaded() -> None:
    """The imports that type checkers read, the table by which names are loaded, and `__all__`."""
    (block,) = [
        node
        for node in ast.parse(SOURCE.read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {
        alias.asname or alias.name: (statement.module, alias.name)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen.pop("datasets") == ("prssm.data.sets", "catalogue")
    homes = dict(prssm._HOMES)
    assert homes.pop("datasets") == "prssm.data.sets.catalogue"
    assert seen == {name: (module, name) for name, module in homes.items()}
    assert sorted(prssm.__all__) == sorted(["__version__", *prssm._HOMES])
    for name in prssm.__all__:
        assert getattr(prssm, name) is not None


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'prssm' has no attribute 'PRSMM'"):
        prssm.PRSMM  # noqa: B018 - looked up for its error


def test_every_error_is_public() -> None:
    kinds = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.PrssmError | errors.PrssmWarning)
    }
    assert kinds <= set(prssm.__all__)


def test_a_warning_of_ours_can_be_silenced_by_its_class() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prssm.PrssmWarning)
        warnings.warn("a note", prssm.PrssmWarning, stacklevel=1)


def test_the_import_loads_nothing_heavy() -> None:
    code = "import sys, prssm; dir(prssm); prssm.DataError; print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "jax", "polars", "scipy"} & set(ast.literal_eval(done.stdout))


def test_the_package_takes_its_version_from_the_one_place() -> None:
    settings = tomllib.loads((SOURCE.parents[2] / "pyproject.toml").read_text())
    path = SOURCE.parents[2] / settings["tool"]["hatch"]["version"]["path"]
    assert f'"{prssm.__version__}"' in path.read_text()
