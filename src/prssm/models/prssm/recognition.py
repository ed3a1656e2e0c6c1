"""q(x_1 | y_{1:L}, u_{1:L}): a Gaussian over the first state from the first L samples.

One hidden layer reads the window; it gives the mean and the standard deviation of every state. The
states that the sensors show start at the first measurement, so that an untrained model already
begins in the right place.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.dynamics.engines.choice import RecognitionNetwork
from prssm.foundation.arrays import AnyArray


class Recognition(eqx.Module):
    """The first state from the first samples: a small network.

    h = tanh(W1 s + b1); mean = W2 h + [y_1, 0], log std = W3 h + b3, where s = (y_{1:L}, u_{1:L}).
    """

    hidden_weight: Float[AnyArray, "H S"]
    hidden_bias: Float[AnyArray, " H"]
    mean_weight: Float[AnyArray, "Dx H"]
    log_std_weight: Float[AnyArray, "Dx H"]
    log_std_bias: Float[AnyArray, " Dx"]
    shown: int = eqx.field(static=True)  # how many first states are sensor readings
    direct: Float[AnyArray, "Dx S"] | None = None  # a linear path around the hidden layer
    direct_bias: Float[AnyArray, " Dx"] | None = None

    @classmethod
    def create(
        cls,
        size: int,
        latent_dim: int,
        hidden: int,
        start_std: float,
        shown: int,
        rng: np.random.Generator,
    ) -> "Recognition":
        """Small random weights.

        Before training the first state is about [y_1, 0] with deviation `start_std`.
        """
        return cls(
            hidden_weight=rng.normal(size=(hidden, size)) / np.sqrt(size),
            hidden_bias=np.zeros(hidden),
            mean_weight=0.1 * rng.normal(size=(latent_dim, hidden)) / np.sqrt(hidden),
            log_std_weight=0.1 * rng.normal(size=(latent_dim, hidden)) / np.sqrt(hidden),
            log_std_bias=np.full(latent_dim, np.log(start_std)),
            shown=shown,
        )

    @classmethod
    def around(
        cls,
        direct: np.ndarray,
        bias: np.ndarray,
        log_std: np.ndarray,
        hidden: int,
        part: float,
        rng: np.random.Generator,
    ) -> "Recognition":
        """Starts as the affine map `direct` s + `bias`.

        `part` of a random hidden layer is there, too, which corrects it later.
        """
        latent_dim, size = direct.shape
        start = cls.create(size, latent_dim, hidden, 1.0, 0, rng)
        return cls(
            start.hidden_weight,
            start.hidden_bias,
            part * start.mean_weight,
            log_std_weight=part * start.log_std_weight,
            log_std_bias=log_std,
            shown=0,
            direct=direct,
            direct_bias=bias,
        )

    def __call__(
        self, y: Float[AnyArray, "L Dy"], u: Float[AnyArray, "L Du"], xp: Any = jnp
    ) -> tuple[Float[Array, " Dx"], Float[Array, " Dx"]]:
        """Mean and log standard deviation of the first state; `xp=numpy` computes without JAX."""
        sample = xp.concatenate([y.ravel(), u.ravel()])
        hidden = xp.tanh(self.hidden_weight @ sample + self.hidden_bias)
        mean = self.mean_weight @ hidden
        mean = mean + xp.concatenate([y[0, : self.shown], xp.zeros(len(mean) - self.shown)])
        if self.direct is not None:
            mean = mean + self.direct @ sample + self.direct_bias
        return mean, self.log_std_weight @ hidden + self.log_std_bias

    def means(self, samples: Float[np.ndarray, "N S"]) -> Float[np.ndarray, "N Dx"]:
        """Mean of the first state for each of many windows (y_{1:L}, u_{1:L}), in NumPy."""
        hidden = np.tanh(samples @ self.hidden_weight.T + self.hidden_bias)
        mean = np.array(hidden @ self.mean_weight.T)
        mean[:, : self.shown] += samples[:, : self.shown]
        if self.direct is not None:
            mean = mean + samples @ self.direct.T + self.direct_bias
        return mean

    def network(self, kind: np.dtype) -> RecognitionNetwork:
        """All arrays as a compiled engine reads them, in the precision of samples of this kind."""
        kind = jnp.result_type(kind, self.hidden_weight)
        latent_dim = len(self.log_std_bias)
        direct = jnp.zeros((latent_dim, 0)) if self.direct is None else self.direct
        direct_bias = jnp.zeros(0) if self.direct_bias is None else self.direct_bias
        parts = (
            self.hidden_weight,
            self.hidden_bias,
            self.mean_weight,
            self.log_std_weight,
            self.log_std_bias,
            direct,
            direct_bias,
        )
        return RecognitionNetwork(*(jnp.asarray(part, kind) for part in parts))


def kl_to_standard_normal(
    mean: Float[Array, "... Dx"], log_std: Float[Array, "... Dx"]
) -> Float[Array, "..."]:
    """KL(N(mean, diag(std^2)) || N(0, I))."""
    return 0.5 * jnp.sum(jnp.exp(2.0 * log_std) + mean**2 - 1.0 - 2.0 * log_std, axis=-1)
