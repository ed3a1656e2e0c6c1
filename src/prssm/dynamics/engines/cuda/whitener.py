"""Cholesky factors and their inverses by the CUDA library, for small matrices.

Those of inducing points are small. The general libraries need a dozen launches for them, which XLA
cannot record into a graph; this is one launch, and XLA can.
"""

import jax
from jaxtyping import Array, Float

from prssm.dynamics.engines.cuda import library


def cuda_factor_and_inverse(
    covariance: Float[Array, "P P"],
) -> tuple[Float[Array, "P P"], Float[Array, "P P"]]:
    """L and L^-1; under vmap all matrices are factored by one launch."""
    result = jax.ShapeDtypeStruct(covariance.shape, covariance.dtype)
    factor, white = jax.ffi.ffi_call(library.WHITEN, (result, result), vmap_method="broadcast_all")(
        covariance
    )
    return factor, white
