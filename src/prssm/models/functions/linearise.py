"""The linear system that a fitted model is near a point: matrices, poles, responses, with bands.

`model.linearise(input=3.0)` gives a `Linearised` at the equilibrium of that input. A system is
linearised where it rests itself, so that each of the plausible ones is seen as a user would find
it. Matrices are in physical units but for the states, which are the model's own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.foundation.errors import DataError, MissingExtraError, OptionError
from prssm.models.functions import equilibrium
from prssm.models.functions.bands import Band
from prssm.models.functions.jax_model import JaxModel, Scaling
from prssm.models.functions.plausible import Plausible, Slopes

_LONGEST = 400  # steps of a response, unless told
_SHORTEST = 20
_LEFT = 0.01  # of what the slowest pole starts with, at the end of a response


@dataclass(frozen=True, eq=False)
class Matrices:
    """x' = A x + B u, y = C x + D u around a point, of S systems: arrays lead with them."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def impulse(self, steps: int) -> np.ndarray:
        """D, CB, CAB, ... as (S, steps, Dy, Du)."""
        response = [self.D]
        x = self.B
        with np.errstate(over="ignore", invalid="ignore"):  # systems that run away
            for _ in range(steps - 1):
                response.append(self.C @ x)
                x = self.A @ x
        return np.stack(response, axis=1)


@dataclass(frozen=True, eq=False)
class Response:
    """Outputs after a unit step or impulse of each input: bands of (steps, Dy, Du)."""

    time: np.ndarray  # in seconds where the sampling time is known, else in steps
    band: Band

    def __repr__(self) -> str:
        steps, outputs, inputs = self.band.middle.shape
        return f"Response({steps} steps of {outputs} output(s) to {inputs} input(s))"


@dataclass(frozen=True, eq=False)
class Linearised:
    """The matrices of the best model at `state` and `input`, and those of all plausible systems.

    `A_std`, `B_std`, `C_std`, `D_std` are the spread over systems of the best member, whose states
    mean the same. Poles and responses do not depend on what states mean: their bands are over all
    members. `control()` is the same as python-control's StateSpace.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    state: np.ndarray
    input: np.ndarray
    output: np.ndarray
    mates: Matrices  # systems of the best member
    systems: Matrices  # of all members
    band_factor: np.ndarray  # (Dy,)
    dt: float | None  # of a step of the model
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def __repr__(self) -> str:
        place = ", ".join(
            f"{name} = {value:.4g}"
            for name, value in zip(
                (*self.input_names, *self.output_names), (*self.input, *self.output), strict=True
            )
        )
        slowest = np.abs(self.poles).max()
        return (
            f"Linearised({len(self.A)} states at {place}, slowest pole {slowest:.4g}, "
            f"{len(self.systems.A)} systems)"
        )

    @property
    def A_std(self) -> np.ndarray:
        return self.mates.A.std(axis=0)

    @property
    def B_std(self) -> np.ndarray:
        return self.mates.B.std(axis=0)

    @property
    def C_std(self) -> np.ndarray:
        return self.mates.C.std(axis=0)

    @property
    def D_std(self) -> np.ndarray:
        return self.mates.D.std(axis=0)

    @property
    def poles(self) -> np.ndarray:
        """(Dx,) of the best model, the slowest first."""
        return _slowest_first(np.linalg.eigvals(self.A))

    @property
    def pole_samples(self) -> np.ndarray:
        """(S, Dx) of all plausible systems."""
        return _slowest_first(np.linalg.eigvals(self.systems.A))

    @property
    def gain(self) -> Band:
        """Of a change of input that lasts, (Dy, Du): the slope of the static curve."""
        rest = np.eye(len(self.A)) - self.systems.A
        gains = self.systems.C @ np.linalg.pinv(rest) @ self.systems.B + self.systems.D
        return Band.of(gains, self.band_factor[:, None])

    def step_response(self, steps: int | None = None) -> Response:
        """After a step of each input by one, until the slowest pole has faded unless told."""
        impulse = self.systems.impulse(self._steps(steps))
        return self._response(np.cumsum(impulse, axis=1))

    def impulse_response(self, steps: int | None = None) -> Response:
        """After an input of one for one step."""
        return self._response(self.systems.impulse(self._steps(steps)))

    def control(self) -> Any:
        """The best model as a discrete StateSpace of python-control, with names."""
        try:
            import control
        except ImportError:
            raise MissingExtraError(
                "a StateSpace needs python-control: pip install 'prssm[control]'"
            ) from None
        return control.StateSpace(
            self.A,
            self.B,
            self.C,
            self.D,
            self.dt or True,
            inputs=list(self.input_names),
            outputs=list(self.output_names),
        )

    def _steps(self, steps: int | None) -> int:
        if steps is not None:
            if steps < 1:
                raise OptionError(f"steps: expected at least 1, got {steps}")
            return steps
        slow = np.abs(self.poles)
        slow = slow[slow < 1.0].max(initial=0.0)
        wanted = np.log(_LEFT) / np.log(slow) if slow > 0.0 else 0.0
        return int(np.clip(np.ceil(wanted), _SHORTEST, _LONGEST))

    def _response(self, samples: np.ndarray) -> Response:
        time = np.arange(samples.shape[1]) * (self.dt or 1.0)
        return Response(time, Band.of(samples, self.band_factor[:, None]))


def linearised(
    functions: JaxModel, systems: Plausible, *, state: Any = None, input: Any = None
) -> Linearised:
    """At a state and an input, or at the equilibrium of an input; the mean of training if none."""
    scaling = functions.parameters.scaling
    u = point_of("input", input, scaling.u_mean, functions.input_names)
    scaled = (u - scaling.u_mean) / np.asarray(scaling.u_std)
    members, count, states = systems.shape
    if state is not None:
        x = point_of("state", state, np.zeros(states), range(states))
        shape = (members, 1, count)
        slopes = systems.at(
            np.broadcast_to(x, (*shape, states)), np.broadcast_to(scaled, (*shape, len(scaled)))
        )
        found = np.zeros(shape, bool)
        found[0] = True  # states of other members mean something else
    else:
        x, _, slopes, found = equilibrium.for_inputs(systems, scaled[None])
        if not found[0, 0, 0]:
            raise DataError(
                f"linearise: expected an input at which the model comes to rest, got {u}, from "
                "where it drifts or runs away; give a state, or another input"
            )
        x = x[0, 0, 0]
    all_of_them = _physical(slopes, states, scaling)
    mates = found[0, 0, 1:] if count > 1 else found[0, 0]
    output = np.asarray(scaling.y_mean) + scaling.y_std * slopes.output[0, 0, 0]
    best = {name: matrix[0, 0] for name, matrix in vars(all_of_them).items()}
    return Linearised(
        **best,
        state=np.asarray(x),
        input=u,
        output=output,
        mates=_chosen(all_of_them, 0, slice(count > 1, None), mates),
        systems=_chosen(all_of_them, slice(None), slice(None), found[:, 0]),
        band_factor=np.asarray(functions.parameters.band_factor),
        dt=None if functions.dt is None else functions.dt * functions.stride,
        input_names=functions.input_names,
        output_names=functions.output_names,
    )


def point_of(what: str, value: Any, default: Any, names: Any) -> np.ndarray:
    """A vector of so many finite numbers, from a number or a list."""
    if value is None:
        return np.array(default, np.float64)
    array = np.atleast_1d(np.asarray(value, np.float64))
    if array.shape != (len(names),) or not np.isfinite(array).all():
        raise DataError(f"{what}: expected {len(names)} finite number(s), got {value!r}")
    return array


def _physical(slopes: Slopes, states: int, scaling: Scaling) -> Matrices:
    """Matrices (M, B, ..) at the first point of a grid."""
    by_state = slopes.by_following[:, 0]
    by_output = np.asarray(scaling.y_std)[:, None] * slopes.by_output[:, 0]
    return Matrices(
        by_state[..., :states],
        by_state[..., states:] / scaling.u_std,
        by_output[..., :states],
        by_output[..., states:] / scaling.u_std,
    )


def _chosen(matrices: Matrices, members: Any, systems: Any, found: np.ndarray) -> Matrices:
    return Matrices(*(part[members, systems][found] for part in vars(matrices).values()))


def _slowest_first(poles: np.ndarray) -> np.ndarray:
    order = np.argsort(-np.abs(poles), axis=-1)
    return np.take_along_axis(poles, order, axis=-1)
