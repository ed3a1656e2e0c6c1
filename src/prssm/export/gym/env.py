"""`prssm.env(model, reward, horizon)`: a Gymnasium environment on a fitted model."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm.export.gym.episodes import Episodes, Starts
from prssm.foundation.errors import DataError, MissingExtraError, OptionError
from prssm.foundation.precision import double_precision
from prssm.models.checks import records_for
from prssm.models.estimator import Estimator
from prssm.models.functions.jax_model import JaxModel

_REACH = 2.0  # of an input around its training mean, in deviations, unless told


def env(
    model: Estimator,
    reward: Callable[..., Any],
    horizon: int,
    *,
    envs: int | None = None,
    starts: Any = None,
    inputs: tuple[Any, Any] | None = None,
    targets: tuple[Any, Any] | None = None,
    history: int = 1,
) -> Any:
    """A Gymnasium environment whose every episode is one system that the data allow.

    `reward(output, input)`, or with the episode's target as a third argument where `targets=(low,
    high)` are given, is a function of JAX arrays in physical units. `envs` of them run side by side
    in one compiled call (a VectorEnv). Episodes start where the recordings `starts` have been, else
    at the prior of the first state. Actions lie between the two `inputs`, two deviations around
    their training mean unless told. A policy sees the last `history` outputs and inputs, and the
    target.
    """
    try:
        from prssm.export.gym.environments import ModelEnv, ModelVectorEnv
    except ImportError:
        raise MissingExtraError(
            "an environment needs Gymnasium: pip install 'prssm[gym]'"
        ) from None
    for name, value in (("horizon", horizon), ("history", history), ("envs", envs)):
        if value is not None and value < 1:
            raise OptionError(f"{name}: expected at least 1, got {value}")
    functions = model.as_jax()
    scaling = functions.parameters.scaling
    reach = _REACH * np.asarray(scaling.u_std)
    usual = (scaling.u_mean - reach, scaling.u_mean + reach)
    low, high = _bounds("inputs", usual if inputs is None else inputs, len(reach))
    with double_precision():
        members = jax.jit(functions.parts.members)(functions.parameters.model)
    episodes = Episodes(
        functions,
        jax.tree.map(np.asarray, members),
        _starts(functions, model, starts),
        reward=reward,
        horizon=horizon,
        history=history,
        low=low,
        high=high,
        targets=None if targets is None else _bounds("targets", targets, None),
    )
    _probe(episodes)
    return ModelEnv(episodes) if envs is None else ModelVectorEnv(episodes, envs)


def _probe(episodes: Episodes) -> None:
    """A reward that is no number is found here and not in training."""
    parts = [len(episodes.functions.output_names), len(episodes.low)]
    if episodes.targets is not None:
        parts.append(len(episodes.targets[0]))
    try:
        found = jax.eval_shape(
            lambda *arrays: jnp.asarray(episodes.reward(*arrays)),
            *(jax.ShapeDtypeStruct((size,), np.float32) for size in parts),
        )
    except TypeError as error:
        raise OptionError(
            f"reward: expected a function of {len(parts)} arrays of JAX, got {error}"
        ) from error
    if found.shape != ():
        raise OptionError(f"reward: expected one number, got an array {found.shape}")


def _bounds(name: str, bounds: Any, size: int | None) -> tuple[np.ndarray, np.ndarray]:
    try:
        low, high = (np.atleast_1d(np.asarray(part, np.float64)) for part in bounds)
    except (TypeError, ValueError):
        raise OptionError(
            f"{name}: expected a lowest and a highest value, got {bounds!r}"
        ) from None
    wanted = low.shape if size is None else (size,)
    if low.shape != wanted or high.shape != wanted or not np.all(low < high):
        raise OptionError(
            f"{name}: expected a lowest and a highest value of {wanted} numbers, the lowest below "
            f"the highest, got {bounds!r}"
        )
    return low, high


def _starts(functions: JaxModel, model: Estimator, data: Any) -> Starts:
    """The first state at every place of the recordings that has a window after it."""
    parameters = functions.parameters.model
    window = functions.window * functions.stride
    with double_precision():
        if data is None or window == 0:
            means, factors = functions.parts.first_state(parameters, None, None)
            return Starts(np.asarray(means)[None], np.asarray(factors)[None])
        cut_u = []
        cut_y = []
        for record in records_for(model, data, None):
            record = model.preprocessing_.prepare(record).seen
            scaled = model.scaler_.scale(record)
            filled = scaled.outputs_filled()
            for begin in range(0, len(record) - window + 1, window):
                rows = slice(begin, begin + window)
                blocks = scaled.u[rows].reshape(functions.window, functions.stride, -1)
                cut_u.append(blocks.mean(axis=1))
                cut_y.append(filled[rows][:: functions.stride])
        if not cut_u:
            raise DataError(f"starts: expected a recording of at least {window} rows, got shorter")
        first = jax.vmap(lambda y, u: functions.parts.first_state(parameters, y, u))
        means, factors = jax.jit(first)(np.stack(cut_y), np.stack(cut_u))
    return Starts(np.asarray(means), np.asarray(factors))
