"""Who is filtered with: the members of free runs, others that predict better, or both.

A level that runs freely best need not predict best. Every trained level and a linear autoregression
have their say: models of the folds predict what they have not seen, one and ten rows ahead, and
those that err least are kept for the filters. Free runs keep their own members.

A budget of time may end before all have had their say. Members of free runs come first. Where it
ends before these were heard, they are filtered with the best of some usual noises: those that
training on free runs left would hardly correct anything.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from prssm.data.record import Record
from prssm.inference.filtering import ahead, filter_rows
from prssm.inference.mixing import mixed
from prssm.inference.noise_search import NoiseFactors
from prssm.inference.state_space import StateSpace
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.autoregressive import NOISES, autoregressive_member
from prssm.models.prssm.filtering.members import Beside, FilterMembers
from prssm.models.prssm.filtering.noises import (
    HORIZON,
    LEAST_ROWS,
    Heard,
    estimated_noises,
    predicting_noises,
    quick_noises,
    trained_noises,
)
from prssm.models.prssm.filtering.space import is_plain, space_of
from prssm.models.prssm.fitting.contest import Contender
from prssm.models.prssm.selection import best_rounds
from prssm.models.prssm.trained import Candidate
from prssm.training.pace import Pace

_BEST = 2  # candidates whose noises are refined, and that may be mixed
_BESIDE = 3  # members of another level, at most
_GAIN = 0.02  # of the error, that others must save against the members of free runs
_ROWS = 600  # of a held-out stretch over which predictions are judged
_REFINING = 3.0  # times as long as to judge noises once


class Speaker(NamedTuple):
    """Models that might be filtered with: those of each fold, the final ones, and their noises.

    `own` are the numbers of the final ones among the members of free runs, if they are there. The
    error is what `typical_error` gives.
    """

    name: str
    folds: list[Heard]
    final: Heard
    noises: NoiseFactors
    own: tuple[int, ...] = ()
    error: float = np.inf


def filter_members(last: Contender, window: int, pace: Pace) -> FilterMembers:
    """Those with the least errors on held-out stretches; the own ones where none can be told."""
    models = last.choice.mixture.models
    speakers = _judged(last, window, pace)
    heard = sum(bool(one.own) for one in speakers)
    if heard < len(last.choice.candidates) or not np.isfinite(speakers[0].error):
        likely = [_likely_noises(last, window) for _ in pace.each([last])]
        return FilterMembers.equal(models, *likely or [_quick_noises(last, window)])
    # the best alone: refining takes longer than all else here
    best_ranks = list(range(min(_BEST, len(speakers))))
    refined = {rank: _refined(speakers[rank], window) for rank in pace.each(best_ranks, _REFINING)}
    speakers = [refined.get(rank, one) for rank, one in enumerate(speakers)]
    finalists = sorted(speakers, key=lambda one: one.error)[:_BEST]
    own = [one for one in speakers if one.own]
    choices = [own, *([one] for one in finalists), finalists]
    found = [(_error_of(choice, window), choice) for choice in pace.whole(choices)]
    best = int(np.argmin([error for error, _ in found])) if found else 0
    if not found or not found[best][0] < (1.0 - _GAIN) * found[0][0]:
        return _kept(own, own)
    return _kept(found[best][1], own)


def _judged(last: Contender, window: int, pace: Pace) -> list[Speaker]:
    """All that may be filtered with, with their errors, the least first; none without folds."""
    if not last.folds or not window or not is_plain(last.choice.mixture.models):
        return []
    makers = [partial(_level, last, one) for one in _entered(last)]
    found = [
        one._replace(error=typical_error([one], window))
        for make in pace.each([*makers, partial(_autoregression, last, pace)])
        for one in make(window)
    ]
    return sorted(found, key=lambda one: one.error)


def _kept(chosen: Sequence[Speaker], own: Sequence[Speaker]) -> FilterMembers:
    """The chosen ones are heard; all members of free runs are followed, each with its noises."""
    noises = {place: one.noises for one in own for place in one.own}
    heard = {place for one in chosen for place in one.own}
    others = [one for one in chosen if not one.own]
    members = range(len(noises))
    return FilterMembers(
        tuple(noises[place] for place in members),
        tuple(place in heard for place in members),
        _beside(others) if others else None,
    )


def _beside(speakers: Sequence[Speaker]) -> Beside:
    """The final models of some, and their noises."""
    parts = [_first_members(one.final) for one in speakers]
    whole = _together(parts)
    assert whole.shape is not None
    name = "+".join(one.name for one in speakers)
    return Beside(name, whole.models, tuple(_noises_of(speakers, parts)), whole.shape)


def _noises_of(speakers: Sequence[Speaker], parts: Sequence[Heard]) -> list[NoiseFactors]:
    """One for each of the models that the speakers have in the parts."""
    counts = [len(part.models.log_output_std) for part in parts]
    pairs = zip(speakers, counts, strict=True)
    return [one.noises for one, count in pairs for _ in range(count)]


def _likely_noises(last: Contender, window: int) -> NoiseFactors:
    """Of all members of free runs alike."""
    folds, final = _all_heard(last)
    return estimated_noises(folds, final, window) or trained_noises(final.models)


def _quick_noises(last: Contender, window: int) -> NoiseFactors:
    """The same, found at once."""
    folds, final = _all_heard(last)
    return quick_noises(folds, final, window)


def _all_heard(last: Contender) -> tuple[list[Heard], Heard]:
    """The members of free runs: those of all folds, and the final ones."""
    folds = [heard for one in last.choice.candidates for heard in _heard_by_folds(last, one)]
    return folds, Heard(last.choice.mixture.models, last.fitting.records)


def _level(last: Contender, one: Candidate, window: int) -> list[Speaker]:
    """A level by itself: its members in free runs, or else those that do not run away, if any."""
    trained = last.fitting.trained
    places = _places(last).get(one.level.name, ())
    if places:
        models = _some(last.choice.mixture.models, places)
    else:
        members = trained.steady(one.level, one.round)
        if not len(members):
            return []
        models = trained.mixture(one.round, members).models
    folds = _heard_by_folds(last, one)
    final = Heard(models, last.fitting.records)
    noises = predicting_noises(folds, final, window, rounds=0) or trained_noises(models)
    return [Speaker(one.level.name, folds, final, noises, places)]


def _entered(last: Contender) -> list[Candidate]:
    """The levels of free runs, and the others."""
    chosen = last.choice.candidates
    names = {one.level.name for one in chosen}
    every = best_rounds(last.fitting.trained.candidates())
    return [*chosen, *(one for one in every if one.level.name not in names)]


def _places(last: Contender) -> dict[str, tuple[int, ...]]:
    """Where each level's members are among those of free runs: the most complex level is first."""
    names = [one.level.name for one in reversed(last.choice.candidates)]
    count = len(last.choice.members) // len(names)
    return {
        name: tuple(range(index * count, (index + 1) * count)) for index, name in enumerate(names)
    }


def _autoregression(last: Contender, pace: Pace, window: int) -> list[Speaker]:
    """The linear autoregression, if there can be one and there is time for those of all folds."""
    config = last.fitting.config
    every = [*(fold.shown_records for fold in last.folds), last.fitting.records]
    found = [autoregressive_member(config, part, window) for part in pace.whole(every)]
    known = [one for one in found if one is not None]
    if len(known) < len(every):
        return []
    final = known.pop()
    folds = [
        Heard(one.models, fold.held_out_records, one.shape)
        for one, fold in zip(known, last.folds, strict=True)
    ]
    whole = Heard(final.models, last.fitting.records, final.shape)
    return [Speaker("autoregression", folds, whole, NOISES)]


def _heard_by_folds(last: Contender, one: Candidate) -> list[Heard]:
    """A level's models of every fold, with the stretches that they have not seen."""
    trained = last.fitting.trained
    groups = {id(group.fold): group for group in trained.groups if group.level is one.level}
    found = []
    for fold in last.folds:
        members = trained.members(groups[id(fold)], one.round)
        found.append(Heard(trained.mixture(one.round, members).models, fold.held_out_records))
    return found


def _refined(one: Speaker, window: int) -> Speaker:
    """With noises that predict better, if there are."""
    found = predicting_noises(one.folds, one.final, window)
    if found is None:
        return one
    other = one._replace(noises=found)
    other = other._replace(error=typical_error([other], window))
    return min(one, other, key=lambda speaker: speaker.error)


def _error_of(choice: Sequence[Speaker], window: int) -> float:
    return choice[0].error if len(choice) == 1 else typical_error(choice, window)


def typical_error(speakers: Sequence[Speaker], window: int) -> float:
    """Geometric mean, over held-out stretches, of errors one and ten rows ahead; infinite if lost.

    Several speakers are one mixture.
    """
    logs = []
    for heard in zip(*(one.folds for one in speakers), strict=True):
        parts = [_first_members(one) for one in heard]
        whole = _together(parts)
        space = space_of(whole.models, window, _noises_of(speakers, parts), whole.shape)
        logs += [_log_errors(space, record, window) for record in whole.records]
    known = np.concatenate([*logs, np.zeros(0)])
    error = float(np.exp(0.5 * np.mean(known))) if len(known) else np.inf
    return error if np.isfinite(error) else np.inf


def _log_errors(space: StateSpace, record: Record, window: int) -> np.ndarray:
    """Logarithms of the mean squares one and ten rows ahead; none where the stretch is short."""
    part = record[:_ROWS]
    if len(part) < window + LEAST_ROWS or np.isnan(part.y[window + HORIZON :]).all():
        return np.zeros(0)
    found = []
    with np.errstate(all="ignore"):  # a member that is lost shows in its weight
        run = filter_rows(space, part.u, part.y)
        for horizon in (1, HORIZON):
            expected = ahead(space, run, part.u, horizon)
            mean, _ = mixed(expected.weight, expected.output, expected.variance)
            error = (part.y - mean)[window + horizon - 1 :]
            known = ~np.isnan(part.y[window + horizon - 1 :])
            found.append(np.log(np.mean(error[known] ** 2)))
    return np.array(found)


def _together(parts: Sequence[Heard]) -> Heard:
    """Models of the same data as one; the shape of their noises is the unit matrix if none is."""
    models = jax.tree.map(
        lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]),
        *(part.models for part in parts),
    )
    shapes = [
        np.broadcast_to(np.eye(states), (members, states, states)) if given is None else given
        for given, (members, states) in (
            (part.shape, part.models.transition.log_process_std.shape) for part in parts
        )
    ]
    return Heard(models, parts[0].records, np.concatenate(shapes))


def _first_members(part: Heard) -> Heard:
    """The best ones: a filter with many takes long."""
    shape = None if part.shape is None else part.shape[:_BESIDE]
    return part._replace(models=_some(part.models, range(_BESIDE)), shape=shape)


def _some(models: StateSpaceModel, places: Sequence[int]) -> StateSpaceModel:
    """The members with these numbers, of those that there are."""
    count = len(models.log_output_std)
    chosen = [place for place in places if place < count]
    return jax.tree.map(lambda leaf: np.asarray(leaf)[chosen], models)
