"""Cholesky factors and their inverses by the CUDA library, where matrices are small, as inducing points' are.

The general libraries need a dozen launches for them, which XLA cannot record into a graph; this is one, and it can.
"""

import jax
from jaxtyping import Array, Float

from prssm.gp.linalg import Factorise, factor_and_inverse
from prssm.models.cuda import library
from prssm.models.device import platform as _platform


def factorise_here(points: int) -> Factorise:
    """The way to factor matrices of this size on the device that JAX computes on."""
    return cuda_factor_and_inverse if _platform() == "gpu" and library.can_whiten(points) else factor_and_inverse


def cuda_factor_and_inverse(covariance: Float[Array, "P P"]) -> tuple[Float[Array, "P P"], Float[Array, "P P"]]:
    """L and L^-1; under vmap all matrices are factored by one launch."""
    result = jax.ShapeDtypeStruct(covariance.shape, covariance.dtype)
    factor, white = jax.ffi.ffi_call(library.WHITEN, (result, result), vmap_method="broadcast_all")(covariance)
    return factor, white
