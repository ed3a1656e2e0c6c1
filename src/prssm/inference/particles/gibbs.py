"""Conditional particle filter with ancestor sampling (Lindsten, Jordan and Schon 2014).

    x_{t+1} = f_t(x_t) + w_t,  w ~ N(0, Q),        y_t = [I 0] x_t + e_t,  e ~ N(0, R), R diagonal

One sweep maps a trajectory to another and leaves p(x_{1:T} | y_{1:T}) invariant whatever the number
of particles. It is fully adapted: the output map is linear, so the best proposal is known in closed
form. Ancestors are chosen by p(y_t | x_{t-1}) and moved by p(x_t | x_{t-1}, y_t), a Kalman update;
all particles then weigh the same. The original moves particles blindly.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

# (particles, what belongs to the step) -> f_t of each particle.
StepMean = Callable[[Float[Array, "N Dx"], Any], Float[Array, "N Dx"]]


def inverse_factor(root: Float[Array, "D D"]) -> Float[Array, "D D"]:
    """W with W' W = (root root')^-1, of a small lower triangle."""
    return jax.scipy.linalg.solve_triangular(root, jnp.eye(len(root)), lower=True)


class Update(eqx.Module):
    """Bayes' rule for x ~ N(m, P) and one row of outputs: all that does not depend on m.

    A leading axis is time.
    """

    gain: Float[Array, "... Dx Dy"]
    spread: Float[Array, "... Dx Dx"]  # factor of the posterior covariance
    precision: Float[Array, "... Dy Dy"]  # factor W of the innovation's precision: S^-1 = W' W
    log_scale: Float[Array, "..."]
    seen: Bool[Array, "... Dy"]

    @classmethod
    def create(
        cls,
        covariance: Float[Array, "Dx Dx"],
        noise_std: Float[Array, " Dy"],
        seen: Bool[Array, " Dy"],
    ) -> "Update":
        """A missing output has no row in C: it neither moves a particle nor weighs one."""
        outputs = len(noise_std)
        states = len(covariance)
        C = jnp.eye(outputs, states) * seen[:, None]
        S = C @ covariance @ C.T + jnp.diag(noise_std**2)
        root = jnp.linalg.cholesky(S)
        precision = inverse_factor(root)
        gain = covariance @ C.T @ precision.T @ precision
        keep = jnp.eye(states) - gain @ C
        # Joseph's form stays positive
        posterior = keep @ covariance @ keep.T + (gain * noise_std**2) @ gain.T
        unseen = jnp.where(seen, 0.0, jnp.log(noise_std) + 0.5 * jnp.log(2 * jnp.pi))
        log_scale = (
            -jnp.sum(jnp.log(jnp.diagonal(root)))
            - 0.5 * outputs * jnp.log(2 * jnp.pi)
            + jnp.sum(unseen)
        )
        return cls(gain, jnp.linalg.cholesky(posterior), precision, log_scale=log_scale, seen=seen)

    def innovation(
        self, mean: Float[Array, "N Dx"], y: Float[Array, " Dy"]
    ) -> Float[Array, "N Dy"]:
        return jnp.where(self.seen, y - mean[:, : len(y)], 0.0)

    def log_predictive(self, innovation: Float[Array, "N Dy"]) -> Float[Array, " N"]:
        """log p(y | m) of the outputs that were seen."""
        return self.log_scale - 0.5 * jnp.sum((innovation @ self.precision.T) ** 2, axis=1)

    def draw(
        self,
        mean: Float[Array, "N Dx"],
        innovation: Float[Array, "N Dy"],
        eps: Float[Array, "N Dx"],
    ) -> Array:
        return mean + innovation @ self.gain.T + eps @ self.spread.T


class Noise(eqx.Module):
    """Covariances of process, first state and sensors."""

    process: Float[Array, "Dx Dx"]
    first_mean: Float[Array, " Dx"]
    first: Float[Array, "Dx Dx"]
    output_std: Float[Array, " Dy"]


def sample_path(
    step_mean: StepMean,
    steps: Any,
    y: Float[Array, "T Dy"],
    noise: Noise,
    particles: int,
    key: PRNGKeyArray,
    reference: Float[Array, "T Dx"] | None = None,
) -> tuple[Float[Array, "T Dx"], Array]:
    """A trajectory given the outputs (NaN is missing), and an estimate of log p(y).

    `steps` is a tree of arrays whose rows t are what `step_mean` needs to go from t to t + 1. With
    a `reference` this is one sweep of the sampler; without, a draw from the plain particle filter,
    only as good as its number of particles.
    """
    key_move, key_choose = jax.random.split(key)
    eps = jax.random.normal(key_move, (len(y), particles, len(noise.process)))
    uniform = jax.random.uniform(key_choose, (len(y), particles))
    seen = ~jnp.isnan(y)
    y = jnp.where(seen, y, 0.0)
    first = Update.create(noise.first, noise.output_std, seen[0])
    centre = jnp.broadcast_to(noise.first_mean, eps[0].shape)
    innovation = first.innovation(centre, y[0])
    x1 = first.draw(centre, innovation, eps[0])
    x1 = x1 if reference is None else x1.at[-1].set(reference[0])
    updates = jax.vmap(lambda row: Update.create(noise.process, noise.output_std, row))(seen[1:])
    before_last = jax.tree.map(lambda leaf: leaf[: len(y) - 1], steps)
    later = None if reference is None else reference[1:]
    move = _mover(step_mean, inverse_factor(jnp.linalg.cholesky(noise.process)))
    _, (x, ancestors, gains) = jax.lax.scan(
        move, x1, (before_last, updates, y[1:], eps[1:], uniform[1:], later)
    )
    # The first row of `uniform` has not been used.
    last = jnp.minimum(jnp.floor(uniform[0, 0] * particles).astype(int), particles - 1)
    path = trace_back(jnp.concatenate([x1[None], x]), ancestors, last)
    return path, first.log_predictive(innovation)[0] + jnp.sum(gains)


def _mover(
    step_mean: StepMean, whitening: Float[Array, "Dx Dx"]
) -> Callable[[Array, tuple], tuple[Array, tuple]]:
    """The step of the scan over time.

    Choose ancestors by p(y_t | x_{t-1}), move them, keep the last one on the reference.
    """

    def move(x: Array, now: tuple) -> tuple[Array, tuple]:
        step, update, y_t, eps_t, uniform_t, pinned = now
        mean = step_mean(x, step)
        innovation = update.innovation(mean, y_t)
        log_weight = update.log_predictive(innovation)
        ancestor = choose(log_weight, uniform_t)
        new = update.draw(mean[ancestor], innovation[ancestor], eps_t)
        if pinned is not None:
            # Its ancestor is drawn anew: p(x'_t | x_{t-1}), all x_{t-1} weighing the same.
            distance = (pinned - mean) @ whitening.T
            ancestor = ancestor.at[-1].set(
                choose(-0.5 * jnp.sum(distance**2, axis=1), uniform_t[-1:])[0]
            )
            new = new.at[-1].set(pinned)
        return new, (new, ancestor, jax.nn.logsumexp(log_weight) - jnp.log(len(x)))

    return move


def choose(log_weight: Float[Array, " N"], uniform: Float[Array, " K"]) -> Int[Array, " K"]:
    """Indices drawn with probabilities proportional to the weights (multinomial, by inversion)."""
    count = len(log_weight)
    # For few particles a product is faster than a cumulative sum.
    cumulative = jnp.tri(count) @ jax.nn.softmax(log_weight)
    below = cumulative[None, :] < uniform[:, None] * cumulative[-1]
    return jnp.minimum(jnp.sum(below, axis=1), count - 1)


def trace_back(
    x: Float[Array, "T N Dx"], ancestors: Int[Array, "T-1 N"], last: Int[Array, ""]
) -> Float[Array, "T Dx"]:
    """The path that ends in particle `last`.

    `ancestors[t, i]` is the index at t of what became particle i at t + 1.
    """

    def back(index: Array, row: Array) -> tuple[Array, Array]:
        return row[index], row[index]

    _, earlier = jax.lax.scan(back, last, ancestors, reverse=True)
    indices = jnp.append(earlier, last)
    return jnp.take_along_axis(x, indices[:, None, None], axis=1)[:, 0]
