"""Where REVARB's training begins and the box it stays in.

The hidden rows start as the measured outputs.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data.record import Record
from prssm.gp.collapsed import CollapsedGP, Pairs
from prssm.gp.kernels import SquaredExponential
from prssm.gp.start import HyperParameters, box, start_values
from prssm.models.revarb.bound import Revarb, RevarbData, usable
from prssm.models.revarb.config import REVARBConfig
from prssm.training.legs import Phase

_STATE_STD_RANGE = (1e-4, 10.0)  # of the outputs' spread: what double precision can tell apart


def create_starts(
    config: REVARBConfig, records: Sequence[Record], data: RevarbData, lags: int
) -> Revarb:
    """All restarts, stacked; restart r is the same whatever the number of restarts."""
    starts = [
        _create(
            config, records, data, lags=lags, random=np.random.default_rng([config.seed, restart])
        )
        for restart in range(config.restarts)
    ]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *starts)


def _create(
    config: REVARBConfig,
    records: Sequence[Record],
    data: RevarbData,
    lags: int,
    random: np.random.Generator,
) -> Revarb:
    outputs = np.concatenate([record.outputs_filled() for record in usable(records, lags)])
    q_mean = np.broadcast_to(outputs, (config.layers, *outputs.shape))
    q_log_std = np.broadcast_to(np.log(config.state_std * data.first_std), q_mean.shape)
    rows = Revarb((), jnp.asarray(q_mean), jnp.asarray(q_log_std))
    layers = tuple(_layer(pairs, config.inducing, random) for pairs in _pairs(rows, data))
    return jax.tree.map(np.asarray, Revarb(layers, rows.q_mean, rows.q_log_std))


@jax.jit
def _pairs(rows: Revarb, data: RevarbData) -> list[Pairs]:
    return rows.pairs(data)


def _layer(pairs: Pairs, inducing: int, random: np.random.Generator) -> CollapsedGP:
    """A random subset of the windows as inducing inputs."""
    chosen = random.choice(len(pairs.mean), min(inducing, len(pairs.mean)), replace=False)
    return _as_layer(
        start_values(*_regression(pairs)), np.asarray(pairs.mean)[chosen], pairs.target.shape[1]
    )


def phases(config: REVARBConfig, start: Revarb, data: RevarbData) -> list[Phase]:
    """First with kernel and noise variances held at their start, then with everything free."""
    lower, upper = limits(start, data)
    fixed = (_with_variances(lower, start), _with_variances(upper, start))
    return [Phase(config.fixed_iterations, *fixed), Phase(config.iterations, lower, upper)]


def limits(start: Revarb, data: RevarbData) -> tuple[Revarb, Revarb]:
    """Lower and upper limits of all parameters."""
    boxes = [
        box(*_regression(pairs))
        for pairs in _pairs(Revarb((), start.q_mean, start.q_log_std), data)
    ]
    ends = []
    for side, far in enumerate((-np.inf, np.inf)):
        layers = tuple(
            _as_layer(of_layer[side], np.full(gp.zeta.shape, far), gp.log_noise_std.shape[0])
            for of_layer, gp in zip(boxes, start.layers, strict=True)
        )
        log_std = jnp.log(_STATE_STD_RANGE[side] * data.first_std)
        ends.append(
            Revarb(
                layers,
                jnp.full(start.q_mean.shape, far),
                jnp.broadcast_to(log_std, start.q_log_std.shape),
            )
        )
    return ends[0], ends[1]


def _regression(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Windows and targets, missing ones left out."""
    rows = np.flatnonzero(np.asarray(pairs.counted).all(axis=1))
    # no row is whole: the gaps' zeros must do
    rows = rows if len(rows) > 1 else np.arange(len(pairs.mean))
    return np.asarray(pairs.mean)[rows], np.asarray(pairs.target)[rows]


def _as_layer(values: HyperParameters, zeta: np.ndarray, outputs: int) -> CollapsedGP:
    return CollapsedGP(values.kernel, jnp.asarray(zeta), jnp.full(outputs, values.log_noise_std))


def _with_variances(limit: Revarb, held: Revarb) -> Revarb:
    layers = tuple(
        CollapsedGP(
            SquaredExponential(fixed.kernel.log_std, free.kernel.log_lengthscale),
            free.zeta,
            fixed.log_noise_std,
        )
        for free, fixed in zip(limit.layers, held.layers, strict=True)
    )
    return Revarb(layers, limit.q_mean, limit.q_log_std)
