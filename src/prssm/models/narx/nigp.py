"""NIGP (McHutchon and Rasmussen 2011): noise on the inputs, seen as more noise on the output.

The window holds noisy measurements of noise-free values. To first order f(x + e) = f(x) + slope' e,
so that a point has the noise variance sigma_y^2 + slope' Sigma_x slope, with a learnt variance for
each entry of the window. The slopes are those of the posterior mean, which depends on the noise:
slopes and hyper-parameters are iterated until neither moves.
"""

import time
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.data.lag_windows import Regression, regression
from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.foundation.options import option
from prssm.gp import exact
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential
from prssm.gp.linalg import one_by_one
from prssm.gp.start import box, start_values
from prssm.models.lagged import LaggedConfig
from prssm.models.narx.narx import Learnt, NarxEstimator, stacked
from prssm.models.stored_arrays import check
from prssm.training.log import CONVERGED, TrainingLog
from prssm.training.quasi_newton import Ascent, maximise
from prssm.training.session import Session

_WIDTHS = (1.0, 0.4, 2.5)  # length scales of the first search's starts, in typical distances
_NOISE_LIMITS = (3e-4, 1.0)  # of an entry's deviation
EACH = "each"
TIED = "tied"
OUTPUTS = "outputs"
NONE = "none"
WINDOW_NOISES = (EACH, TIED, OUTPUTS, NONE)


@dataclass(frozen=True)
class NIGPConfig(LaggedConfig):
    """Options of NIGP.

    What the original leaves open was chosen on training data: docs/studies/reference-methods.md.
    """

    iterations: int = option(
        100, "most iterations of the search for hyper-parameters in each round", minimum=0
    )
    rounds: int = option(40, "most repetitions of: slopes, then hyper-parameters", minimum=0)
    tolerance: float = option(
        0.1, "the rounds end when the log marginal likelihood changes by less", above=0.0
    )
    window_noise: str = option(
        EACH,
        "noise of the window's entries: each its own; past outputs tied to the output's noise, "
        "inputs their own; past outputs tied, inputs exact; none, the exact GP",
        choices=WINDOW_NOISES,
    )
    noise_start: float = option(
        0.03, "where the noises of the window start, relative to an entry's deviation", above=0.0
    )
    max_points: int | None = option(
        1000, "train on at most so many windows, drawn at random; none: all", minimum=2
    )


PAPER = NIGPConfig()


class Parameters(NamedTuple):
    """All outputs together, because they share the window and its noise."""

    kernel: SquaredExponential  # arrays lead with the output axis
    log_output_std: Float[Array, " Dy"]
    log_window_std: Float[Array, " Din"]


class Problem(NamedTuple):
    """What a search for hyper-parameters holds fixed."""

    x: Float[Array, "N Din"]
    y: Float[Array, "N Dy"]
    slopes: Float[Array, "Dy N Din"]  # of the posterior mean at the windows
    own: Float[Array, " Din"]  # 1 where an entry of the window has a noise of its own
    # 1 where it has the noise of the output it is; an entry with neither is exact
    tied: Float[Array, " Din"]


class NIGP(NarxEstimator):
    """Exact GP on the lag window, with learnt noise on every entry of the window.

    All noise is in the measurements.
    """

    name: ClassVar[str] = "nigp"
    Config = NIGPConfig
    PRESETS: ClassVar = {"default": PAPER, "paper": PAPER}
    config: NIGPConfig

    def _learn(self, records: list[Record], lags: int, session: Session) -> Learnt:
        config = self.config
        data = regression(records, lags).thinned(
            config.max_points, np.random.default_rng(config.seed)
        )
        rounds = 0 if config.window_noise == NONE else config.rounds
        session.progress.start(
            (len(_WIDTHS) + rounds) * config.iterations, 0, "marginal likelihood"
        )
        try:
            parameters, problem, log = self._climb(data, lags, rounds, session=session)
        finally:
            session.progress.stop()
        noise = window_noise(parameters, problem)
        self.window_std_ = np.sqrt(np.asarray(noise))
        outputs = data.y.shape[1] * lags
        from_inputs = np.asarray(problem.slopes[:, :, outputs:] ** 2 @ noise[outputs:]).mean(axis=1)
        output_std = np.sqrt(np.exp(2.0 * np.asarray(parameters.log_output_std)) + from_inputs)
        return Learnt(
            posteriors(parameters, problem), np.zeros_like(output_std), output_std, training=log
        )

    def _climb(
        self, data: Regression, lags: int, rounds: int, session: Session
    ) -> tuple[Parameters, Problem, TrainingLog]:
        """The exact GP first; then slopes and hyper-parameters in turn, until nothing changes."""
        begun = time.perf_counter()
        curve = list[float]()
        lower, upper = limits(data)
        problem = first_problem(data, lags, self.config.window_noise)

        def search(start: Parameters) -> Ascent:
            done = len(curve)
            return maximise(
                evidence,
                start,
                (problem,),
                iterations=self.config.iterations,
                lower=lower,
                upper=upper,
                watch=lambda iteration, value: session.progress.update(
                    done + iteration, {"log likelihood": value}
                ),
            )

        best = _best_of(
            [search(start_parameters(data, width, self.config.noise_start)) for width in _WIDTHS]
        )
        outcome = "rounds used up" if rounds else CONVERGED
        curve += list(best.curve)
        for _ in range(rounds):
            problem = problem._replace(
                slopes=_mixed(problem.slopes, _slopes(best.parameters, problem))
            )
            before = best.value
            best = search(best.parameters)
            curve += list(best.curve)
            if abs(best.value - before) < self.config.tolerance:
                outcome = CONVERGED
                break
        log = TrainingLog(
            np.arange(1, len(curve) + 1),
            np.array([curve]),
            np.array([best.value]),
            outcomes=(outcome,),
            kept=0,
            seconds=time.perf_counter() - begun,
            objective_name="log marginal likelihood",
        )
        return best.parameters, problem, log

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        values, arrays = super()._state()
        return values, arrays | {"window_std": self.window_std_}

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._restore(values, arrays)
        check(arrays, {"window_std": ("window",)}, window=arrays["zeta"].shape[2])
        self.window_std_ = arrays["window_std"]


def _best_of(starts: list[Ascent]) -> Ascent:
    values = [ascent.value for ascent in starts]
    if np.isnan(values).all():
        raise TrainingError(
            "the marginal likelihood is not finite at any start; check the data or use fewer lags"
        )
    return starts[int(np.nanargmax(values))]


def evidence(parameters: Parameters, problem: Problem) -> Float[Array, ""]:
    """Sum over outputs of log N(y; 0, K + diag(noise)), at given slopes."""
    noise_var = point_noise(parameters, problem)
    outputs = (parameters.kernel, problem.y.T, noise_var)
    return jnp.sum(
        one_by_one(
            lambda kernel, y, noise: exact.log_marginal(kernel, problem.x, y, noise_var=noise),
            outputs,
        )
    )


def point_noise(parameters: Parameters, problem: Problem) -> Float[Array, "Dy N"]:
    """sigma_y^2 + slope' Sigma_x slope for each output and point."""
    inflated = problem.slopes**2 @ window_noise(parameters, problem)
    return jnp.exp(2.0 * parameters.log_output_std)[:, None] + inflated


def window_noise(parameters: Parameters, problem: Problem) -> Float[Array, " Din"]:
    """Noise variance of each entry of the window, which begins with the outputs, lag by lag."""
    width = problem.tied.shape[0]
    outputs = parameters.log_output_std.shape[0]
    of_outputs = jnp.tile(parameters.log_output_std, -(-width // outputs))[:width]
    return problem.tied * jnp.exp(2.0 * of_outputs) + problem.own * jnp.exp(
        2.0 * parameters.log_window_std
    )


@jax.jit
def posteriors(parameters: Parameters, problem: Problem) -> Conditional:
    """One posterior for each output."""
    noise_var = point_noise(parameters, problem)
    outputs = (parameters.kernel, problem.y.T, noise_var)
    return one_by_one(
        lambda kernel, y, noise: exact.condition(kernel, problem.x, y, noise_var=noise), outputs
    )


@jax.jit
def _slopes(parameters: Parameters, problem: Problem) -> Float[Array, "Dy N Din"]:
    """Slopes of the posterior means at the windows.

    The posterior has the noise that follows from the slopes so far.
    """
    return jax.vmap(exact.mean_slopes, in_axes=(0, None))(
        posteriors(parameters, problem), problem.x
    )


def _mixed(old: Array, new: Array) -> Array:
    """Half way between old and new slopes, in the squares.

    Full steps swing between a smooth function with little noise and the reverse.
    """
    return new if not old.any() else jnp.sqrt(0.5 * (old**2 + new**2))


def first_problem(data: Regression, lags: int, noise: str) -> Problem:
    """Without slopes: the exact GP."""
    outputs = data.y.shape[1]
    width = data.x.shape[1]
    past_output = np.arange(width) < lags * outputs
    own = {EACH: np.ones(width), TIED: ~past_output}.get(noise, np.zeros(width))
    tied = past_output if noise in (TIED, OUTPUTS) else np.zeros(width)
    return Problem(
        jnp.asarray(data.x),
        jnp.asarray(data.y),
        slopes=jnp.zeros((outputs, *data.x.shape)),
        own=jnp.asarray(own, dtype=float),
        tied=jnp.asarray(tied, dtype=float),
    )


def start_parameters(data: Regression, width: float, noise_start: float) -> Parameters:
    """Each output's start, and a little noise on the window."""
    outputs = stacked([start_values(data.x, y, width) for y in data.y.T])
    return Parameters(outputs.kernel, outputs.log_noise_std, _of_spread(data, noise_start))


def limits(data: Regression) -> tuple[Parameters, Parameters]:
    """The box of the search."""
    boxes = [box(data.x, y) for y in data.y.T]
    ends = []
    for i, factor in enumerate(_NOISE_LIMITS):
        end = stacked([limit[i] for limit in boxes])
        ends.append(Parameters(end.kernel, end.log_noise_std, _of_spread(data, factor)))
    return ends[0], ends[1]


def _of_spread(data: Regression, factor: float) -> Array:
    """The logarithm of so much of each entry's deviation."""
    return jnp.log(factor * jnp.asarray(np.maximum(data.x.std(axis=0), 1e-9)))
