"""One iteration of particle Gibbs for SS-GP-SSM (Svensson and Schon 2017).

It draws states, hyper-parameters, weights and noises of

    x_{t+1} = F x_t + G u_t + A phi(x_t, u_t) + w_t,  w ~ N(0, Q),
    y_t = [I 0] x_t + e_t,  e ~ N(0, R).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from prssm.gp.spectral import BoxBasis, outer, squared_exponential_density
from prssm.inference.particles.gibbs import Noise, StepMean, sample_path
from prssm.models.ssgpssm.basis_posterior import Statistics, WeightPosterior, chi_square

_PROPOSAL_STD = 0.15  # random walk of the logarithms of signal deviation and length scales
_SIGNAL_PRIOR_STD = 1.0  # of the logarithm of the signal deviation
_LENGTHSCALE_PRIOR_STD = 0.5  # of the logarithm of a length scale
# How many samples the prior of a sensor noise, or of the process noise beyond the least, weighs.
_PRIOR_SAMPLES = 2.0


class Structure(eqx.Module):
    """What a fit keeps fixed: the basis and the linear mean."""

    state_basis: BoxBasis
    input_basis: BoxBasis
    F: Float[Array, "Dx Dx"]
    G: Float[Array, "Dx Du"]

    @property
    def size(self) -> int:
        return self.state_basis.size * self.input_basis.size

    def frequencies(self) -> Float[Array, "M D"]:
        """Frequencies of all products of a state function and an input function.

        The input's run fastest.
        """
        x = self.state_basis.frequencies()
        u = self.input_basis.frequencies()
        return jnp.concatenate([jnp.repeat(x, len(u), axis=0), jnp.tile(u, (len(x), 1))], axis=1)

    def features(
        self, x: Float[Array, "... Dx"], u: Float[Array, "... Du"]
    ) -> Float[Array, "... M"]:
        return outer(self.state_basis(x), self.input_basis(u))

    def linear(
        self, x: Float[Array, "... Dx"], u: Float[Array, "... Du"]
    ) -> Float[Array, "... Dx"]:
        return x @ self.F.T + u @ self.G.T

    def along(
        self, weights: Float[Array, "Dx M"], u: Float[Array, "T Du"]
    ) -> tuple[StepMean, tuple]:
        """The mean step and what it needs at each time.

        The input's part is summed once, not for each particle.
        """
        known = self.input_basis(u)
        by_state = jnp.einsum(
            "dmk,tk->tmd", weights.reshape(len(weights), -1, known.shape[1]), known
        )

        def step_mean(x: Array, now: tuple) -> Array:
            weights_t, drift = now
            return x @ self.F.T + drift + self.state_basis(x) @ weights_t

        return step_mean, (by_state, u @ self.G.T)


class Training(eqx.Module):
    """Records of equal length, shorter ones padded with missing outputs; and the prior."""

    u: Float[Array, "E T Du"]
    y: Float[Array, "E T Dy"]
    valid: Float[Array, "E T-1"]  # one where a step was really recorded
    process_var: Float[Array, ""]
    output_var: Float[Array, ""]
    hyper_mean: Float[Array, " H"]  # logarithms of the signal deviation and of each length scale
    sample_hyper: Bool[Array, ""]


class Chain(eqx.Module):
    """The sampler's state."""

    path: Float[Array, "E T Dx"]
    weights: Float[Array, "Dx M"]
    process: Float[Array, "Dx Dx"]
    output_std: Float[Array, " Dy"]
    hyper: Float[Array, " H"]
    log_likelihood: Float[Array, ""]  # the particle filter's estimate at the last parameters


def noise_of(process: Array, output_std: Array) -> Noise:
    """With the prior of a first state: scaled outputs and hidden states have unit variance."""
    return Noise(process, jnp.zeros(len(process)), jnp.eye(len(process)), output_std=output_std)


def sweep(
    chain: Chain, structure: Structure, data: Training, particles: int, key: PRNGKeyArray
) -> Chain:
    """One iteration: every unknown drawn given all others.

    The weights and Q are integrated out for the hyper-parameters.
    """
    key_path, key_hyper, key_weights, key_noise = jax.random.split(key, 4)
    path, log_likelihood = _draw_paths(chain, structure, data, particles=particles, key=key_path)
    target = path[:, 1:] - structure.linear(path[:, :-1], data.u[:, :-1])
    phi = structure.features(path[:, :-1], data.u[:, :-1])
    sums = Statistics.of(
        phi.reshape(-1, structure.size), target.reshape(-1, target.shape[-1]), data.valid.ravel()
    )
    hyper, posterior = _draw_hyper(chain.hyper, sums, structure, data=data, key=key_hyper)
    most = data.valid.size + target.shape[-1] + int(_PRIOR_SAMPLES)
    weights, process = posterior.sample(key_weights, most)
    return Chain(
        path,
        weights,
        process,
        output_std=_draw_output_std(path, data, key_noise),
        hyper=hyper,
        log_likelihood=log_likelihood,
    )


def _draw_paths(
    chain: Chain, structure: Structure, data: Training, particles: int, key: PRNGKeyArray
) -> tuple[Array, Array]:
    noise = noise_of(chain.process, chain.output_std)

    def one(u: Array, y: Array, reference: Array, draw: PRNGKeyArray) -> tuple[Array, Array]:
        step_mean, steps = structure.along(chain.weights, u)
        return sample_path(
            step_mean, steps, y, noise=noise, particles=particles, key=draw, reference=reference
        )

    path, log_likelihood = jax.vmap(one)(
        data.u, data.y, chain.path, jax.random.split(key, len(data.u))
    )
    return path, jnp.sum(log_likelihood)


def weight_posterior(
    sums: Statistics, hyper: Array, structure: Structure, data: Training
) -> WeightPosterior:
    """The prior of the weights comes from the kernel; that of Q has mean `process_var`."""
    states = len(structure.F)
    prior_var = squared_exponential_density(
        structure.frequencies(), jnp.exp(hyper[0]), jnp.exp(hyper[1:])
    )
    return WeightPosterior.create(
        sums,
        prior_var,
        dof=states + _PRIOR_SAMPLES,
        scale=data.process_var * jnp.eye(states),
    )


def _draw_hyper(
    hyper: Array, sums: Statistics, structure: Structure, data: Training, key: PRNGKeyArray
) -> tuple[Array, WeightPosterior]:
    """One Metropolis step on the logarithms."""
    key_propose, key_accept = jax.random.split(key)
    prior_std = jnp.full(hyper.shape, _LENGTHSCALE_PRIOR_STD).at[0].set(_SIGNAL_PRIOR_STD)

    def judged(value: Array) -> tuple[Array, WeightPosterior]:
        posterior = weight_posterior(sums, value, structure, data=data)
        return posterior.log_evidence() - 0.5 * jnp.sum(
            ((value - data.hyper_mean) / prior_std) ** 2
        ), posterior

    proposed = hyper + _PROPOSAL_STD * jax.random.normal(key_propose, hyper.shape)
    (before, old) = judged(hyper)
    (after, new) = judged(proposed)
    accept = data.sample_hyper & (jnp.log(jax.random.uniform(key_accept)) < after - before)
    return jax.tree.map(lambda a, b: jnp.where(accept, a, b), (proposed, new), (hyper, old))


def _draw_output_std(path: Array, data: Training, key: PRNGKeyArray) -> Array:
    """R given the states: an independent scaled inverse chi-square variance for each output."""
    seen = ~jnp.isnan(data.y)
    error = jnp.where(seen, jnp.where(seen, data.y, 0.0) - path[..., : data.y.shape[-1]], 0.0)
    count = jnp.sum(seen, axis=(0, 1))
    square = jnp.sum(error**2, axis=(0, 1))
    most = data.y.shape[0] * data.y.shape[1] + int(_PRIOR_SAMPLES)
    return jnp.sqrt(
        (_PRIOR_SAMPLES * data.output_var + square) / chi_square(key, _PRIOR_SAMPLES + count, most)
    )
