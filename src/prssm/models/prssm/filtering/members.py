"""The members of a PR-SSM's filters: those of its free runs, others beside them, their noises."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import jax
import numpy as np
from jaxtyping import Float

from prssm.inference.noise_search import NoiseFactors
from prssm.inference.state_space import Array
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.space import PRSSMSpace, space_of
from prssm.models.prssm.stored_members import arrays_of, checked, models_from


class Beside(NamedTuple):
    """Members that only filters use, the noises of each, and the shape of their process noise."""

    name: str  # of their level
    models: StateSpaceModel  # arrays lead with the members
    noises: tuple[NoiseFactors, ...]
    shape: Float[Array, "K Dx Dx"]


@dataclass(frozen=True, eq=False)
class FilterMembers:
    """The members of free runs and those beside them, with their noises.

    The former are always followed, so that a free run can go on from where they are. Where others
    predict better alone, they have no weight in what is predicted: they are not heard.
    """

    noises: tuple[NoiseFactors, ...]  # of each member of free runs
    heard: tuple[bool, ...]
    beside: Beside | None = None

    @classmethod
    def equal(cls, own: StateSpaceModel, noises: NoiseFactors) -> Self:
        """The members of free runs alone, all with the same noises."""
        members = len(own.log_output_std)
        return cls((noises,) * members, (True,) * members)

    def followed(self, own: StateSpaceModel) -> Beside:
        """All of them; `own` are the models of free runs, and come first."""
        members, states = own.transition.log_process_std.shape
        shape = np.broadcast_to(np.eye(states), (members, states, states))
        beside = self.beside
        if beside is None:
            return Beside("", own, self.noises, shape)
        models = jax.tree.map(lambda *leaves: np.concatenate(leaves), own, beside.models)
        both = np.concatenate([shape, beside.shape])
        return Beside(beside.name, models, (*self.noises, *beside.noises), both)

    def words(self) -> str:
        """Who predicts, where others do than those that run freely."""
        name = "" if self.beside is None else self.beside.name
        runs = " and the members of free runs" if any(self.heard) else ""
        return f"predictions by {name}{runs}, which err least on held-out stretches"

    @property
    def every_heard(self) -> tuple[bool, ...]:
        """Whether each of them is; those beside the members of free runs are there for it."""
        return (*self.heard, *[True] * (0 if self.beside is None else len(self.beside.noises)))

    def space(self, own: StateSpaceModel, window: int) -> PRSSMSpace:
        """All of them as the filters see them."""
        whole = self.followed(own)
        space = space_of(whole.models, window, whole.noises, whole.shape)
        return space.hearing(self.every_heard)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Values and arrays for a model file."""
        values: dict[str, Any] = {
            "noises": [one.to_dict() for one in self.noises],
            "heard": list(self.heard),
        }
        beside = self.beside
        if beside is None:
            return values, {}
        arrays = arrays_of("beside", beside.models)
        arrays["beside_shape"] = np.asarray(beside.shape)
        noises = [one.to_dict() for one in beside.noises]
        return values | {"beside": {"name": beside.name, "noises": noises}}, arrays

    @classmethod
    def from_parts(
        cls, values: dict[str, Any], arrays: dict[str, np.ndarray], like: StateSpaceModel
    ) -> Self:
        """From a model file, where `like` is one member without values."""
        noises = tuple(NoiseFactors.from_dict(one) for one in values["noises"])
        heard = tuple(bool(one) for one in values["heard"])
        members = len(arrays["models.log_output_std"])
        there = values.get("beside")
        if not len(noises) == len(heard) == members or not (any(heard) or there):
            raise TypeError(f"filter: expected the noises of {members} members, got {values!r}")
        return cls(noises, heard, None if there is None else _beside(there, arrays, like))


def _beside(values: dict[str, Any], arrays: dict[str, np.ndarray], like: StateSpaceModel) -> Beside:
    each = tuple(NoiseFactors.from_dict(one) for one in values["noises"])
    members = len(each)
    models = models_from(arrays, "beside", like, members=members)
    states = len(like.transition.log_process_std)
    shape = checked(arrays, "beside_shape", (members, states, states))
    return Beside(str(values["name"]), models, each, shape)
