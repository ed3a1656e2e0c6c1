"""Many sparse Gaussian-process functions with their Jacobians in closed form, in NumPy.

With k = k(zeta, z) of the squared exponential, one function has

    f = alpha'k,    df/dz_j = sum_p alpha_p k_p (zeta_pj - z_j) / l_j^2,
    variance = max(s^2 - |less k|^2, 0) + |more k|^2.

All rows that multiply k are one matrix, so that a call is two products and one exponential. A
call of compiled JAX code takes longer than that for one state.
"""

from typing import Self

import numpy as np
from jaxtyping import Float

from prssm.gp.conditional import Conditional
from prssm.gp.kernels import squared_exponential_only
from prssm.gp.linalg import JITTER
from prssm.gp.sparse import DiagonalInducing, Inducing, SparseGP, WhitenedInducing
from prssm.inference.state_space import Array


class GPFunctions:
    """D functions of each of M members; the Jacobian is that by the first `wrt` coordinates."""

    def __init__(
        self,
        log_std: Float[Array, "M D"],
        log_lengthscale: Float[Array, "M D Din"],
        zeta: Float[Array, "M D P Din"],
        *,
        alpha: Float[Array, "M D P"],
        less: Float[Array, "M D P P"],
        more: Float[Array, "M D P P"] | None,
        wrt: int,
    ) -> None:
        members, functions, points, _ = zeta.shape
        self._shape = members, functions, points
        self._wrt = wrt
        precision = np.exp(-2.0 * log_lengthscale)
        signal_var = np.exp(2.0 * log_std)
        scaled = zeta * precision[:, :, None]
        constant = np.log(signal_var)[..., None] - 0.5 * np.sum(scaled * zeta, axis=3)
        squares = np.broadcast_to(-0.5 * precision[:, :, None], zeta.shape)
        exponent = np.concatenate([constant[..., None], scaled, squares], axis=3)
        self._exponent = exponent.reshape(members, functions * points, -1)
        slopes = np.swapaxes(alpha[..., None] * scaled[..., :wrt], 2, 3)
        rows = [alpha[:, :, None], slopes, less, *([] if more is None else [more])]
        self._rows = np.concatenate(rows, axis=2)
        self._less_end = 1 + wrt + less.shape[2]
        self._signal_var = signal_var[..., None]
        self._precision = precision[:, :, :wrt, None]

    @classmethod
    def of_sparse(cls, gps: SparseGP, wrt: int) -> Self:
        """Of variational GPs whose arrays lead with members and functions.

        In NumPy what `SparseGP.condition` does in JAX: nothing is compiled for another number of
        members.
        """
        kernel = squared_exponential_only(gps.kernel)
        functions = np.asarray(gps.inducing.mean).shape[1]
        log_std, log_lengthscale, zeta = (
            _for_each(np.asarray(part, np.float64), functions)
            for part in (kernel.log_std, kernel.log_lengthscale, gps.zeta)
        )
        scaled = zeta * np.exp(-log_lengthscale)[:, :, None]
        distance = np.sum((scaled[:, :, :, None] - scaled[:, :, None]) ** 2, axis=4)
        variance = np.exp(2.0 * log_std)[..., None, None]
        eye = np.eye(zeta.shape[2])
        white = np.linalg.inv(
            np.linalg.cholesky(variance * (np.exp(-0.5 * distance) + JITTER * eye))
        )
        mean, spread = _whitened(gps.inducing, white)
        return cls(
            log_std,
            log_lengthscale,
            zeta,
            alpha=(mean[:, :, None] @ white)[:, :, 0],
            less=white,
            more=np.swapaxes(spread, -1, -2) @ white,
            wrt=wrt,
        )

    @classmethod
    def of_conditionals(cls, gps: Conditional, wrt: int) -> Self:
        """Of one member's posteriors in their plainest form, whose arrays lead with functions."""
        kernel = squared_exponential_only(gps.kernel)
        values, vectors = np.linalg.eigh(np.asarray(gps.quadratic, np.float64))
        less = np.sqrt(np.maximum(values, 0.0))[..., None] * np.swapaxes(vectors, -1, -2)
        return cls(
            np.asarray(kernel.log_std, np.float64)[None],
            np.asarray(kernel.log_lengthscale, np.float64)[None],
            np.asarray(gps.zeta, np.float64)[None],
            alpha=np.asarray(gps.weights, np.float64)[None],
            less=less[None],
            more=None,
            wrt=wrt,
        )

    def __call__(
        self, z: Float[Array, "M B Din"]
    ) -> tuple[Float[Array, "M B D"], Float[Array, "M B D wrt"], Float[Array, "M B D"]]:
        """Means, Jacobians and variances."""
        members, functions, points = self._shape
        zt = np.swapaxes(z, 1, 2)
        ones = np.ones((members, 1, zt.shape[2]))
        k = np.exp(self._exponent @ np.concatenate([ones, zt, zt * zt], axis=1))
        found = self._rows @ k.reshape(members, functions, points, -1)
        f = found[:, :, 0]
        first = 1 + self._wrt
        slope = found[:, :, 1:first] - self._precision * (zt[:, None, : self._wrt] * f[:, :, None])
        parts = found[:, :, first:]
        parts *= parts
        count = self._less_end - first
        variance = np.maximum(self._signal_var - np.add.reduce(parts[:, :, :count], axis=2), 0.0)
        variance += np.add.reduce(parts[:, :, count:], axis=2)
        return np.swapaxes(f, 1, 2), slope.transpose(0, 3, 1, 2), np.swapaxes(variance, 1, 2)


def _for_each(shared: Array, functions: int) -> Array:
    """A copy for each function of what all share, if they do."""
    if shared.shape[1] == functions:
        return shared
    return np.repeat(shared, functions, axis=1)


def _whitened(inducing: Inducing, white: Float[Array, "M D P P"]) -> tuple[Array, Array]:
    """m and V of q(v) = N(m, V V'), v = W z."""
    mean = np.asarray(inducing.mean, np.float64)
    if isinstance(inducing, DiagonalInducing):
        std = np.exp(np.asarray(inducing.log_std, np.float64))
        return (white @ mean[..., None])[..., 0], white * std[:, :, None]
    if not isinstance(inducing, WhitenedInducing):
        raise TypeError(f"expected q(z) diagonal or whitened, got {type(inducing).__name__}")
    factor = np.asarray(inducing.factor, np.float64)
    diagonal = np.exp(np.diagonal(factor, axis1=-2, axis2=-1))
    return mean, np.tril(factor, -1) + diagonal[..., None] * np.eye(mean.shape[-1])
