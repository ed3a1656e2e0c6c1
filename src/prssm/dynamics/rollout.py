"""The one recursion through time: x_{t+1} = mean(x_t, u_t) + std(x_t, u_t) eps_t, and its adjoint.

`scan_rollout` is the plain recursion, differentiated by JAX: the readable oracle. `adjoint_rollout`
saves only the states and runs the adjoint recursion by hand. `engines` holds compiled forms of the
same and chooses between them.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from prssm.dynamics.transition import Dynamics
from prssm.gp.kernels import Kernel
from prssm.gp.sparse import Posterior


def scan_rollout(
    dynamics: Dynamics,
    x1: Float[Array, "Dx B"],
    u: Float[Array, "T Du B"],
    eps: Float[Array, "T Dx B"],
) -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T, reparametrised by `eps`.

    The last row of `eps` is not used: nothing follows x_T.
    """

    def step(x: Array, inputs: tuple[Array, Array]) -> tuple[Array, Array]:
        u_t, eps_t = inputs
        mean, variance = dynamics(x, u_t)
        following = mean + jnp.sqrt(variance) * eps_t
        return following, following

    _, later = lax.scan(step, x1, (u[:-1], eps[:-1]))
    return jnp.concatenate([x1[None], later])


@jax.custom_vjp
def adjoint_rollout(dynamics: Dynamics, x1: Array, u: Array, eps: Array) -> Array:
    """The same trajectories; their gradient is the adjoint recursion below."""
    return scan_rollout(dynamics, x1, u, eps=eps)


def _forward(dynamics: Dynamics, x1: Array, u: Array, eps: Array) -> tuple[Array, tuple]:
    states = scan_rollout(dynamics, x1, u, eps=eps)
    return states, (dynamics, states, u, eps)


def _backward(saved: tuple, g_states: Array) -> tuple[Dynamics, Array, Array, Array]:
    """Gradients by the adjoint recursion: from the last step to the first, summing over the steps.

    g_t is d loss / d x_t through all later steps.
    """
    dynamics, states, u, eps = saved

    def step(carry: tuple, inputs: tuple) -> tuple[tuple, tuple]:
        g_next, g_dynamics = carry
        x, u_t, eps_t, g_here = inputs
        g_step, g_x, g_u, g_eps = _step_adjoint(dynamics, x, u_t, eps=eps_t, g=g_next)
        return (g_here + g_x, jax.tree.map(jnp.add, g_dynamics, g_step)), (g_u, g_eps)

    start = (g_states[-1], jax.tree.map(jnp.zeros_like, dynamics))
    inputs = (states[:-1], u[:-1], eps[:-1], g_states[:-1])
    (g_x1, g_dynamics), (g_u, g_eps) = lax.scan(step, start, inputs, reverse=True)
    last_u = jnp.zeros_like(u[:1])
    last_eps = jnp.zeros_like(eps[:1])
    return g_dynamics, g_x1, jnp.concatenate([g_u, last_u]), jnp.concatenate([g_eps, last_eps])


adjoint_rollout.defvjp(_forward, _backward)


def _step_adjoint(
    dynamics: Dynamics, x: Array, u: Array, eps: Array, g: Array
) -> tuple[Dynamics, Array, Array, Array]:
    """Cotangents of one step's parameters, state, input and noise, given g = d loss / d x_{t+1}.

    With k = k(zeta, xu), a = W k, c = V'a and the variance v = (k_xx - a'a) + c'c + process
    variance, x_{t+1} = m(x, u) + m'a + sqrt(v) eps:
        dL/dv = g eps / (2 sqrt(v)),   dL/da = m g + 2 (V c - a) dL/dv,   dL/dk = W' dL/da,
        dL/dm = sum_b a g,   dL/dV = 2 sum_b a dL/dv c',   dL/dW = sum_b dL/da k'.
    The kernel is recomputed rather than saved, and only it and the prior mean are left to automatic
    differentiation.
    """
    gp = dynamics.gp

    def covariances(kernel: Kernel, zeta: Array, xu: Array) -> tuple[Array, Array]:
        return jax.vmap(lambda kernel, zeta: (kernel.cross(zeta, xu), kernel.diag(xu)))(
            kernel, zeta
        )

    (k, k_xx), kernel_vjp = jax.vjp(covariances, gp.kernel, gp.zeta, jnp.concatenate([x, u]))
    _, mean_vjp = jax.vjp(lambda mean, x, u: mean(x, u), dynamics.mean, x, u)
    a = jnp.einsum("dpq,dqb->dpb", gp.white, k)
    c = None if gp.spread is None else jnp.einsum("dqp,dqb->dpb", gp.spread, a)
    unsaid = k_xx - jnp.sum(a**2, axis=1)
    variance = (
        jnp.maximum(unsaid, 0.0)
        + (0.0 if c is None else jnp.sum(c**2, axis=1))
        + dynamics.process_var[:, None]
    )
    std = jnp.sqrt(variance)
    g_var = 0.5 * g * eps / std
    g_unsaid = jnp.where(unsaid > 0.0, g_var, 0.0)  # the floor of the variance passes no gradient

    shared = gp.mean.ndim == 2  # one q(v) for all trajectories, else one draw for each
    g_a = (gp.mean[:, :, None] if shared else gp.mean) * g[:, None, :] - 2.0 * a * g_unsaid[
        :, None, :
    ]
    g_mean_v = jnp.einsum("dpb,db->dp", a, g) if shared else a * g[:, None, :]
    g_spread = None
    if c is not None:
        g_a += 2.0 * jnp.einsum("dpq,dqb->dpb", gp.spread, c) * g_var[:, None, :]
        g_spread = 2.0 * jnp.einsum("dpb,dqb->dpq", a * g_var[:, None, :], c)
    g_white = jnp.einsum("dpb,dqb->dpq", g_a, k)
    g_kernel, g_zeta, g_xu = kernel_vjp((jnp.einsum("dqp,dqb->dpb", gp.white, g_a), g_unsaid))
    g_mean, g_x, g_u = mean_vjp(g)
    g_gp = Posterior(g_kernel, g_zeta, g_white, mean=g_mean_v, spread=g_spread)
    g_dynamics = Dynamics(g_gp, g_mean, jnp.sum(g_var, axis=1))
    return g_dynamics, g_x + g_xu[: len(x)], g_u + g_xu[len(x) :], std * g
