"""The options of REVARB.

The defaults are those of the PR-SSM paper's benchmark (supplement, section A.3).
"""

from dataclasses import dataclass

from prssm.foundation.options import option
from prssm.models.lagged import LaggedConfig


@dataclass(frozen=True)
class REVARBConfig(LaggedConfig):
    """Options of REVARB."""

    layers: int = option(1, "hidden layers", minimum=1)
    inducing: int = option(
        100, "inducing inputs of each layer (fewer if there are fewer rows)", minimum=1
    )
    fixed_iterations: int = option(
        50, "first iterations, with kernel and noise variances held fixed", minimum=0
    )
    iterations: int = option(
        10000, "most iterations after that, with all parameters free", minimum=0
    )
    least_gain: float = option(
        1e-3, "stop when 100 iterations gain less bound than this for each row", minimum=0
    )
    restarts: int = option(
        1, "random sets of inducing inputs, of which the best training bound is kept", minimum=1
    )
    state_std: float = option(
        0.1, "deviations of q(x_t) start here, relative to the outputs' spread", above=0
    )


ONE_LAYER = REVARBConfig()
TWO_LAYERS = REVARBConfig(layers=2)
