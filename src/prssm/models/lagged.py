"""What all methods share whose state is a window of past outputs and inputs: their options."""

from dataclasses import dataclass

from prssm.foundation.options import Options, option

LEAST_WARMUP = 16  # first samples that every method of the benchmark may look at
PROPAGATIONS = ("moment-matching", "mean")


@dataclass(frozen=True)
class LaggedConfig(Options):
    """Options that all autoregressive methods have."""

    lags: int | None = option(
        None, "past outputs and inputs in the window; none: chosen on the training data", minimum=1
    )
    propagation: str = option(
        "moment-matching", "how uncertainty travels through a free run", choices=PROPAGATIONS
    )
    normalise: bool = option(True, "scale inputs and outputs to zero mean and unit variance")
    seed: int = option(0, "seed of random starts and random subsets", minimum=0)
