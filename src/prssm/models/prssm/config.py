"""The options of PR-SSM.

The defaults are the paper's two configuration tables (supplement, section A.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from prssm.data.record import Record
from prssm.data.splits import most_start_rows
from prssm.data.windows import usual_length
from prssm.dynamics.transition import MEANS
from prssm.foundation.options import Options, option
from prssm.gp.kernels import KERNELS
from prssm.models.prssm.emission import EMISSIONS
from prssm.models.prssm.levels import AUTO, LEVELS


@dataclass(frozen=True)
class PRSSMConfig(Options):
    """Options of PR-SSM, in scaled units (zero mean, unit variance) where they have units."""

    # Structure (the paper's table 'Structural configuration')
    latent_dim: int | None = option(
        4,
        "Dx, dimension of the latent state; none: 6, twice the number of outputs or the order of "
        "the best linear model (up to 20), whichever is most",
        minimum=1,
    )
    inducing: int | None = option(
        20,
        "P, inducing points for each latent dimension; none: 8, or 10 where they grow, "
        "from 800 steps on",
        minimum=1,
    )
    samples: int = option(
        50, "N, sampled trajectories for each sub-trajectory in training", minimum=1
    )
    batch: int = option(10, "sub-trajectories in a mini-batch", minimum=1)
    horizon: int | None = option(
        100,
        "T_sub, length of a sub-trajectory; none: 100, or half of the shortest record if that is "
        "less, where stubs do not count",
        minimum=2,
    )
    stride: int | None = option(
        1,
        "rows of a recording that one step of the model takes; none: one, or more where long "
        "recordings are sampled much faster than they move",
        minimum=1,
    )
    scheme: str = option(
        "stochastic",
        "'stochastic': mini-batches and recognition model; 'full': all of every record, "
        "fixed uninformative first state",
        choices=("stochastic", "full"),
    )
    kernel: str | Callable = option(
        "squared-exponential",
        "covariance function, or a callable (input_dim, signal_std, lengthscale) -> Kernel",
        choices=tuple(KERNELS),
    )
    mean: str = option("identity", "prior mean of the transition", choices=tuple(MEANS))
    neurons: int | None = option(
        0,
        "neurons in the prior mean of the transition beside its linear part, trained with all "
        "else, with start 'linear'; none: no neurons there, but recurrent networks of a size that "
        "held-out errors choose compete with the levels, with grow and complexity 'auto'",
        minimum=0,
    )
    inducing_covariance: str = option(
        "diagonal",
        "covariance of q(z): 'diagonal', or 'full' of the whitened z",
        choices=("diagonal", "full"),
    )
    shared_inducing: bool = option(
        False,
        "one kernel and one set of inducing inputs for all latent dimensions; means and "
        "covariances of q(z) stay each dimension's own",
    )
    draws: str = option(
        "step",
        "the function is drawn anew at every 'step', or once for each 'trajectory'",
        choices=("step", "trajectory"),
    )
    emission: str | Callable = option(
        "selector",
        "'selector': the first states are the outputs; "
        "'linear': C x + D u + offset, trained; or a differentiable "
        "function of a state vector",
        choices=tuple(EMISSIONS),
    )

    start: str = option(
        "random",
        "'random': the paper's random walk; 'linear': a linear model of the data with linear "
        "mean and emission, around which the GP learns",
        choices=("random", "linear"),
    )

    linear_order: int | None = option(
        None,
        "order of the linear model at the start, at most latent_dim; none: chosen on "
        "held-out stretches of the training data",
        minimum=1,
    )

    # Start (the paper's table 'Default configuration for the initialization')
    zeta_range: float = option(2.0, "inducing inputs start uniform in [-range, range]", above=0)
    z_mean_std: float = option(0.05, "inducing means start as N(0, std^2)", minimum=0)
    z_std: float = option(0.01, "inducing standard deviations start here", above=0)
    process_std: float = option(0.002, "process noise starts here", above=0)
    output_std: float = option(1.0, "sensor noise starts here", above=0)
    signal_std: float = option(0.5, "kernel signal deviation starts here", above=0)
    lengthscale: float = option(2.0**0.5, "kernel length scales start here", above=0)

    # What the paper leaves open
    likelihood: str = option(
        "expected",
        "'expected': the mean over samples of the log-likelihood; 'predictive': the "
        "log-likelihood of the samples' mean and spread",
        choices=("expected", "predictive"),
    )
    complexity: str = option(
        "free",
        "how far training may go from its start: 'linear': no GP; 'held': a prior holds mean, "
        "emission and recognition model near the start; 'free': as in the paper; 'held-correlated' "
        "and "
        "'correlated': the same two with noise that is correlated in time; 'auto': all of them, "
        "and a "
        "mixture of those with the smallest errors on held-out stretches of the training data is "
        "kept",
        choices=(*LEVELS, AUTO),
    )
    prior_std: float = option(
        0.1,
        "standard deviation of that prior; 'held-correlated' has three tenths of it",
        above=0,
    )
    recognition_window: int = option(
        16,
        "L, first samples that the recognition model reads; where the horizon is left to the data "
        "at most an eighth of a record (of four and more a fourth), but 4",
        minimum=1,
    )
    recognition_hidden: int = option(32, "hidden units of the recognition model", minimum=1)
    recognition_std: float = option(
        0.1, "standard deviation of the recognised first state before training", above=0
    )
    iterations: int | None = option(
        500, "gradient steps; none: 2000, or 4000 for long data at one level", minimum=0
    )
    first_round: float = option(
        0.55,
        "share of the iterations that all levels have; after it only those go on whose held-out "
        "errors are near the best. Without levels to choose from there is one round",
        above=0,
    )
    grow: bool = option(
        False,
        "whether rate, states, inducing points, horizon and iterations grow where held-out errors "
        "fall with them, and networks compete (neurons); with complexity 'auto'",
    )
    last_rate: float = option(
        0.5, "step size at the start of a stage of growth, relative to learning_rate", above=0
    )
    learning_rate: float = option(0.05, "step size of Adam at the start", above=0)
    final_learning_rate: float = option(
        0.0005, "step size at the end, reached along a cosine", above=0
    )
    kl_warmup: float = option(
        0.5,
        "fraction of the iterations in which the KL terms come in, from 0 to their full weight; "
        "restarts are always compared by the full ELBO",
        minimum=0,
    )
    gradient_clip: float = option(
        10.0, "largest norm of the ELBO's gradient for each recorded step", above=0
    )
    restarts: int = option(
        16, "starts trained at once; those with the best training ELBO are kept", minimum=1
    )
    members: int = option(1, "how many of the restarts are kept, as a mixture", minimum=1)
    seed: int = option(0, "seed of everything random", minimum=0)
    folds: int | None = option(
        0,
        "the band is calibrated on so many stretches of the training data, each predicted by "
        "models that have not seen it; 0: not calibrated; none: 6, or 3 for long data",
        minimum=0,
    )
    fold_restarts: int = option(2, "starts trained for each of the folds", minimum=1)
    simulation_samples: int = option(200, "trajectories of a simulation", minimum=2)
    normalise: bool = option(True, "scale inputs and outputs to zero mean and unit variance")
    engine: str = option(
        "auto",
        "what runs the recursion and its gradient: 'native' is compiled, 'cuda' for NVIDIA GPUs, "
        "'adjoint' is JAX with the gradient by hand, 'scan' plain JAX (the oracle); 'auto': native "
        "or cuda "
        "where it is there and applies, else adjoint. '-single': in single precision where "
        "compiled",
        choices=(
            "auto",
            "auto-single",
            "native",
            "native-single",
            "cuda",
            "cuda-single",
            "adjoint",
            "scan",
        ),
    )

    def resolved(self, records: Sequence[Record], rows: int | None = None) -> "ResolvedConfig":
        """With what the data decide filled in.

        `rows` says how many there are in all, where these records are not all.
        """
        steps = rows or sum(map(len, records))
        is_long = steps >= _LONG
        # What grows begins small; a single level does not grow.
        large = is_long and not (self.grow and self.complexity == AUTO)
        small = 10 if steps >= LEAST_TO_GROW else 8
        found = {
            "latent_dim": max(_LATENT_DIM, 2 * records[0].output_dim),
            "horizon": max(2, min(_HORIZON, usual_length(records) // 2)),
            "inducing": 20 if large else small,
            "iterations": 4000 if large else 2000,
            "folds": 3 if is_long else 6,
            "neurons": 0,
        }
        found = {name: value for name, value in found.items() if getattr(self, name) is None}
        if "horizon" in found:
            # one record that stands for others says nothing of what can be held out
            most = found["horizon"] if rows else most_start_rows(records)
            found["recognition_window"] = min(self.recognition_window, found["horizon"], most)
        return cast(ResolvedConfig, self.replace(**found))


if TYPE_CHECKING:
    from prssm.dynamics.engines.choice import Engine
    from prssm.models.prssm.elbo import Draws, Likelihood

    class ResolvedConfig(PRSSMConfig):
        """Options of which the data have decided the rest, as the type checker sees them.

        No size is none, and words are the ones that are allowed.
        """

        latent_dim: int
        inducing: int
        horizon: int
        iterations: int
        folds: int
        neurons: int
        engine: Engine
        draws: Draws
        likelihood: Likelihood

else:
    ResolvedConfig = PRSSMConfig


_LATENT_DIM = 6
_HORIZON = 100
_LONG = 4000  # steps in all, of which three held-out stretches say enough
LEAST_TO_GROW = 800  # steps in all, from which on more states and larger sizes are tried
# what data may decide
RESOLVED = (
    *("latent_dim", "horizon", "recognition_window", "inducing", "iterations", "folds"),
    *("neurons", "recognition_hidden"),
)
# twice the restarts in the same time (docs/studies/training.md)
PAPER = PRSSMConfig(engine="auto-single")
DEFAULT = PRSSMConfig(
    latent_dim=None,
    horizon=None,
    stride=None,
    inducing=None,
    samples=2,
    batch=16,
    mean="linear",
    emission="linear",
    start="linear",
    inducing_covariance="full",
    draws="trajectory",
    signal_std=0.2,
    lengthscale=2.0,
    z_std=0.3,
    process_std=0.01,
    iterations=None,
    learning_rate=0.02,
    complexity="auto",
    folds=None,
    fold_restarts=2,
    members=4,
    engine="auto-single",
    grow=True,
    neurons=None,
)
