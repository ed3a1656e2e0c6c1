"""q(x_1 | y_{1:L}, u_{1:L}): a Gaussian over the first state from the first L samples.

One hidden layer reads the window; it gives the mean and the standard deviation of every state. The states that the
sensors show start at the first measurement, so that an untrained model already begins in the right place.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Recognition(eqx.Module):
    """mean = W2 tanh(W1 s + b1) + [y_1, 0], log std = the other half of the last layer; s = (y_{1:L}, u_{1:L})."""

    hidden: eqx.nn.Linear
    last: eqx.nn.Linear
    shown: int = eqx.field(static=True)  # how many first states are sensor readings

    @classmethod
    def create(cls, window: int, input_dim: int, output_dim: int, latent_dim: int, hidden: int, start_std: float,
               shown: int, key: PRNGKeyArray) -> "Recognition":
        key_hidden, key_last = jax.random.split(key)
        last = eqx.nn.Linear(hidden, 2 * latent_dim, key=key_last)
        bias = jnp.concatenate([jnp.zeros(latent_dim), jnp.full(latent_dim, jnp.log(start_std))])
        last = eqx.tree_at(lambda layer: (layer.weight, layer.bias), last, (0.1 * last.weight, bias))
        return cls(eqx.nn.Linear(window * (input_dim + output_dim), hidden, key=key_hidden), last, shown)

    def __call__(self, y: Float[Array, "L Dy"], u: Float[Array, "L Du"]) -> tuple[Float[Array, " Dx"], Float[Array, " Dx"]]:
        """Mean and log standard deviation of the first state."""
        sample = jnp.concatenate([y.ravel(), u.ravel()])
        mean, log_std = jnp.split(self.last(jnp.tanh(self.hidden(sample))), 2)
        return mean.at[: self.shown].add(y[0, : self.shown]), log_std


def kl_to_standard_normal(mean: Float[Array, "... Dx"], log_std: Float[Array, "... Dx"]) -> Float[Array, "..."]:
    """KL(N(mean, diag(std^2)) || N(0, I))."""
    return 0.5 * jnp.sum(jnp.exp(2.0 * log_std) + mean**2 - 1.0 - 2.0 * log_std, axis=-1)
