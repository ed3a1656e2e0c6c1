"""The noises with which a PR-SSM is filtered; a free run keeps the trained ones.

There are two ways to find them. Both look at two things together: stretches of the data under
models of the folds, which have not seen them, and the training data under the final models. The
models of the folds err more than the final ones will, and nothing errs less than a model on its own
data.

One way takes the noises under which these data are most likely. The other takes those whose
predictions one and ten rows ahead err least: a filter's gain depends on how large the noises are
beside each other, and their common size is then what the errors show.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from prssm.data.record import Record
from prssm.inference.noise_search import (
    CANDIDATES,
    Errors,
    Likelihood,
    NoiseFactors,
    log_likelihoods,
    most_likely,
    prediction_errors,
)
from prssm.inference.state_space import Array, Belief
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.space import PRSSMSpace, is_plain, space_of

HORIZON = 10  # rows ahead, beside one
_ROWS = 150  # of each of the two, which are enough to tell five numbers
_ROUNDS = 7  # of the search for those that predict best; it takes long, and soon gains little
_FEW_ROWS = 80  # where JAX computes every step, which takes longer
_MEMBERS = 2  # of each mixture, its best ones: they tell the same, and many take long
_WHITE = 0.3  # of the deviation of coloured noise; errors one row ahead hardly change with it
LEAST_ROWS = 20  # of a stretch after the window from which its first state is found


class Heard(NamedTuple):
    """Models, what their filter is judged on, and the shape of their process noise, if any."""

    models: StateSpaceModel  # arrays lead with the members
    records: Sequence[Record]
    shape: Float[Array, "M Dx Dx"] | None = None


def trained_noises(models: StateSpaceModel) -> NoiseFactors:
    """As training left them: white, or coloured where a level has trained a memory."""
    coloured = bool(np.any(models.correlation_of(np) != 0.0))
    return NoiseFactors(sensor=0.0, coloured=1.0) if coloured else NoiseFactors()


def untold_noises(models: StateSpaceModel) -> NoiseFactors:
    """As training left them, for a fit that cannot look at the filter's errors.

    Trained on free runs they hardly correct one: all that such a run errs by counts as noise of
    the sensors. A part of coloured noise is taken as white, or the filter would take the sensors
    for perfect.
    """
    trained = trained_noises(models)
    if not trained.coloured:
        return trained
    return NoiseFactors(sensor=_WHITE, coloured=math.sqrt(1.0 - _WHITE**2))


def estimated_noises(folds: Sequence[Heard], final: Heard, window: int) -> NoiseFactors | None:
    """The most likely ones; None where there are too few data to tell."""
    each = [_likelihood(stretches) for stretches in _both(folds, final, window)]
    if not each:
        return None
    return most_likely(lambda candidates: np.sum([one(candidates) for one in each], axis=0))


def predicting_noises(
    folds: Sequence[Heard],
    final: Heard,
    window: int,
    *,
    rounds: int = _ROUNDS,
    rival: NoiseFactors | None = None,
) -> NoiseFactors | None:
    """Those that predict best; None where there are too few data to tell.

    Without rounds of a search it is the best of some usual ones. A rival is kept where it predicts
    no worse than what was found.
    """
    each = [_errors(stretches) for stretches in _both(folds, final, window)]
    if not each:
        return None

    sizes: dict[NoiseFactors, float] = {}  # by which the noises of each candidate are too small

    def precision(candidates: Sequence[NoiseFactors]) -> Float[Array, " K"]:
        found = [one(candidates) for one in each]
        relative = np.mean([np.log(errors.relative) for errors in found], axis=0)
        sizes.update(zip(candidates, np.exp(0.5 * relative).tolist(), strict=True))
        return -np.sum([np.log(errors.near) + np.log(errors.far) for errors in found], axis=0)

    best = most_likely(precision, rounds)
    if best is None:
        return None
    if rival is not None:
        found, given = precision([best, rival])
        if given >= found:
            return rival
    size = sizes[best]
    return best.larger(size) if np.isfinite(size) else best


def quick_noises(folds: Sequence[Heard], final: Heard, window: int) -> NoiseFactors:
    """The best of some usual ones and of those of training, for a fit whose time is over.

    That is two looks at some hundred rows: a tenth of a second where no step is computed by JAX.
    """
    untold = untold_noises(final.models)
    if not is_plain(final.models):
        return untold
    return predicting_noises(folds, final, window, rounds=0, rival=untold) or untold


class _Stretch(NamedTuple):
    """A record, and the models that are asked about it, each as often as there are candidates."""

    space: PRSSMSpace
    record: Record

    def with_noises(self, candidates: Sequence[NoiseFactors]) -> tuple[PRSSMSpace, Belief]:
        """The models with the candidates' noises, and where they begin."""
        padded = [*candidates, *[candidates[0]] * (CANDIDATES - len(candidates))]
        own = self.space.with_noises(padded * (self.space.members // CANDIDATES))
        window = own.window
        found = own.recognised(self.record.u[:window], self.record.y[:window]) if window else None
        return own, found[1] if found else own.first()


def _both(folds: Sequence[Heard], final: Heard, window: int) -> list[list[_Stretch]]:
    """What the folds have not seen, and the training data; what is too short is left out."""
    found = [_stretches(parts, window) for parts in (folds, [final])]
    return [stretches for stretches in found if stretches]


def _stretches(parts: Sequence[Heard], window: int) -> list[_Stretch]:
    rows = sum(len(record) for part in parts for record in part.records)
    most = _ROWS if all(is_plain(part.models) for part in parts) else _FEW_ROWS
    share = min(1.0, most / max(rows, 1))
    least = window + LEAST_ROWS
    found: list[_Stretch] = []
    for part in parts:
        models = jax.tree.map(_repeated, part.models)
        shape = None if part.shape is None else _repeated(part.shape)
        space = space_of(models, window, NoiseFactors(coloured=1.0), shape)
        cuts = [record[: max(round(share * len(record)), least)] for record in part.records]
        found += [_Stretch(space, cut) for cut in cuts if _tells(cut, window)]
    return found


def _tells(record: Record, window: int) -> bool:
    """Whether there is something to predict, ten rows ahead too."""
    return len(record) >= window + LEAST_ROWS and not np.isnan(record.y[window + HORIZON :]).all()


def _repeated(leaf: Array) -> Array:
    """The best members, each once for every candidate."""
    return np.repeat(np.asarray(leaf)[:_MEMBERS], CANDIDATES, axis=0)


def _likelihood(stretches: Sequence[_Stretch]) -> Likelihood:
    """The mean over the members of the log-density of all stretches."""

    def likelihood(candidates: Sequence[NoiseFactors]) -> Float[Array, " K"]:
        total = np.zeros(CANDIDATES)
        for stretch in stretches:
            space, belief = stretch.with_noises(candidates)
            record = stretch.record
            density = log_likelihoods(space, record.u, record.y, belief=belief, skip=space.window)
            total += density.reshape(-1, CANDIDATES).mean(axis=0)
        return total[: len(candidates)]

    return likelihood


def _errors(stretches: Sequence[_Stretch]) -> Callable[[Sequence[NoiseFactors]], Errors]:
    """Geometric means, over members and stretches, of the errors of each candidate."""

    def errors(candidates: Sequence[NoiseFactors]) -> Errors:
        found = []
        for stretch in stretches:
            space, belief = stretch.with_noises(candidates)
            record = stretch.record
            each = prediction_errors(
                space, record.u, record.y, belief=belief, skip=space.window, horizon=HORIZON
            )
            found.append(np.log(each).reshape(3, -1, CANDIDATES).mean(axis=1))
        means = np.exp(np.mean(found, axis=0))
        return Errors(*means[:, : len(candidates)])

    return errors
