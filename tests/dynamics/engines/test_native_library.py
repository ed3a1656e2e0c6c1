"""What the native engine refuses, and what happens where it is not there."""

import re
import shutil
from collections import namedtuple
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollout_cases import make_inputs, make_transition, need_native_library

from prssm.cli.main import main
from prssm.dynamics.engines import choice
from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.native import build, engine, library
from prssm.dynamics.transition import Dynamics, Mean, Transition
from prssm.foundation.errors import DataError, OptionError
from prssm.foundation.precision import double_precision

condition = jax.jit(Transition.condition)
AllArrays = namedtuple("AllArrays", (*engine.Arrays._fields, *engine.NeuronArrays._fields))


@pytest.fixture(autouse=True, scope="module")
def _library():
    need_native_library()


def dynamics_and_inputs():
    return condition(make_transition(2, 1, 5)), *make_inputs(2, 1, 4, batch=3)


def misfit_network():
    """Neurons that do not see the input."""
    mean = make_transition(2, 1, 5, mean="network").mean
    return eqx.tree_at(lambda m: m.neuron_weight, mean, mean.neuron_weight[:, :2])


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, x1, u, eps: (d, x1[:1], u, eps), r"x1: expected shape \(2, 3\), got \(1, 3\)"),
        (
            lambda d, x1, u, eps: (d, x1, u[:3], eps),
            r"u: expected shape \(4, 1, 3\), got \(3, 1, 3\)",
        ),
        (
            lambda d, x1, u, eps: (d, x1, u, eps[:, :, :2]),
            r"x1: expected shape \(2, 2\), got \(2, 3\)",
        ),
        (lambda d, x1, u, eps: (d, x1, u[:0], eps[:0]), "eps: expected at least one step"),
        (
            lambda d, x1, u, eps: (d, x1.astype(int), u, eps),
            "x1: expected float32 or float64 like the others, got int64",
        ),
        (
            lambda d, x1, u, eps: (
                Dynamics(d.gp, d.mean, d.process_var.astype(jnp.float32)),
                x1,
                u,
                eps,
            ),
            "process_var: expected float32 or float64 like the others, got float32",
        ),
        (
            lambda d, x1, u, eps: (Dynamics(d.gp, d.mean, d.process_var[:1]), x1, u, eps),
            r"process_var: expected shape \(2,\)",
        ),
        (
            lambda d, x1, u, eps: (Dynamics(d.gp, misfit_network(), d.process_var), x1, u, eps),
            r"neuron_weight: expected shape \(5, 3\), got \(5, 2\)",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_named(change, message):
    with double_precision(), pytest.raises(DataError, match=message):
        rollout(*change(*dynamics_and_inputs()), "native")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a._replace(u=a.u[:, :, :2]), r"u: expected \(4, 1, 3\), got \(4, 1, 2\)"),
        (
            lambda a: a._replace(white=a.white[:, :4]),
            r"white: expected \(2, 5, 5\), got \(2, 4, 5\)",
        ),
        (lambda a: a._replace(zeta=a.zeta[:1]), r"precision: expected \(1, 3\), got \(2, 3\)"),
        (lambda a: a._replace(eps=a.eps[0]), r"eps: expected \(T, Dx, B\), got \(2, 3\)"),
        (
            lambda a: a._replace(spread=a.spread[:, :3, :3]),
            r"spread: expected \(2, 5, 5\), got \(2, 3, 3\)",
        ),
        (lambda a: a._replace(bias=a.bias.astype(jnp.float32)), "bias: its type differs"),
        (lambda a: a._replace(x1=a.x1.astype(int)), "x1 or states: expected float32 or float64"),
        (lambda a: a._replace(x1=a.x1[0]), "x1 or states: too few axes"),
        (
            lambda a: a._replace(neuron_out=a.neuron_out[:1]),
            r"neuron_out: expected \(2, 4\), got \(1, 4\)",
        ),
        (lambda a: a[:5], "expected 15 or 16 arrays, got 5"),
        (lambda a: (*a, a.eps), "wrong number of arrays"),
    ],
)
def test_the_library_itself_refuses_what_does_not_fit(change, message):
    """As a last line of defence, past all checks in Python."""
    with double_precision():
        dynamics, x1, u, eps = dynamics_and_inputs()
        gp = dynamics.gp
        dx = len(x1)
        arrays = AllArrays(
            x1,
            u,
            eps,
            zeta=gp.zeta,
            precision=jnp.ones((dx, 3)),
            variance=jnp.ones(dx),
            white=gp.white,
            mean=gp.mean,
            spread=gp.spread,
            weight=jnp.ones((dx, 3)),
            bias=jnp.zeros(dx),
            process_var=dynamics.process_var,
            neuron_out=jnp.ones((dx, 4)),
            neuron_weight=jnp.ones((4, 3)),
            neuron_bias=jnp.ones(4),
        )
        result = jax.ShapeDtypeStruct(eps.shape, eps.dtype)
        call = jax.ffi.ffi_call(library.FORWARD, result)
        assert np.isfinite(call(*arrays)).all()
        with pytest.raises(Exception, match=message) as caught:
            jax.block_until_ready(call(*change(arrays)))
    assert "prssm native rollout" in str(caught.value)


class Bent(Mean):
    """A prior mean that is not affine."""

    def __call__(self, x, u):
        return jnp.tanh(x)


def cannot_run(case):
    dynamics = condition(
        make_transition(2, 1, 5, kernel="matern32" if case == "kernel" else "squared-exponential")
    )
    return Dynamics(dynamics.gp, Bent(), dynamics.process_var) if case == "mean" else dynamics


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("kernel", "squared-exponential kernel only, not Matern32"),
        ("mean", "affine prior means and neurons only, not Bent"),
    ],
)
def test_what_it_does_not_know_is_left_to_the_adjoint_or_refused(case, reason):
    with double_precision():
        dynamics = cannot_run(case)
        inputs = make_inputs(2, 1, 4, batch=3)
        np.testing.assert_array_equal(
            rollout(dynamics, *inputs, "auto"), rollout(dynamics, *inputs, "adjoint")
        )
        for name in ("native", "native-single"):
            with pytest.raises(OptionError, match=f"option engine: .* got '{name}': .*{reason}"):
                rollout(dynamics, *inputs, name)


@pytest.mark.usefixtures("unchecked_shapes")
def test_auto_is_native_where_it_can_be(monkeypatch):
    with double_precision():
        dynamics, *inputs = dynamics_and_inputs()
        told = choice.COMPILED["native"]._replace(
            run=lambda *_, eps, single: "single" if single else "double"
        )
        monkeypatch.setitem(choice.COMPILED, "native", told)
        assert rollout(dynamics, *inputs) == "double"
        assert rollout(dynamics, *inputs, "native-single") == "single"
        monkeypatch.setattr(engine, "_platform", lambda: "gpu")
        assert rollout(dynamics, *inputs).shape == inputs[2].shape


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ("nothing-of-that-name", r"not built, no C\+\+ compiler found"),
        ("true", "not built; python -m prssm.dynamics.engines.native.build builds it"),
    ],
)
def test_without_the_library_jax_computes_and_info_says_why(
    compiler, reason, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("CXX", compiler)
    monkeypatch.setattr(build, "library_path", lambda: tmp_path / "absent.so")
    with double_precision():
        dynamics, *inputs = dynamics_and_inputs()
        np.testing.assert_array_equal(
            rollout(dynamics, *inputs), rollout(dynamics, *inputs, "adjoint")
        )
        with pytest.raises(OptionError, match=reason):
            rollout(dynamics, *inputs, "native")
    assert main(["info"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(f"native engine .*not available, JAX computes instead: {reason}", shown)


def test_a_library_that_does_not_load_is_reported(monkeypatch, tmp_path):
    (tmp_path / "broken.so").write_bytes(b"not a library")
    monkeypatch.setattr(build, "library_path", lambda: tmp_path / "broken.so")
    assert "does not load" in library.why_not()


@pytest.mark.parametrize("here", [(0, 0), (99, 0)])
def test_a_library_for_another_jaxlib_is_not_registered(here, monkeypatch, tmp_path):
    """JAX would refuse to start with it."""
    copy = shutil.copy(build.library_path(), tmp_path / "other.so")
    monkeypatch.setattr(build, "library_path", lambda: Path(copy))
    monkeypatch.setattr(build, "interface_version", lambda: here)
    monkeypatch.setattr(jax.ffi, "register_ffi_target", lambda *_, **__: pytest.fail("registered"))
    assert "built for another jaxlib" in library.why_not()


def test_info_names_compiler_and_threads(monkeypatch, capsys):
    monkeypatch.setenv("PRSSM_THREADS", "3")
    assert "on 3 threads" in library.description()
    assert library.description().startswith(("built by GCC ", "built by Clang "))
    assert main(["info"]) == 0
    assert "built by" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("compiler", "reason"), [("no-such-thing", "no C.. compiler found"), ("false", "false: failed")]
)
def test_a_build_that_fails_says_why_and_leaves_what_there_was(compiler, reason, monkeypatch):
    monkeypatch.setenv("CXX", compiler)
    with pytest.raises(build.BuildError, match=reason):
        build.build()
    assert build.library_path().is_file()


@pytest.mark.parametrize("threads", ["two", "0", "-1", ""])
def test_a_number_of_threads_that_cannot_be_meant_is_refused(threads, monkeypatch):
    monkeypatch.setenv("PRSSM_THREADS", threads)
    with pytest.raises(
        OptionError, match="PRSSM_THREADS: expected a whole number of at least 1, got"
    ):
        library.threads()
