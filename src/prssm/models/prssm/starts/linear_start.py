"""A linear model of the data in the form in which PR-SSM starts from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg import block_diag

from prssm.data.pieces import longer_pieces, spread_out
from prssm.data.record import Record
from prssm.linear.averaging import orders_together
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import near_models
from prssm.linear.last_check import checked
from prssm.linear.order import Judged, best, judge_orders, largest_order, ranked
from prssm.linear.output_error import Identification
from prssm.linear.spare_states import SpareStates
from prssm.linear.system import MAX_RADIUS, LinearSystem
from prssm.models.prssm.emission import LinearEmission

_LEAST_STD = 1e-5  # of the output error and of the first state, in scaled units
# The same of a start that is trained: none is so sure that it cannot learn.
_LEAST_TRAINED_STD = 0.02
_LEAST_TRAINED_FIRST_STD = 1e-2
_WALK_STD = 0.1  # of the recognised first state of a random walk
_MOST = 4  # linear models


class Limits(NamedTuple):
    """How complex a linear model may be."""

    order: int
    max_radius: float  # of its poles
    near: tuple[LinearSystem, ...] = ()  # models of parts of the data, of several outputs

    @classmethod
    def of(cls, judged: Judged) -> Self:
        radius = judged.held_out.max_radius if judged.held_out else MAX_RADIUS
        return cls(judged.order, radius, near_models(judged.held_out))


class LinearOrders(NamedTuple):
    """Linear models that are worth a start, the best first.

    Of these the first few are the level `linear`: the best alone, or several whose mean run errs
    less on held-out stretches.
    """

    limits: tuple[Limits, ...]
    together: int

    @classmethod
    def choose(
        cls,
        records: Sequence[Record],
        latent_dim: int,
        window: int,
        *,
        order: int | None = None,
        enough: Callable[[], bool] = lambda: False,
    ) -> Self:
        """The best on held-out stretches, then others that are nearly as good.

        Together they err less than any alone. Of long data the orders are looked for on pieces.

        The order, where none is given, is at most `latent_dim`. Once `enough` says so (a budget of
        time ends), the best of what was judged by then is all.
        """
        pieces = spread_out(records)
        orders = [order] if order else range(1, min(latent_dim, largest_order(pieces)) + 1)
        longer = longer_pieces(records, pieces)
        judged = judge_orders(pieces, orders, window, starts=2, longer=longer, enough=enough)
        if enough():  # models of other orders would take as long again
            return cls((Limits.of(best(judged)),), 1)
        limits = tuple(Limits.of(one) for one in ranked(judged)[:_MOST])
        return cls(limits, len(orders_together(judged)))

    @property
    def states(self) -> int:
        """The most that one of those together has."""
        return max(one.order for one in self.limits[: self.together])

    def up_to(self, states: int) -> Self:
        """Those with at most so many states, which is not fewer than `states` of this."""
        return self._replace(limits=tuple(one for one in self.limits if one.order <= states))


class Choose(Protocol):
    """How complex linear models may be, as `LinearOrders.choose` decides it."""

    def __call__(
        self, records: Sequence[Record], latent_dim: int, window: int, *, order: int | None
    ) -> LinearOrders: ...


@dataclass(frozen=True, eq=False)
class LinearStart:
    """x' = weight [x; u] + bias with an emission.

    Also a map from the first samples to the first state, and the places visited.

    States beyond the order of the linear model are filters of the inputs that nothing reads yet;
    see `with_spare_states`.
    """

    weight: np.ndarray
    bias: np.ndarray
    emission: LinearEmission
    log_output_std: np.ndarray
    first_weight: np.ndarray
    first_bias: np.ndarray
    first_log_std: np.ndarray
    # (rows, Dx + Du) for each record: states and inputs of the linear model's run
    visited: list[np.ndarray]
    # of the random weights with which the recognition model's hidden layer adds to that map
    hidden_part: float = 0.0
    # F of the covariance F F' of the first state, where it is known; the deviations are its rows'
    first_factor: np.ndarray | None = None

    @classmethod
    def fit(
        cls,
        records: Sequence[Record],
        limits: Limits,
        window: int,
        *,
        near: Self | None = None,
        thorough: bool = True,
        enough: Callable[[], bool] = lambda: False,
    ) -> Self:
        """The best linear model of some records.

        Of long ones it is looked for on pieces, and improved on more of them.

        The model `near`, of more records and the same order, is where to start: then few other
        starts are tried. With several outputs there is no other one then, and few for a model that
        is not to be `thorough`: searches take long. Once `enough` says so (a budget of time ends),
        there is no other one either, and nothing is improved or checked any more.
        """
        pieces = spread_out(records)
        search = Identification(pieces, enough)
        several = records[0].output_dim > 1
        few = near is not None or (several and not thorough)
        if near and (several or enough()):
            system = search.improved([near.system], max_radius=limits.max_radius)
        else:
            system = search.best(
                limits.order,
                starts=2 if few else 4,
                random_starts=0 if few else 4,
                max_radius=limits.max_radius,
                near=[near.system] if near else limits.near,
            )
        longer = longer_pieces(records, pieces)
        if longer and not enough():
            search = Identification(longer, enough)
            system = search.improved([system], max_radius=limits.max_radius)
        if not enough():
            system = checked(search, system, warmup=window, max_radius=limits.max_radius)
        return cls.of(system, pieces, window)

    @classmethod
    def random_walk(cls, latent_dim: int, input_dim: int, output_dim: int, window: int) -> Self:
        """The state stays where it is.

        Its first entries are the outputs, and begin at the first measurements.

        The others begin at random functions of the first samples: if all began at zero, training
        would find a use for them far less often (one in eight restarts on Drives, against five).
        """
        size = window * (input_dim + output_dim)
        emission = LinearEmission(
            np.eye(output_dim, latent_dim), np.zeros((output_dim, input_dim)), np.zeros(output_dim)
        )
        return cls(
            np.eye(latent_dim, latent_dim + input_dim),
            np.zeros(latent_dim),
            emission,
            log_output_std=np.zeros(output_dim),
            first_weight=np.eye(latent_dim, size) * (np.arange(latent_dim) < output_dim)[:, None],
            first_bias=np.zeros(latent_dim),
            first_log_std=np.full(latent_dim, np.log(_WALK_STD)),
            visited=[],
            hidden_part=1.0,
        )

    @classmethod
    def of(cls, system: LinearSystem, records: Sequence[Record], window: int) -> Self:
        start = InitialState.fit(system, records)
        first_weight, first_bias, factor = start.affine(system, window)
        first_std = np.maximum(np.sqrt(np.sum(factor**2, axis=1)), _LEAST_STD)
        visited = [np.concatenate([system.states(record), record.u], axis=1) for record in records]
        return cls(
            np.concatenate([system.A, system.B], axis=1),
            np.zeros(system.order),
            LinearEmission(system.C, system.D, system.offset),
            log_output_std=np.log(np.maximum(start.error_std, _LEAST_STD)),
            first_weight=first_weight,
            first_bias=first_bias,
            first_log_std=np.log(first_std),
            visited=visited,
            first_factor=factor,
        )

    def that_can_learn(self) -> Self:
        """The same model, less sure of its errors and of its first state where it is very sure."""
        return replace(
            self,
            log_output_std=np.maximum(self.log_output_std, np.log(_LEAST_TRAINED_STD)),
            first_log_std=np.maximum(self.first_log_std, np.log(_LEAST_TRAINED_FIRST_STD)),
        )

    def turned(self) -> Self:
        """The same model in coordinates in which the errors of its first state are independent.

        A recognition model knows no others: of errors that depend on each other it makes a band
        that is too wide where a run begins. States that are uncorrelated stay so.
        """
        if self.first_factor is None:
            return self
        turn, std, _ = np.linalg.svd(self.first_factor)
        kept = block_diag(turn, np.eye(self.weight.shape[1] - self.order))
        return replace(
            self,
            weight=turn.T @ self.weight @ kept,
            bias=turn.T @ self.bias,
            emission=replace(self.emission, states=np.asarray(self.emission.states) @ turn),
            first_weight=turn.T @ self.first_weight,
            first_bias=turn.T @ self.first_bias,
            first_log_std=np.log(np.maximum(std, _LEAST_STD)),
            visited=[run @ kept for run in self.visited],
            first_factor=np.diag(std),
        )

    @property
    def order(self) -> int:
        return len(self.weight)

    @property
    def system(self) -> LinearSystem:
        """The linear model, as long as it has no bias and no spare states."""
        return LinearSystem(
            self.weight[:, : self.order],
            self.weight[:, self.order :],
            np.asarray(self.emission.states),
            D=np.asarray(self.emission.inputs),
            offset=np.asarray(self.emission.offset),
        )

    def with_spare_states(self, latent_dim: int, rng: np.random.Generator) -> Self:
        """More states, which nothing reads yet."""
        spare = latent_dim - self.order
        filters = SpareStates.drawn(spare, self.weight.shape[1] - self.order, rng)
        C = np.concatenate(
            [self.emission.states, np.zeros((len(self.emission.states), spare))], axis=1
        )
        return type(self)(
            filters.beside(self.weight),
            np.append(self.bias, np.zeros(spare)),
            replace(self.emission, states=C),
            self.log_output_std,
            np.concatenate([self.first_weight, np.zeros((spare, self.first_weight.shape[1]))]),
            np.append(self.first_bias, np.zeros(spare)),
            np.append(self.first_log_std, np.full(spare, np.log(0.3))),
            [self._with_filters(run, filters) for run in self.visited],
            self.hidden_part,
        )

    def _with_filters(self, run: np.ndarray, filters: SpareStates) -> np.ndarray:
        """A run (rows, order + Du) with the filters' states between its states and its inputs."""
        u = run[:, self.order :]
        return np.concatenate([run[:, : self.order], filters.run(u), u], axis=1)

    def places(self, count: int, reach: float, rng: np.random.Generator) -> np.ndarray:
        """Places of inducing points (count, Dx + Du) where states and inputs go.

        They are spread out (k-means++) and jittered.

        Where it is not known where they go: uniform within `reach`.
        """
        if not self.visited:
            return rng.uniform(-reach, reach, (count, self.weight.shape[1]))
        visited = np.concatenate(self.visited)
        scale = np.maximum(visited.std(axis=0), 0.3)
        points = visited / scale
        chosen = [points[rng.integers(len(points))]]
        distance = np.full(len(points), np.inf)
        for _ in range(count - 1):
            distance = np.minimum(distance, np.sum((points - chosen[-1]) ** 2, axis=1))
            total = distance.sum()
            chosen.append(points[rng.choice(len(points), p=distance / total) if total > 0 else 0])
        return (np.array(chosen) + 0.3 * rng.normal(size=(count, points.shape[1]))) * scale
