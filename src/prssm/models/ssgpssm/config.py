"""Options of SS-GP-SSM."""

from dataclasses import dataclass

from prssm.foundation.errors import OptionError
from prssm.foundation.options import Options, option

MEANS = ("linear", "zero")
HYPER = ("sampled", "fixed")
MOST_BASIS_FUNCTIONS = 3000  # each iteration factorises a matrix of this size


@dataclass(frozen=True)
class SSGPSSMConfig(Options):
    """Options of SS-GP-SSM; the defaults are the paper's.

    K = 2000 iterations, N = 40 particles, 7 basis functions a dimension, two latent states.
    """

    latent_dim: int = option(2, "number of latent states; the first are the outputs", minimum=1)
    iterations: int = option(2000, "iterations of the particle Gibbs sampler (K)", minimum=2)
    particles: int = option(40, "particles of the conditional particle filter (N)", minimum=2)
    n_basis_x: int = option(7, "basis functions in each state dimension", minimum=1)
    n_basis_u: int = option(7, "basis functions in each input dimension", minimum=1)
    box: float = option(
        1.5,
        "half-width of the basis functions' domain, relative to the largest training value",
        above=1.0,
    )
    mean: str = option(
        "linear",
        "prior mean of the transition: a linear model of the training data, or zero",
        choices=MEANS,
    )
    hyper: str = option(
        "sampled", "whether kernel hyper-parameters are sampled along or kept", choices=HYPER
    )
    signal_std: float = option(
        3.0, "the function's prior deviation in units of the process noise's (median)", above=0.0
    )
    lengthscale: float = option(
        1.0, "length scale of the kernel in scaled units (median)", above=0.0
    )
    process_std: float = option(
        0.1, "prior deviation of the process noise, in scaled units", above=0.0
    )
    output_std: float = option(
        0.1, "prior deviation of the sensor noise, in scaled units", above=0.0
    )
    burn_in: float = option(0.5, "fraction of the iterations that is thrown away", minimum=0.0)
    posterior_samples: int = option(
        200, "models kept of the iterations after the burn-in, evenly spaced", minimum=1
    )
    chains: int = option(
        1,
        "independent samplers, side by side; the one that explains the outputs best is kept",
        minimum=1,
    )
    warmup: int = option(
        16, "first samples of a recording from which the first state is estimated", minimum=0
    )
    simulation_samples: int = option(
        1000, "trajectories of a free run, spread over the kept models", minimum=2
    )
    seed: int = option(0, "seed of the sampler", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.burn_in >= 1.0:
            raise OptionError(f"option burn_in: expected less than 1, got {self.burn_in}")

    @property
    def first_kept(self) -> int:
        """The iteration whose model is the first to be kept."""
        return int(self.burn_in * self.iterations)

    @property
    def thinning(self) -> int:
        """Iterations from one kept model to the next."""
        return max(1, (self.iterations - self.first_kept) // self.posterior_samples)

    @property
    def kept_count(self) -> int:
        return min(self.posterior_samples, self.iterations - self.first_kept)

    def check_structure(self, input_dim: int, output_dim: int) -> None:
        """Refuse what cannot be computed, by the option that would mend it."""
        if self.latent_dim < output_dim:
            raise OptionError(
                f"option latent_dim: expected at least {output_dim}, the number of outputs, "
                f"got {self.latent_dim}"
            )
        size = self.n_basis_x**self.latent_dim * self.n_basis_u**input_dim
        if size > MOST_BASIS_FUNCTIONS:
            product = f"{self.n_basis_x}^{self.latent_dim} x {self.n_basis_u}^{input_dim}"
            raise OptionError(
                f"option n_basis_x: {product} = {size} basis functions, "
                f"expected at most {MOST_BASIS_FUNCTIONS}; "
                "choose fewer a dimension (n_basis_x, n_basis_u) or fewer states"
            )


PAPER = SSGPSSMConfig()
