"""Members of a mixture, weighed by how well each has foretold the measurements."""

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array

# What a member's record counts for after one more measurement. None of the members is the truth,
# so the best one changes; with 1.0 one of them would soon have all the weight for ever.
MEMORY = 0.98


def weighed(
    log_weight: Float[Array, " M"], log_likelihood: Float[Array, " M"]
) -> tuple[Float[Array, " M"], float]:
    """Logarithms of the weights after one more measurement, and its log-density before it came."""
    if not np.isfinite(log_likelihood).all():  # a member that is lost has nothing to say
        log_likelihood = np.where(np.isfinite(log_likelihood), log_likelihood, -np.inf)
    evidence = float(_log_sum(log_weight + log_likelihood))
    return normalised(MEMORY * log_weight + log_likelihood), evidence


def normalised(log_weight: Float[Array, " M"]) -> Float[Array, " M"]:
    """So that the weights add up to one."""
    return log_weight - _log_sum(log_weight)


def _log_sum(values: Float[Array, " M"]) -> np.float64:
    highest = values.max()
    return highest + np.log(np.exp(values - highest).sum())


def mixed(
    weight: Float[Array, " M *rest"],
    mean: Float[Array, "M *rest D"],
    variance: Float[Array, "M *rest D"],
) -> tuple[Float[Array, "*rest D"], Float[Array, "*rest D"]]:
    """Mean and variance of the mixture, by the law of total variance."""
    share = weight[..., None]
    if not weight.all():  # a member that is lost may hold anything
        mean = np.where(share > 0.0, mean, 0.0)
        variance = np.where(share > 0.0, variance, 0.0)
    centre = (share * mean).sum(axis=0)
    return centre, (share * (variance + (mean - centre) ** 2)).sum(axis=0)
