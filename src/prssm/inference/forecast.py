"""What comes after the present: moments by a Gaussian filter, or drawn trajectories."""

from types import ModuleType

import numpy as np
from jaxtyping import Float

from prssm.inference.gaussian import extended
from prssm.inference.mixing import mixed
from prssm.inference.state_space import Array, Belief, StateSpace, root


def moments(
    space: StateSpace,
    belief: Belief,
    weight: Float[Array, " M"],
    inputs: Float[Array, "T U"],
    rule: ModuleType = extended,
) -> tuple[Float[Array, "T Dy"], Float[Array, "T Dy"]]:
    """Mean and deviation of measurements, the first at the state of the belief itself."""
    means = []
    variances = []
    for t in range(len(inputs)):
        if t > 0:
            belief = rule.predict(space, belief, inputs[t - 1 : t])
        expected = rule.predict_output(space, belief, inputs[t : t + 1])
        spread = np.diagonal(expected.variance, axis1=-2, axis2=-1)
        mean, variance = mixed(weight, expected.output[:, 0], spread[:, 0])
        means.append(mean)
        variances.append(variance)
    return np.array(means), np.sqrt(np.array(variances))


def drawn(
    space: StateSpace,
    belief: Belief,
    weight: Float[Array, " M"],
    inputs: Float[Array, "T U"],
    *,
    samples: int,
    rng: np.random.Generator,
) -> Float[Array, "S T Dy"]:
    """Measured trajectories, each by one member, drawn by the members' weights."""
    owner = rng.choice(space.members, samples, p=weight)
    eps = rng.standard_normal((space.members, samples, space.state_dim))
    factor = root(belief.covariance)
    x = belief.mean + (factor @ eps[..., None])[..., 0]
    path = np.empty((samples, len(inputs), space.output_dim))
    for t in range(len(inputs)):
        if t > 0:
            x = propagated(space, x, inputs[t - 1 : t], rng)
        u = np.repeat(inputs[t : t + 1], samples, axis=0)
        output, _, R = space.output(x, u)
        noise = np.sqrt(np.diagonal(R, axis1=-2, axis2=-1)) * rng.standard_normal(output.shape)
        path[:, t] = (output + noise)[owner, np.arange(samples)]
    return path


def propagated(
    space: StateSpace,
    x: Float[Array, "M N Dx"],
    u: Float[Array, "1 U"],
    rng: np.random.Generator,
) -> Float[Array, "M N Dx"]:
    """The next states of many, process noise included."""
    value, _, Q = space.step(x, np.repeat(u, x.shape[1], axis=0))
    at = np.arange(space.state_dim)
    eps = rng.standard_normal(value.shape)
    if not np.any(Q[..., at[:, None] != at]):  # independent noises need no factor
        return value + np.sqrt(Q[..., at, at]) * eps
    return value + (root(Q) @ eps[..., None])[..., 0]
