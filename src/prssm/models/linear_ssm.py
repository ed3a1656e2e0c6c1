"""The linear state-space model.

The row that a nonlinear method has to beat to have learnt anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from prssm.data.pieces import long_pieces
from prssm.data.record import Record
from prssm.data.splits import most_start_rows
from prssm.foundation.errors import ModelFileError, OptionError, TrainingError
from prssm.foundation.options import Options, option
from prssm.inference.noise_search import Likelihood, NoiseFactors, log_likelihoods, most_likely
from prssm.inference.spaces.linear_space import LinearSpace, Noises
from prssm.inference.state_space import StateSpace
from prssm.linear.averaging import mean_error, mean_of, orders_together
from prssm.linear.first_state import InitialState
from prssm.linear.held_out import HeldOutErrors, near_models
from prssm.linear.last_check import checked
from prssm.linear.order import Judged, judge_orders, largest_order, parameters
from prssm.linear.output_error import Identification, measured
from prssm.linear.system import MAX_RADIUS, LinearSystem
from prssm.models.estimator import Estimator
from prssm.models.functions.jax_model import JaxModel, Parameters, Scaling
from prssm.models.functions.linear import LinearParameters, LinearParts, linear_draws
from prssm.models.simulated import Simulated
from prssm.models.stored_arrays import Shape, check
from prssm.prediction.correlation import independent_values
from prssm.prediction.gaussian import student_factor
from prssm.training.session import FOR_ORDERS, Session

_WINDOW = 16  # steps from which a first state is found, of records that are not short
_ROWS = 600  # from which the noises of the Kalman filter are estimated
# Scaled errors beyond this tell of models whose inputs did not move, and not of the one at hand.
_LOST = 10.0


@dataclass(frozen=True)
class LinearConfig(Options):
    """Options of the linear model."""

    order: int | None = option(
        None, "number of states; none: chosen on held-out stretches of the training data", minimum=1
    )
    max_order: int = option(20, "largest number of states that the choice tries", minimum=1)
    warmup: int | None = option(
        None,
        "first steps of a recording from which the first state is estimated; none: 16, but at most "
        "an eighth of a record (of four and more a fourth), and at least 4",
        minimum=0,
    )
    stride: int | None = option(
        None,
        "rows of a recording that one step of the model takes; none: one, or more where long "
        "recordings are sampled much faster than they move",
        minimum=1,
    )
    starts: int = option(
        4,
        "subspace starts that are refined; half as many where only the order is judged",
        minimum=1,
    )
    random_starts: int = option(
        4, "random perturbations of the best that are refined in the final fit", minimum=0
    )
    seed: int = option(0, "seed of the random starts", minimum=0)


_STORED: dict[str, Shape] = {
    "system.A": ("x", "x"),
    "system.B": ("x", "u"),
    "system.C": ("y", "x"),
    "system.D": ("y", "u"),
    "system.offset": ("y",),
    "start.mean": ("x",),
    "start.factor": ("x", "x"),
    "start.error_std": ("y",),
    "start.correlation": ("y",),
    "start.start_std": ("y",),
}


class LinearSSM(Estimator):
    """x[t+1] = A x[t] + B u[t], y[t] = C x[t] + D u[t] + offset.

    Found by subspace identification and output-error refinement.

    The band is the error of free runs over held-out stretches of the training data, wider where few
    independent errors tell it, and what is not known of the first state.
    """

    name: ClassVar[str] = "linear"
    Config = LinearConfig
    PRESETS: ClassVar = {"default": LinearConfig()}
    config: LinearConfig
    noises_: NoiseFactors  # of the Kalman filter
    window_: int = _WINDOW  # steps from which a first state is found

    @property
    def warmup(self) -> int:
        return self.window_ * self.stride_

    @property
    def is_linear(self) -> bool:
        return True

    def _fit(self, records: list[Record], session: Session) -> None:
        try:
            self._identify(records, session)
        except np.linalg.LinAlgError as error:
            rows = sum(map(len, records))
            raise TrainingError(
                f"no linear model could be computed from {rows} rows ({error}); try a smaller "
                "order, or more data"
            ) from None

    def _identify(self, records: list[Record], session: Session) -> None:
        if session.deadline is not None:  # of long data a part tells all, in a part of the time
            records = long_pieces(records)
        asked = self.config.warmup
        self.window_ = min(_WINDOW, most_start_rows(records)) if asked is None else asked
        chosen = self._choose(records, session)
        search = Identification(records, session.after(1.0))
        systems = [self._best(search, one) for one in chosen]
        system = mean_of(systems)
        start = InitialState.fit_mean(systems, records)
        each = [one.held_out for one in chosen if one.held_out]
        held_out = mean_error(each) if each else None
        self._set(system, start)
        self._set(system, replace(start, error_std=self._error_std(records, held_out)))
        if session.seconds_left() != 0.0:  # a filter can do with those of free runs
            self.noises_ = most_likely(self._likelihood(records)) or self.noises_

    def _best(self, search: Identification, judged: Judged) -> LinearSystem:
        """The best system of an order on all records."""
        options = self.config
        max_radius = judged.held_out.max_radius if judged.held_out else MAX_RADIUS
        found = search.best(
            judged.order,
            starts=options.starts,
            random_starts=options.random_starts,
            max_radius=max_radius,
            seed=options.seed,
            near=near_models(judged.held_out),
        )
        return checked(search, found, warmup=self.window_, max_radius=max_radius)

    def _error_std(self, records: Sequence[Record], held_out: HeldOutErrors | None) -> np.ndarray:
        """The deviation of errors of a free run over new data.

        It is that of held-out stretches, and not less than that of runs over the own records from
        a first state as users have it. Errors that last are few independent values, from which a
        deviation is known badly: the band is wider then.
        """
        start = self.start_
        runs = [self._simulate(r.u, r.y[: self.window_], None, 0) for r in records]
        own = [record.y - run.mean for record, run in zip(records, runs, strict=True)]
        errors = own
        std = start.error_std * _correction(self.system_, records)
        if held_out is not None and (held_out.std < _LOST).all():
            errors = _late(held_out)
            std = held_out.std
        own_std = np.sqrt(np.nanmean(np.concatenate(own) ** 2, axis=0))
        least = np.maximum(own_std, start.error_std)
        return np.maximum(std, least) * student_factor(independent_values(errors))

    def _likelihood(self, records: Sequence[Record]) -> Likelihood:
        """Of noises, by a Kalman filter over the beginning of every record."""
        share = min(1.0, _ROWS / sum(map(len, records)))
        cuts = [record[: max(2, round(share * len(record)))] for record in records]

        def likelihood(candidates: Sequence[NoiseFactors]) -> np.ndarray:
            space = self._space(candidates)
            found = [log_likelihoods(space, cut.u, cut.y, belief=space.first()) for cut in cuts]
            return np.sum(found, axis=0)

        return likelihood

    def _state_space(self) -> StateSpace:
        return self._space([self.noises_])

    def _space(self, each: Sequence[NoiseFactors]) -> LinearSpace:
        """The process noise is in proportion to how the states have moved in training."""
        start = self.start_
        moved = start.factor @ start.factor.T
        noises = [
            Noises(
                one.process**2 * moved,
                one.sensor * start.error_std,
                coloured_std=one.coloured * start.error_std,
                memory=start.correlation
                if one.memory is None
                else np.full_like(start.error_std, one.memory),
                second=np.full_like(start.error_std, one.second),
            )
            for one in each
        ]
        return LinearSpace(self.system_, noises, first_mean=start.mean, first_covariance=moved)

    def _choose(self, records: list[Record], session: Session) -> list[Judged]:
        """The order, or those whose mean is better, with their held-out errors.

        There are none of these where the data are too short to hold some out.
        """
        options = self.config
        _check_order(options.order or 1, records)
        orders = (
            [options.order]
            if options.order
            else range(1, min(options.max_order, largest_order(records)) + 1)
        )
        session.progress.start(len(orders), 0, "linear: orders")
        try:
            return orders_together(
                judge_orders(
                    records,
                    orders,
                    self.window_,
                    starts=-(-options.starts // 2),
                    report=lambda order, error: session.progress.update(
                        orders.index(order) + 1, {"order": order, "held-out error": error}
                    ),
                    enough=session.after(FOR_ORDERS),
                )
            )
        finally:
            session.progress.stop()

    def _set(self, system: LinearSystem, start: InitialState) -> None:
        self.system_ = system
        self.start_ = start
        self.order_ = system.order
        self.A_ = system.A
        self.B_ = system.B
        self.C_ = system.C
        self.D_ = system.D
        # As the fit of the free runs left them: errors with a memory.
        self.noises_ = NoiseFactors(sensor=0.0, coloured=1.0)

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        x0, factor = self.start_.estimate(self.system_, u, y_start)
        mean, states = self.system_.simulate(x0, u)
        # (T, Dy, Dx): the first state's uncertainty as it fades
        spread = self.system_.free_response(len(u)) @ factor
        std = np.sqrt(self.start_.error_std**2 + np.sum(spread**2, axis=2))
        drawn = None if samples is None else mean + self._draw(spread, samples, seed)
        return Simulated(
            mean, std, drawn, state_mean=states, state_std=self._state_std(factor, len(u))
        )

    def _path(self, run: Simulated) -> np.ndarray:
        assert run.state_mean is not None
        return run.state_mean

    def _visited(self, records: list[Record]) -> list[np.ndarray]:
        window = self.window_
        starts = [self.start_.estimate(self.system_, r.u, r.y[:window])[0] for r in records]
        pairs = zip(starts, records, strict=True)
        return [self.system_.simulate(x0, record.u)[1] for x0, record in pairs]

    def _jax_model(self, samples: int, seed: int) -> JaxModel:
        parameters = LinearParameters.of(self.system_, self.start_, self.window_)
        no_calibration = np.ones(len(self.output_names_))
        return JaxModel(
            LinearParts(),
            Parameters(parameters, Scaling.of(self.scaler_), no_calibration),
            linear_draws(self.order_, samples),
            window=self.window_,
            stride=self.stride_,
            input_names=self.input_names_,
            output_names=self.output_names_,
            dt=self.dt_,
        )

    def _state_std(self, factor: np.ndarray, length: int) -> np.ndarray:
        watch_all = replace(self.system_, C=np.eye(self.order_))
        return np.sqrt(np.sum((watch_all.free_response(length) @ factor) ** 2, axis=2))

    def _draw(self, spread: np.ndarray, samples: int, seed: int) -> np.ndarray:
        """Deviations (S, T, Dy) from the mean.

        A first state for each run, and errors correlated as in training.
        """
        random = np.random.default_rng(seed)
        length, outputs, order = spread.shape
        from_start = np.einsum("tdn,sn->std", spread, random.standard_normal((samples, order)))
        noise = random.standard_normal((samples, length, outputs))
        correlation = self.start_.correlation
        for t in range(1, length):
            noise[:, t] = (
                correlation * noise[:, t - 1] + np.sqrt(1.0 - correlation**2) * noise[:, t]
            )
        return from_start + self.start_.error_std * noise

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        system = {
            f"system.{field.name}": getattr(self.system_, field.name)
            for field in fields(LinearSystem)
        }
        start = {
            f"start.{field.name}": getattr(self.start_, field.name)
            for field in fields(InitialState)
        }
        values = {"order": self.order_, "noises": self.noises_.to_dict(), "warmup": self.window_}
        return values, system | start

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.window_ = _checked_window(values.get("warmup", self.config.warmup))
        # files of earlier versions trusted the first outputs as far as a long run
        arrays = {"start.start_std": arrays.get("start.error_std", np.zeros(0)), **arrays}
        check(arrays, _STORED, u=len(self.input_names_), y=len(self.output_names_))
        system = LinearSystem(
            **{field.name: arrays[f"system.{field.name}"] for field in fields(LinearSystem)}
        )
        start = InitialState(
            **{field.name: arrays[f"start.{field.name}"] for field in fields(InitialState)}
        )
        if not (np.abs(start.correlation) < 1.0).all():
            raise ModelFileError("errors of the model are correlated by 1 or more")
        if not (start.error_std > 0.0).all():
            raise ModelFileError("a deviation of the model's errors is not above 0")
        self._set(system, start)
        if "noises" in values:  # files of earlier versions have none
            self.noises_ = NoiseFactors.from_dict(values["noises"])


def _checked_window(steps: Any) -> int:
    """Of a model file; those of earlier versions have it among the options."""
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
        raise ModelFileError(f"warmup: expected a number of steps, got {steps!r}")
    return steps


def _check_order(order: int, records: Sequence[Record]) -> None:
    """More parameters than values that were measured would take long and mean nothing."""
    values = measured(records)
    most = max(1, values // (records[0].input_dim + records[0].output_dim))
    if order > most:
        raise OptionError(f"option order: expected at most {most} for {values} values, got {order}")


def _late(held_out: HeldOutErrors) -> list[np.ndarray]:
    """The errors after the warm-up, as `HeldOutErrors.std` takes them."""
    warmup = held_out.warmup
    return [error[warmup:] if len(error) > 2 * warmup else error for error in held_out.errors]


def _correction(system: LinearSystem, records: Sequence[Record]) -> float:
    """In-sample errors are too small by the parameters that were fitted to them."""
    count = measured(records)
    return float(np.sqrt(count / max(count - parameters(system, len(records)), 1)))
