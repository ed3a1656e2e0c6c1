"""How long one update of an observer takes, in microseconds and relative to a simple yardstick.

    python benchmarks/observer.py                    # a model of the default preset's size
    python benchmarks/observer.py model.prssm        # a saved model
    python benchmarks/observer.py --budget 200       # exit code 1 where the median is slower

The yardstick is a product of two 100 x 100 matrices in NumPy on one core: the ratio says something
on a busy or a slow machine too.
"""

import argparse
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, as in a controller
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import prssm
from prssm.data.scaling import Scaler
from prssm.inference.noise_search import NoiseFactors
from prssm.inference.observer import Names, Observer
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.filtering.space import space_of
from prssm.models.prssm.starts.start import blank_model

UPDATES = 3000
MEMBERS = 8
LATENT_DIM = 6


def default_observer(members: int, inducing: int, seed: int = 0, *, neurons: int = 0) -> Observer:
    """An observer of a mixture as the default preset makes it, with parameters drawn at random."""
    import jax

    config = DEFAULT.replace(
        latent_dim=LATENT_DIM,
        inducing=inducing,
        horizon=100,
        iterations=0,
        folds=0,
        neurons=neurons,
    )
    rng = np.random.default_rng(seed)
    like = blank_model(config, 1, 1)
    models = jax.tree.map(lambda leaf: 0.1 * rng.standard_normal((members, *np.shape(leaf))), like)
    noises = NoiseFactors(process=0.03, sensor=0.3, coloured=0.5, memory=0.8, second=0.5)
    space = space_of(models, config.recognition_window, noises)
    one = np.ones(1)
    names = Names(("u",), ("y",), 0.1)
    return Observer(space, Scaler(np.zeros(1), one, np.zeros(1), y_std=one), names)


def median_microseconds(observer: Observer, updates: int = UPDATES, seed: int = 0) -> float:
    """Of one update, over samples that are drawn beforehand."""
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((updates, len(observer._names.inputs)))
    outputs = 0.1 * rng.standard_normal((updates, len(observer._names.outputs)))
    took = []
    for u, y in zip(inputs, outputs, strict=True):
        begun = time.perf_counter()
        observer.update(u, y)
        took.append(time.perf_counter() - begun)
    return 1e6 * float(np.median(took))


def yardstick_microseconds(repeats: int = 2000) -> float:
    """Of the matrix product."""
    a = np.random.default_rng(0).standard_normal((100, 100))
    took = []
    for _ in range(repeats):
        begun = time.perf_counter()
        a @ a
        took.append(time.perf_counter() - begun)
    return 1e6 * float(np.median(took))


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="a saved model")
    parser.add_argument("--budget", type=float, help="most microseconds of the median")
    given = parser.parse_args(words)
    if given.model:
        cases = {given.model: prssm.load(given.model).observer()}
    else:
        cases = {
            f"{MEMBERS} members, P {inducing}": default_observer(MEMBERS, inducing)
            for inducing in (10, 20)
        }
        cases["4 members, P 10, 8 neurons"] = default_observer(4, 10, neurons=8)
    yardstick = yardstick_microseconds()
    print(f"{'model':32} {'us an update':>12} {'yardsticks':>10}   (one is {yardstick:.1f} us)")
    slowest = 0.0
    for name, observer in cases.items():
        median = median_microseconds(observer)
        slowest = max(slowest, median)
        print(f"{name:32} {median:12.1f} {median / yardstick:10.1f}")
    return int(given.budget is not None and slowest > given.budget)


if __name__ == "__main__":
    sys.exit(main())
