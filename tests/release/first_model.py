"""Runs inside of the clean environment: a small fit and a free run by the native engine.

The first line printed is where the native library lies.
"""

from importlib.metadata import version

import numpy as np

import prssm
from prssm.dynamics.engines.native import build, library
from prssm.dynamics.networks import equations
from prssm.dynamics.networks.system import Shape


def main() -> None:
    reason = library.why_not()
    assert reason is None, reason
    assert build.compiler() is None, build.compiler()
    print(build.library_path())
    print(f"prssm {prssm.__version__}, jaxlib {version('jaxlib')}: {library.description()}")
    train, test = prssm.datasets.load("drives_sim")
    # an engine that cannot run here is refused, so this fit is the native engine's
    model = prssm.PRSSM("paper", iterations=50, restarts=1, engine="native").fit(train)
    model.save("first.prssm")
    again = prssm.load("first.prssm")
    run = again.simulate(test)
    assert np.isfinite(run.mean).all()
    np.testing.assert_allclose(run.mean, model.simulate(test).mean, rtol=1e-5, atol=1e-6)
    print(
        f"a small model's free run over {len(test)} rows: RMSE {again.evaluate(test)['rmse']:.3f}"
    )
    print(f"a network runs in compiled code, within {difference_of_a_network():.0e} of NumPy")


def difference_of_a_network() -> float:
    """The largest difference between a compiled free run and the same in NumPy."""
    assert equations.trainer_why_not() is None, equations.trainer_why_not()
    shape = Shape(states=2, inputs=1, outputs=1, neurons=3)
    row = np.random.default_rng(0).normal(scale=0.3, size=shape.size)
    u = np.sin(np.arange(100.0))[:, None]
    compiled = equations.free_run(row, shape, u)
    plain = equations.plain_run(row, shape, u)
    assert compiled is not None
    assert plain is not None
    difference = float(np.abs(compiled[1] - plain[1]).max())
    assert difference < 1e-9, difference
    return difference


if __name__ == "__main__":
    main()
