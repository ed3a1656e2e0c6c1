"""When the CUDA engine is taken, and what is said where it cannot be."""

import jax
import pytest
from rollout_cases import make_transition

from prssm.cli.main import main
from prssm.dynamics.engines import choice
from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.cuda import build, engine, library
from prssm.dynamics.engines.native import engine as native_engine
from prssm.foundation.errors import OptionError
from prssm.foundation.precision import double_precision


def dynamics(kernel="squared-exponential", points=3):
    with double_precision():
        return jax.eval_shape(make_transition(2, 1, points, kernel=kernel).condition)


# Which engine is taken is decided before arrays are looked at: none are handed in.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


@pytest.fixture
def on_a_gpu(monkeypatch):
    """JAX says it computes on a GPU, and a library for it is there."""
    monkeypatch.setattr(engine, "_platform", lambda: "gpu")
    monkeypatch.setattr(native_engine, "_platform", lambda: "gpu")
    monkeypatch.setattr(library, "why_not", lambda: None)
    monkeypatch.setattr(library, "slice_trajectories", lambda *_, **__: 1)


@pytest.mark.usefixtures("on_a_gpu")
@pytest.mark.parametrize(
    ("asked", "taken"),
    [("auto", "double"), ("auto-single", "single"), ("cuda", "double"), ("cuda-single", "single")],
)
def test_auto_takes_it_on_a_gpu(asked, taken, monkeypatch):
    told = choice.COMPILED["cuda"]._replace(
        run=lambda *_, eps, single: "single" if single else "double"
    )
    monkeypatch.setitem(choice.COMPILED, "cuda", told)
    assert rollout(dynamics(), None, None, eps=None, engine=asked) == taken


@pytest.mark.usefixtures("on_a_gpu")
def test_what_it_does_not_know_is_refused():
    with pytest.raises(
        OptionError, match="got 'cuda': it knows the squared-exponential kernel only, not Matern52"
    ):
        rollout(dynamics("matern52"), None, None, eps=None, engine="cuda")


@pytest.mark.usefixtures("on_a_gpu")
def test_too_little_shared_memory_is_said(monkeypatch):
    monkeypatch.setattr(library, "slice_trajectories", lambda *_, **__: 0)
    assert (
        engine.why_not(dynamics(points=30))
        == "30 inducing points need more shared memory than this GPU has"
    )


def test_on_a_cpu_it_is_refused():
    with pytest.raises(OptionError, match="got 'cuda': it runs on a GPU, JAX computes on the cpu"):
        rollout(dynamics(), None, None, eps=None, engine="cuda")


def test_a_library_that_is_not_built_is_told_apart_from_a_missing_compiler(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(build, "library_path", lambda: tmp_path / "b.so")
    assert library.load(tmp_path / "a.so").startswith("not built")
    monkeypatch.setattr(build, "cuda_compiler", lambda: None)
    assert "no CUDA compiler found" in library.why_not()
    assert main(["info"]) == 0
    assert "cuda engine not available: not built, no CUDA compiler found" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_library_that_does_not_load_is_reported(tmp_path):
    (tmp_path / "broken.so").write_bytes(b"not a library")
    assert "does not load" in library.load(tmp_path / "broken.so")


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [("no-such-thing", "no CUDA compiler found"), ("false", "false: failed")],
)
def test_a_build_that_fails_says_why(compiler, reason, monkeypatch):
    monkeypatch.setattr(
        build, "cuda_compiler", lambda: None if compiler == "no-such-thing" else compiler
    )
    with pytest.raises(build.BuildError, match=reason):
        build.build()
