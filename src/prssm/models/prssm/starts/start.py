"""Where PR-SSM's training starts.

The paper's random walk, or a linear model of the data around which the GP learns.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from prssm.data.pieces import spread_out
from prssm.data.record import Record
from prssm.dynamics.transition import MEANS, LinearMean, Mean, NetworkMean, Transition
from prssm.gp.kernels import KERNELS, Kernel
from prssm.gp.sparse import DiagonalInducing, Inducing, SparseGP, WhitenedInducing
from prssm.models.prssm.config import ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import build_emission
from prssm.models.prssm.levels import Level
from prssm.models.prssm.recognition import Recognition
from prssm.models.prssm.starts.linear_start import Choose, LinearOrders, LinearStart

if TYPE_CHECKING:
    from prssm.models.prssm.fitting.held_out import Fold

MOST_STATES = 20  # that the data may ask for, as many as a linear model may have
# What a model without a GP has: hardly a signal, and hardly process noise. All that a linear model
# or a network errs is in its sensors' noise.
_WITHOUT_GP = {"signal_std": 1e-4, "z_mean_std": 0.0, "process_std": 1e-4}


class Starts:
    """Restarts on some records at any level; restart r is the same whatever the number of restarts.

    A level (see `levels`) takes one of the ways to start that this offers.
    """

    def __init__(
        self,
        config: ResolvedConfig,
        records: Sequence[Record],
        of_all: "Starts | None" = None,
        choose: Choose = LinearOrders.choose,
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        """`of_all`: the starts on all records, of which `records` are a part.

        They decide how complex a linear model may be for both: choosing anew for every part would
        take longer than the training. `choose` is how that is decided. Once `enough` says so (a
        budget of time ends), linear models are made in a hurry.
        """
        self.choose = choose
        self.enough = enough
        self.config = config
        self.whole = records
        self.records = spread_out(records)
        self.of_all = of_all
        self.sizes = records[0].input_dim, records[0].output_dim
        self._parts: dict[int, tuple[Any, Starts]] = {}

    @cached_property
    def orders(self) -> LinearOrders:
        if self.of_all is not None:
            return self.of_all.orders
        config = self.config
        return self.choose(
            self.whole, config.latent_dim, config.recognition_window, order=config.linear_order
        )

    @property
    def linear_order(self) -> int | None:
        """That of the best linear model, where somebody has asked for `orders`."""
        orders = vars(self).get("orders")
        return None if orders is None else orders.limits[0].order

    def with_states_of_the_data(self) -> "Starts":
        """The same with as many states as the best linear model has, if that is more."""
        config = self.config
        orders = self.choose(
            self.whole, MOST_STATES, config.recognition_window, order=config.linear_order
        )
        states = max(config.latent_dim, orders.states)
        found = Starts(config.replace(latent_dim=states), self.whole, enough=self.enough)
        found.orders = orders.up_to(states)
        return found

    @property
    def together(self) -> int:
        """How many linear models the level `linear` is the mean of."""
        return self.orders.together if self.config.start == "linear" else 1

    def on(self, fold: "Fold") -> "Starts":
        """Restarts on what a fold shows, made once."""
        if id(fold) not in self._parts:
            made = Starts(self.config, fold.shown_records, self, enough=self.enough)
            self._parts[id(fold)] = (fold, made)
        return self._parts[id(fold)][1]

    def with_config(self, config: ResolvedConfig) -> "Starts":
        """The same linear models with other options, such as more states."""
        found = Starts(config, self.whole, self.of_all, enough=self.enough)
        found.orders = self.orders
        found.linear = self.linear
        return found

    @cached_property
    def linear(self) -> list[LinearStart]:
        limits = self.orders.limits
        of_all = self.of_all.linear if self.of_all is not None else [None] * len(limits)
        window = self.config.recognition_window
        return [
            LinearStart.fit(
                self.whole,
                one,
                window,
                near=near,
                thorough=number < self.orders.together,
                enough=self.enough,
            )
            for number, (one, near) in enumerate(zip(limits, of_all, strict=True))
        ]

    def create(self, level: Level, count: int) -> StateSpaceModel:
        """`count` restarts of one level, stacked."""
        rngs = [np.random.default_rng([self.config.seed, restart]) for restart in range(count)]
        return stacked([self._one(level, restart, rng) for restart, rng in enumerate(rngs)])

    def _one(self, level: Level, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        if self.config.start == "random":
            return random_model(self.config, *self.sizes, rng)
        return level.start(self, restart, rng)

    def linear_model(
        self, restart: int, rng: np.random.Generator, with_gp: bool = True
    ) -> StateSpaceModel:
        """A linear model of the data, with or without a GP on top.

        Its order changes from restart to restart.
        """
        linear = self.linear[restart % len(self.linear)]
        if with_gp:
            return linear_model(self.config, linear.that_can_learn(), rng)
        return linear_model(self.config.replace(**_WITHOUT_GP), linear.turned(), rng)

    def network_model(self, restart: int, rng: np.random.Generator) -> StateSpaceModel:
        """A network that was trained before; see `networks.contender`."""
        raise NotImplementedError

    def random_walk(self, rng: np.random.Generator) -> StateSpaceModel:
        """A state that stays where it is, with a GP that is to learn the rest."""
        window = self.config.recognition_window
        walk = LinearStart.random_walk(self.config.latent_dim, *self.sizes, window)
        return linear_model(self.config, walk, rng)


def stacked(trees: Sequence[Any]) -> Any:
    """Trees of the same structure as one, whose arrays lead with a new axis."""
    return jax.tree.map(lambda *leaves: np.stack(leaves).astype(np.float64), *trees)


def random_model(
    config: ResolvedConfig, input_dim: int, output_dim: int, rng: np.random.Generator
) -> StateSpaceModel:
    """Random start as in the paper's table.

    A random walk whose transition is nearly the identity.
    """
    dx = config.latent_dim
    din = config.latent_dim + input_dim
    zeta = rng.uniform(-config.zeta_range, config.zeta_range, (_sets(config), config.inducing, din))
    gp = SparseGP(_kernels(config, din), zeta, _inducing(config, rng))
    mean = MEANS[config.mean](dx, input_dim)
    transition = Transition(gp, mean, np.full(dx, np.log(config.process_std)))
    emission = build_emission(config.emission, dx, output_dim, input_dim=input_dim)
    recognition = None
    if config.scheme == "stochastic":
        recognition = Recognition.create(
            config.recognition_window * (input_dim + output_dim),
            dx,
            config.recognition_hidden,
            config.recognition_std,
            emission.shown,
            rng,
        )
    return StateSpaceModel(
        transition,
        emission,
        recognition,
        log_output_std=np.full(output_dim, np.log(config.output_std)),
        noise_memory=np.zeros(output_dim),
    )


def linear_model(
    config: ResolvedConfig, linear: LinearStart, rng: np.random.Generator
) -> StateSpaceModel:
    """A linear model with a GP on the states and inputs that it visits."""
    linear = linear.with_spare_states(config.latent_dim, rng)
    dx, din = linear.weight.shape
    zeta = np.stack(
        [linear.places(config.inducing, config.zeta_range, rng) for _ in range(_sets(config))]
    )
    gp = SparseGP(_kernels(config, din), zeta, _inducing(config, rng))
    transition = Transition(gp, _mean(config, linear, rng), np.full(dx, np.log(config.process_std)))
    recognition = None
    if config.scheme == "stochastic":
        recognition = Recognition.around(
            linear.first_weight,
            linear.first_bias,
            linear.first_log_std,
            hidden=config.recognition_hidden,
            part=linear.hidden_part,
            rng=rng,
        )
    return StateSpaceModel(
        transition,
        linear.emission,
        recognition,
        log_output_std=linear.log_output_std,
        noise_memory=np.zeros_like(linear.log_output_std),
    )


def gp_without_signal(
    config: ResolvedConfig, mean: Mean, inputs: int, *, rng: np.random.Generator
) -> Transition:
    """A transition that is its prior mean: the GP plays no part."""
    quiet = config.replace(**_WITHOUT_GP)
    dx = config.latent_dim
    shape = (_sets(config), config.inducing, dx + inputs)
    zeta = rng.uniform(-config.zeta_range, config.zeta_range, shape)
    gp = SparseGP(_kernels(quiet, dx + inputs), zeta, _inducing(quiet, rng))
    return Transition(gp, mean, np.full(dx, np.log(quiet.process_std)))


def _mean(config: ResolvedConfig, linear: LinearStart, rng: np.random.Generator) -> Mean:
    """The linear model, with neurons that add nothing yet where the options ask for some."""
    if not config.neurons:
        return LinearMean(linear.weight, linear.bias)
    dx, din = linear.weight.shape
    return NetworkMean(
        linear.weight,
        linear.bias,
        neuron_out=np.zeros((dx, config.neurons)),
        neuron_weight=rng.normal(size=(config.neurons, din)) / np.sqrt(din),
        neuron_bias=rng.uniform(-1.0, 1.0, config.neurons),
    )


def _sets(config: ResolvedConfig) -> int:
    """How many kernels and sets of inducing inputs there are."""
    return 1 if config.shared_inducing else config.latent_dim


def _kernels(config: ResolvedConfig, input_dim: int) -> Kernel:
    factory = KERNELS[config.kernel] if isinstance(config.kernel, str) else config.kernel
    one = factory(input_dim, config.signal_std, config.lengthscale)
    return jax.tree.map(lambda leaf: np.stack([leaf] * _sets(config)), one)


def _inducing(config: ResolvedConfig, rng: np.random.Generator) -> Inducing:
    dx = config.latent_dim
    p = config.inducing
    mean = config.z_mean_std * rng.normal(size=(dx, p))
    if config.inducing_covariance == "full":
        return WhitenedInducing(mean, np.broadcast_to(np.log(config.z_std) * np.eye(p), (dx, p, p)))
    return DiagonalInducing(mean, np.full((dx, p), np.log(config.z_std)))


def blank_model(config: ResolvedConfig, input_dim: int, output_dim: int) -> StateSpaceModel:
    """A model with the structure that the options ask for, to be filled from a file."""
    rng = np.random.default_rng(0)
    if config.start == "random":
        return random_model(config, input_dim, output_dim, rng=rng)
    walk = LinearStart.random_walk(
        config.latent_dim, input_dim, output_dim, window=config.recognition_window
    )
    return linear_model(config, walk, rng)
