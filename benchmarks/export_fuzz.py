"""How far exported code is from the model: random models of all sizes and scales, random inputs.

The disagreement of a case is the largest difference of mean or deviation over a free run, in units
of the output's deviation in training, divided by the largest output of the run where that is above
one. Beside it stands how far the model's own run moves in the same units when each of its numbers
changes by one unit in the last place: nobody can compute it more exactly than that.
"""

import copy
import warnings
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
from c_library import CLibrary
from fitted_models import random_linear, random_prssm, record_for

from prssm.export import draws as drawing
from prssm.export.describing import describe
from prssm.export.reference import run
from prssm.models.estimator import Estimator
from prssm.models.prssm.compiled import why_not
from prssm.models.prssm.estimator import PRSSM
from prssm.models.prssm.filtering.short_start import Firsts
from prssm.models.prssm.mixture import Mixture

ROWS = 25
_NUDGES = 3
_WITH_NEURONS = 0.4  # share of the models with a GP
_MOST_NEURONS = 32
KERNELS = ("squared-exponential", "matern32", "matern52")


@dataclass(frozen=True)
class Disagreement:
    """Of one case, in the units that the module tells."""

    case: str
    reference: float  # C and the NumPy reference, both with the code's own draws
    simulate: float | None  # C and `simulate`, with the same draws; none where JAX would compile
    rounding: float | None = None  # of the model itself; known where `simulate` is


def random_case(seed: int) -> tuple[str, Estimator]:
    """A model of random size, kind and scale, and its size in words."""
    rng = np.random.default_rng([seed, 11])
    sizes = {
        "states": int(rng.integers(1, 17)),
        "inputs": int(rng.integers(0, 4)),
        "outputs": int(rng.integers(1, 5)),
    }
    scale = float(10.0 ** rng.uniform(-8, 8))
    if rng.random() < 0.15:
        words = f"linear {sizes} scale {scale:.0e}"
        return words, random_linear(**sizes, seed=seed, scale=scale)
    options = {
        "points": int(rng.integers(1, 51)),
        "members": int(rng.integers(1, 4)),
        "draws": str(rng.choice(["step", "trajectory"])),
        "kernel": str(rng.choice(KERNELS, p=[0.7, 0.15, 0.15])),
        "shared_inducing": bool(rng.random() < 0.3),
        "inducing_covariance": str(rng.choice(["full", "diagonal"])),
        "signal_std": (signal_std := float(10.0 ** rng.uniform(-4, 0))),
        "lengthscale": float(10.0 ** rng.uniform(-0.5, 1.5)),
        "process_std": float(10.0 ** rng.uniform(-3, -0.5)),
        "z_std": float(10.0 ** rng.uniform(-3, 0)),
    }
    if rng.random() < _WITH_NEURONS:
        options["neurons"] = int(rng.integers(1, _MOST_NEURONS + 1))
    if options["inducing_covariance"] == "diagonal":  # not whitened: as small as the function is
        options["z_std"] *= 0.03 * signal_std
    model = random_prssm(**sizes, **options, seed=seed, scale=scale, seen=True)
    return f"{sizes} {options} scale {scale:.0e}", model


def disagreement(seed: int, folder: Path, flags: tuple[str, ...] = ("-O1",)) -> Disagreement:
    """Of the case with this seed, compiled in an empty folder."""
    words, model = random_case(seed)
    description = describe(model)
    u, y = record_for(model, rows=ROWS, seed=seed)
    y[1] = np.nan
    samples = 2 * len(description.members) + 1
    library = CLibrary(description, folder, flags, samples=samples)
    expected = run(description, u, y, library.made.draws)
    assert expected.std is not None
    unit = model.scaler_.y_std
    found = library.run(u, y)
    apart = _apart(found, (expected.mean, expected.std), unit)
    if not isinstance(model, PRSSM) or why_not(model.mixture_.models) is not None:
        return Disagreement(words, apart, None)
    count = library.made.trajectories
    draws = drawing.of_simulate(description, len(u), count, seed=0)
    members = range(len(description.members))
    noise = np.array(
        [np.concatenate([draws.step(m, row).T for m in members]) for row in range(len(u))]
    )
    with warnings.catch_warnings(action="ignore"):  # most runs leave what was seen
        theirs = _as_exported(model).simulate(u, y, samples=count, seed=0)
    found = library.run(u, y, noise)
    return Disagreement(
        words,
        apart,
        _apart(found, (theirs.mean, theirs.std), unit),
        _rounding(model, u, y, draws=draws),
    )


class _Recognised(Mixture):
    """Free runs from the recognised state, as exported code starts: networks would improve it."""

    def firsts(self, u: np.ndarray, y_start: np.ndarray) -> Firsts:
        return Firsts.apart(*self.first_states(u, y_start))


def _as_exported(model: PRSSM) -> PRSSM:
    found = copy.copy(model)
    whole = model.mixture_
    found.mixture_ = _Recognised(whole.models, whole.window, whole.draws, whole.engine)
    return found


def _rounding(model: PRSSM, u: np.ndarray, y: np.ndarray, *, draws: drawing.Draws) -> float:
    """How far the plain run moves when all parameters change by one unit in the last place."""
    rng = np.random.default_rng(0)
    moved = copy.copy(model)
    unit = model.scaler_.y_std
    base = run(describe(model), u, y, draws)
    assert base.std is not None
    worst = 0.0
    for _ in range(_NUDGES):
        models = jax.tree.map(
            lambda leaf: np.nextafter(leaf, np.inf * rng.choice([-1.0, 1.0], np.shape(leaf))),
            jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model.mixture_.models),
        )
        mixture = model.mixture_
        moved.mixture_ = Mixture(models, mixture.window, mixture.draws, mixture.engine)
        other = run(describe(moved), u, y, draws)
        assert other.std is not None
        worst = max(worst, _apart((other.mean, other.std), (base.mean, base.std), unit))
    return worst


def _apart(
    found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray], unit: np.ndarray
) -> float:
    largest = max(1.0, *(float(np.nanmax(np.abs(part / unit))) for part in expected))
    parts = [(a - b) / unit for a, b in zip(found, expected, strict=True)]
    return float(np.max(np.abs(parts))) / largest


def summary(cases: list[Disagreement]) -> list[str]:
    """Lines for a terminal: the worst, and how rare it is."""
    lines = []
    for word, values in (
        ("NumPy reference", [case.reference for case in cases]),
        ("simulate", [case.simulate for case in cases if case.simulate is not None]),
    ):
        if values:
            median, most, worst = np.quantile(values, [0.5, 0.99, 1.0])
            lines.append(
                f"C and {word}: {len(values)} models, median {median:.1e}, "
                f"99 % below {most:.1e}, largest {worst:.1e}"
            )
    known = [(case.simulate, case.rounding) for case in cases if case.simulate and case.rounding]
    if known:
        apart, own = max(known, key=lambda pair: pair[0] / pair[1])
        lines.append(
            f"C and simulate differ by at most {apart / own:.1f} times what one unit in the last "
            f"place of the model's numbers does ({apart:.1e} and {own:.1e})"
        )
    worst_case = max(cases, key=lambda case: max(case.reference, case.simulate or 0.0))
    return [*lines, f"largest at: {worst_case.case}"]
