"""The one recursion through time: x_{t+1} = mean(x_t, u_t) + std(x_t, u_t) eps_t.

Two engines compute the same trajectories and the same gradients. `scan` is the plain recursion, differentiated by JAX:
the readable oracle. `adjoint` saves only the states and runs the adjoint recursion by hand; it is the fast one.
"""

from typing import Literal

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from prssm.gp.kernels import Kernel
from prssm.gp.sparse import Conditional
from prssm.models.transition import Dynamics

Engine = Literal["adjoint", "scan"]


def rollout(dynamics: Dynamics, x1: Float[Array, "Dx B"], u: Float[Array, "T Du B"], eps: Float[Array, "T Dx B"],
            engine: Engine = "adjoint") -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T, reparametrised by `eps` (its last row is not used: nothing follows x_T)."""
    run = _scan if engine == "scan" else _adjoint
    return run(dynamics, x1, u, eps)


def _scan(dynamics: Dynamics, x1: Array, u: Array, eps: Array) -> Array:
    def step(x: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
        u_t, eps_t = inputs
        mean, variance = dynamics(x, u_t)
        following = mean + jnp.sqrt(variance) * eps_t
        return following, following

    _, later = lax.scan(step, x1, (u[:-1], eps[:-1]))
    return jnp.concatenate([x1[None], later])


@jax.custom_vjp
def _adjoint(dynamics: Dynamics, x1: Array, u: Array, eps: Array) -> Array:
    return _scan(dynamics, x1, u, eps)


def _forward(dynamics: Dynamics, x1: Array, u: Array, eps: Array) -> tuple[Array, tuple]:
    states = _scan(dynamics, x1, u, eps)
    return states, (dynamics, states, u, eps)


def _backward(saved: tuple, g_states: Array) -> tuple[Dynamics, Array, Array, Array]:
    """g_t = (d loss / d x_t through all later steps): walk from the last step to the first, summing parameter gradients."""
    dynamics, states, u, eps = saved

    def step(carry: tuple, inputs: tuple) -> tuple[tuple, tuple]:
        g_next, g_dynamics = carry
        x, u_t, eps_t, g_here = inputs
        g_step, g_x, g_u, g_eps = _step_adjoint(dynamics, x, u_t, eps_t, g_next)
        return (g_here + g_x, jax.tree.map(jnp.add, g_dynamics, g_step)), (g_u, g_eps)

    start = (g_states[-1], jax.tree.map(jnp.zeros_like, dynamics))
    inputs = (states[:-1], u[:-1], eps[:-1], g_states[:-1])
    (g_x1, g_dynamics), (g_u, g_eps) = lax.scan(step, start, inputs, reverse=True)
    last_u, last_eps = jnp.zeros_like(u[:1]), jnp.zeros_like(eps[:1])
    return g_dynamics, g_x1, jnp.concatenate([g_u, last_u]), jnp.concatenate([g_eps, last_eps])


_adjoint.defvjp(_forward, _backward)


def _step_adjoint(dynamics: Dynamics, x: Array, u: Array, eps: Array, g: Array) -> tuple[Dynamics, Array, Array, Array]:
    """Cotangents of one step's parameters, state, input and noise, given g = d loss / d x_{t+1}.

    With k = k(zeta, xu), q = Q k, v = k_xx - k'q + process variance, x_{t+1} = m(x, u) + w'k + sqrt(v) eps:
        dL/dv = g eps / (2 sqrt(v)),   dL/dk = w g - 2 q dL/dv,   dL/dw = sum_b k g,   dL/dQ = -sum_b k dL/dv k'.
    The kernel is recomputed rather than saved, and only it and the prior mean are left to automatic differentiation.
    """
    gp, process_var = dynamics.gp, dynamics.process_var

    def covariances(kernel: Kernel, zeta: Array, xu: Array) -> tuple[Array, Array]:
        return jax.vmap(lambda kernel, zeta: (kernel.cross(zeta, xu), kernel.diag(xu)))(kernel, zeta)

    (k, k_xx), kernel_vjp = jax.vjp(covariances, gp.kernel, gp.zeta, jnp.concatenate([x, u]))
    _, mean_vjp = jax.vjp(lambda mean, x, u: mean(x, u), dynamics.mean, x, u)
    q = jnp.einsum("dpq,dqb->dpb", gp.quadratic, k)
    gp_var = k_xx - jnp.sum(k * q, axis=1)
    std = jnp.sqrt(jnp.maximum(gp_var, 0.0) + process_var[:, None])
    g_var = 0.5 * g * eps / std
    g_gp_var = jnp.where(gp_var > 0.0, g_var, 0.0)  # the floor of the variance passes no gradient

    g_k = gp.weights[:, :, None] * g[:, None, :] - 2.0 * q * g_gp_var[:, None, :]
    g_weights = jnp.einsum("dpb,db->dp", k, g)
    g_quadratic = -jnp.einsum("dpb,dqb->dpq", k * g_gp_var[:, None, :], k)
    g_kernel, g_zeta, g_xu = kernel_vjp((g_k, g_gp_var))
    g_mean, g_x, g_u = mean_vjp(g)
    g_dynamics = Dynamics(Conditional(g_kernel, g_zeta, g_weights, g_quadratic), g_mean, jnp.sum(g_var, axis=1))
    return g_dynamics, g_x + g_xu[: len(x)], g_u + g_xu[len(x):], std * g
