"""GP-NARX: one-step-ahead regression on the lag window.

A sparse GP (FITC) for each output, trained by marginal likelihood.
"""

import time
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from prssm.data.lag_windows import Regression, regression
from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.foundation.options import option
from prssm.gp.conditional import Conditional
from prssm.gp.fitc import FITC
from prssm.gp.start import box, start_values
from prssm.models.lagged import LaggedConfig
from prssm.models.narx.narx import Learnt, NarxEstimator, stacked
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog
from prssm.training.quasi_newton import Ascent, maximise
from prssm.training.session import Session

EVIDENCE = "log marginal likelihood"
# Random starts draw their length scales between these factors of the first start's.
_WIDTHS = (0.5, 3.0)


@dataclass(frozen=True)
class GPNARXConfig(LaggedConfig):
    """Options of GP-NARX; the defaults are the paper's."""

    inducing: int = option(
        100, "inducing inputs of each output's GP (fewer if there are fewer windows)", minimum=1
    )
    iterations: int = option(
        300, "most iterations of each search for hyper-parameters and inducing inputs", minimum=0
    )
    restarts: int = option(3, "searches, of which the best marginal likelihood is kept", minimum=1)
    max_points: int | None = option(
        None, "train on at most so many windows, drawn at random; none: all", minimum=2
    )


PAPER = GPNARXConfig()
# The paper's large-scale setting.
SARCOS = GPNARXConfig(inducing=400, max_points=2000, restarts=1, iterations=100)


class GPNARX(NarxEstimator):
    """Autoregressive GP on measured outputs: y_t = f(window) + noise.

    The window holds measurements, so the noise enters the next windows.
    """

    name: ClassVar[str] = "gp-narx"
    Config = GPNARXConfig
    PRESETS: ClassVar = {"default": PAPER, "paper": PAPER, "sarcos": SARCOS}
    config: GPNARXConfig

    def _learn(self, records: list[Record], lags: int, session: Session) -> Learnt:
        fits, data, log = fit_fitc(records, lags, self.config, session=session)
        gps = stacked(
            [
                _condition(fit, jnp.asarray(data.x), jnp.asarray(y))
                for fit, y in zip(fits, data.y.T, strict=True)
            ]
        )
        noise_std = np.exp([float(fit.log_noise_std) for fit in fits])
        return Learnt(gps, noise_std, np.zeros_like(noise_std), training=log)


def fit_fitc(
    records: list[Record], lags: int, config: GPNARXConfig, session: Session
) -> tuple[list[FITC], Regression, TrainingLog]:
    """One trained sparse GP for each output, with the regression data they were trained on."""
    random = np.random.default_rng(config.seed)
    data = regression(records, lags).thinned(config.max_points, random)
    outputs = data.y.shape[1]
    begun = time.perf_counter()
    session.progress.start(outputs * config.restarts * config.iterations, 0, "marginal likelihood")
    ascents: list[list[Ascent]] = []  # by output and restart
    try:
        for d in range(outputs):
            ascents.append([])
            for r in range(config.restarts):
                before = (d * config.restarts + r) * config.iterations
                ascents[d].append(
                    _search(
                        data.x,
                        data.y[:, d],
                        r,
                        config=config,
                        random=random,
                        session=session,
                        before=before,
                    )
                )
    finally:
        session.progress.stop()
    finals = np.array([[ascent.value for ascent in of_output] for of_output in ascents])
    if np.isnan(finals).all(axis=1).any():
        raise TrainingError(
            "the marginal likelihood is not finite at any start; check the data's scale or use "
            "fewer lags"
        )
    best = np.nanargmax(finals, axis=1)
    fits = [of_output[kept].parameters for of_output, kept in zip(ascents, best, strict=True)]
    return fits, data, ascent_log(ascents, time.perf_counter() - begun)


def _search(
    x: np.ndarray,
    y: np.ndarray,
    restart: int,
    config: GPNARXConfig,
    random: np.random.Generator,
    session: Session,
    before: int,
) -> Ascent:
    """One climb from a random subset of the windows as inducing inputs."""
    width = 1.0 if restart == 0 else float(np.exp(random.uniform(*np.log(_WIDTHS))))
    rows = random.choice(len(x), min(config.inducing, len(x)), replace=False)
    start = start_values(x, y, width)
    (low, high) = box(x, y)
    free = jnp.full((len(rows), x.shape[1]), jnp.inf)

    def watch(iteration: int, value: float) -> None:
        session.progress.update(before + iteration, {"log likelihood": value})

    begin = FITC(start.kernel, jnp.asarray(x[rows]), start.log_noise_std)
    lower = FITC(low.kernel, -free, low.log_noise_std)
    upper = FITC(high.kernel, free, high.log_noise_std)
    return maximise(
        _evidence,
        begin,
        (jnp.asarray(x), jnp.asarray(y)),
        iterations=config.iterations,
        lower=lower,
        upper=upper,
        watch=watch,
    )


def _evidence(gp: FITC, x: Array, y: Array) -> Array:
    return gp.log_marginal(x, y)


@jax.jit
def _condition(gp: FITC, x: Array, y: Array) -> Conditional:
    return gp.condition(x, y)


def ascent_log(ascents: list[list[Ascent]], seconds: float) -> TrainingLog:
    """The searches of each restart, summed over outputs.

    A curve that ended early keeps its last value.
    """
    longest = max(1, *(len(ascent.curve) for of_output in ascents for ascent in of_output))
    padded = partial(np.pad, mode="edge")
    curves = np.array(
        [
            [
                padded(
                    a.curve if len(a.curve) else np.array([a.value]),
                    (0, longest - max(1, len(a.curve))),
                )
                for a in of_output
            ]
            for of_output in ascents
        ]
    )
    final = np.array([[a.value for a in of_output] for of_output in ascents]).sum(axis=0)
    outcomes = tuple(
        CONVERGED if np.isfinite(value) else f"{DIVERGED} at the start" for value in final
    )
    kept = int(np.nanargmax(final)) if np.isfinite(final).any() else 0
    return TrainingLog(
        np.arange(1, longest + 1),
        curves.sum(axis=0),
        final,
        outcomes=outcomes,
        kept=kept,
        seconds=seconds,
        objective_name=EVIDENCE,
    )
