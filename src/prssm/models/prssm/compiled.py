"""PR-SSM for the compiled trainer: restarts as rows of numbers, and back.

`why_not` says whether the trainer knows a model; `Rows` lays its arrays out. The objective in
`elbo.py` is the oracle.
"""

from dataclasses import dataclass
from typing import Any, Self

import jax
import numpy as np

from prssm.dynamics.engines.choice import Offsets, trainer_why_not
from prssm.dynamics.transition import IdentityMean, LinearMean, NetworkMean, ZeroMean
from prssm.gp.kernels import SquaredExponential
from prssm.gp.sparse import DiagonalInducing, WhitenedInducing
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission, Selector

_MEANS = {ZeroMean: 0, IdentityMean: 1, LinearMean: 2, NetworkMean: 2}
# Where the tree of a model holds what the trainer calls by another name.
_NAMES = {
    ".transition.gp.kernel.log_std": "log_std",
    ".transition.gp.kernel.log_lengthscale": "log_lengthscale",
    ".transition.gp.zeta": "zeta",
    ".transition.gp.inducing.mean": "z_mean",
    ".transition.gp.inducing.factor": "z_spread",
    ".transition.gp.inducing.log_std": "z_spread",
    ".transition.mean.weight": "weight",
    ".transition.mean.bias": "bias",
    ".transition.log_process_std": "log_process_std",
    ".log_output_std": "log_output_std",
    ".noise_memory": "noise_memory",
}


def why_not(model: StateSpaceModel) -> str | None:
    """What of a model (of one or many restarts) the compiled code does not know, in one line.

    None where it knows all.
    """
    transition = model.transition
    known = (
        (transition.gp.kernel, (SquaredExponential,)),
        (transition.gp.inducing, (DiagonalInducing, WhitenedInducing)),
        (transition.mean, tuple(_MEANS)),
        (model.emission, (Selector, LinearEmission)),
    )
    for part, kinds in known:
        if type(part) not in kinds:
            return f"the compiled code does not know {type(part).__name__}"
    if transition.gp.zeta.shape[-3] != transition.gp.inducing.mean.shape[-2]:
        return "the compiled code does not know shared inducing inputs"
    return trainer_why_not()


@dataclass(frozen=True, eq=False)
class Rows:
    """How the arrays of a model lie in a row: their structure, shapes and where each begins."""

    structure: Any
    shapes: list[tuple[int, ...]]
    begins: dict[str, int]  # by the path of the array in the tree
    size: int

    @classmethod
    def of(cls, models: StateSpaceModel) -> Self:
        """For models whose arrays lead with the restarts."""
        leaves = jax.tree_util.tree_leaves_with_path(models)
        shapes = [tuple(leaf.shape[1:]) for _, leaf in leaves]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)]).tolist()
        paths = [jax.tree_util.keystr(path) for path, _ in leaves]
        begins = dict(zip(paths, ends[:-1], strict=True))
        return cls(jax.tree.structure(models), shapes, begins, ends[-1])

    def offsets(self) -> Offsets:
        """Where the trainer finds each array."""
        return Offsets.of({_name(path): at for path, at in self.begins.items()}, self.size)

    def rows(self, models: StateSpaceModel) -> np.ndarray:
        """The matrix (restarts, size) of all parameters."""
        leaves = [np.asarray(leaf, dtype=np.float64) for leaf in jax.tree.leaves(models)]
        return np.concatenate([leaf.reshape(len(leaf), -1) for leaf in leaves], axis=1)

    def models(self, rows: np.ndarray) -> StateSpaceModel:
        """The tree again, whose arrays lead with the restarts."""
        begins = [*self.begins.values(), self.size]
        leaves = [
            rows[:, begin:end].reshape(len(rows), *shape)
            for begin, end, shape in zip(begins[:-1], begins[1:], self.shapes, strict=True)
        ]
        return jax.tree.unflatten(self.structure, leaves)


def _name(path: str) -> str:
    """'.recognition.direct_bias' -> 'direct_bias'."""
    return _NAMES.get(path, path.rpartition(".")[2])


def kinds(model: StateSpaceModel) -> dict[str, int]:
    """Which kinds of parts a model has, in the trainer's numbers."""
    recognition = model.recognition
    mean = model.transition.mean
    return {
        "diagonal": int(isinstance(model.transition.gp.inducing, DiagonalInducing)),
        "mean": _MEANS[type(mean)],
        "neurons": mean.neuron_bias.shape[-1] if isinstance(mean, NetworkMean) else 0,
        "hidden": 0 if recognition is None else recognition.hidden_bias.shape[-1],
        "shown": 0 if recognition is None else recognition.shown,
    }
