"""Inverse Cholesky factors of inducing inputs' covariances by the CUDA library.

The general way needs dozens of launches there and back; this is one each, and XLA can record them
into its graphs.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.dynamics.engines.cuda import library
from prssm.foundation.arrays import AnyArray
from prssm.gp.kernels import SquaredExponential
from prssm.gp.linalg import JITTER


@jax.custom_vjp
def cuda_white(kernel: SquaredExponential, zeta: Float[AnyArray, "P Din"]) -> Float[Array, "P P"]:
    """W of these inducing inputs; under vmap all matrices are factored by one launch."""
    return _forward(kernel, zeta)[0]


def _forward(kernel: SquaredExponential, zeta: AnyArray) -> tuple[Array, tuple]:
    inputs = _inputs(kernel, zeta)
    points = inputs[0].shape[0]
    result = jax.ShapeDtypeStruct((points, points), inputs[0].dtype)
    white = _library_function(library.WHITEN, result)(*inputs, jitter=np.float64(JITTER))
    return white, (kernel, zeta, white)


def _backward(saved: tuple, g: Array) -> tuple[SquaredExponential, Array]:
    kernel, zeta, white = saved
    inputs = _inputs(kernel, zeta)
    results = [jax.ShapeDtypeStruct(part.shape, part.dtype) for part in inputs]
    g_zeta, g_log_lengthscale, g_log_std = _library_function(library.UNWHITEN, results)(
        *inputs, white, g, jitter=np.float64(JITTER)
    )
    return SquaredExponential(g_log_std, g_log_lengthscale), g_zeta


cuda_white.defvjp(_forward, _backward)


def _inputs(kernel: SquaredExponential, zeta: AnyArray) -> tuple[Array, Array, Array]:
    zeta = jnp.asarray(zeta)
    log_lengthscale = jnp.asarray(kernel.log_lengthscale, zeta.dtype)
    return zeta, log_lengthscale, jnp.asarray(kernel.log_std, zeta.dtype)


def _library_function(name: str, results: Any) -> Any:
    return jax.ffi.ffi_call(name, results, vmap_method="broadcast_all")
