"""What is kept of all that was trained.

Levels by their held-out errors, members by their ELBO, a calibrated band.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prssm.linear.held_out import as_good
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.band.witnesses import Witnesses
from prssm.models.prssm.levels import Linear
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.trained import Candidate, HeldOut, Kept, Trained, mixed
from prssm.prediction.correlation import are_white

# Levels whose held-out errors are this close to the smallest, relative to it, are mixed.
NEAR = 0.05
# Held-out errors this close are the same where those of a linear model are like a sensor's noise.
_SAME = 0.02
# An earlier round is preferred where later ones err more by this share.
_MUCH = 0.15
# A model that errs more than the linear one by this share is not kept: by the root mean square over
# all held-out stretches, or over the training records.
_WORSE = 0.02
# Unless it errs less on this share of the stretches, of which there are so many at least, and on
# none of them so many times as much.
_MOST = 2.0 / 3.0
_SEVERAL = 6
_LOST = 2.0


class Choice(NamedTuple):
    """What is kept, and why."""

    level: str  # the names of the chosen levels, joined
    # scores of all levels and of the choice, where there are any
    held_out: dict[str, dict[str, float]]
    calibration: Calibration
    mixture: Mixture
    members: np.ndarray  # indices of the restarts
    steady: bool  # whether they stay with the longest training record, and go on after a short one
    candidates: list[Candidate]  # the chosen levels
    witnesses: Witnesses | None  # models of the folds, where there are several
    # whether it is the linear model with errors like a sensor's noise, as far as the data tell
    straight: bool = False
    # the level that typical held-out errors preferred, which errs more than the linear model
    worse_than_linear: str = ""


def best_rounds(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each level after its last round, unless an earlier one did much better on held-out data.

    Which round did best by a little is chance, and a choice between many of them is too proud.
    """
    found: dict[str, Candidate] = {}
    for one in candidates:
        best = found.get(one.level.name)
        limit = np.inf if best is None else (1.0 + _MUCH) * best.held_out.typical
        if best is None or not one.held_out.errors or one.held_out.typical <= limit:
            found[one.level.name] = one
    return list(found.values())


def choose(trained: Trained) -> Choice:
    """A mixture of all levels that are as good as the best on held-out data.

    A level that is worse alone stays out even where the mixture with it errs less: there all models
    of the folds err much, and a mixture of poor models hides that the final ones, which have seen
    all data, are better. Where the linear level errs least, it is kept alone: others would be there
    by chance. So it is where it errs as little as the best but for 2 %, and its errors are like a
    sensor's noise: nothing is left that another level could know. A level whose final models have
    all run away is no candidate, unless those of all levels have. Without held-out data: the second
    of several levels, which stays near its linear start. A choice that errs more than the linear
    model, over all held-out stretches or in free runs over the whole training records, is not
    taken: then the linear model is.
    """
    entered = best_rounds(trained.candidates())
    members = [trained.steady(one.level, one.round) for one in entered]
    steady = any(len(found) for found in members)
    errors = [
        one.held_out.typical if len(found) or not steady else np.inf
        for one, found in zip(entered, members, strict=True)
    ]
    chosen = as_good(errors, NEAR) or [min(1, len(entered) - 1)]
    linear = [index for index, one in enumerate(entered) if not one.level.trained]
    if any(_is_enough(entered[index], errors[index], min(errors)) for index in linear):
        chosen = linear
    choice = _kept(trained, entered, members, chosen=chosen)
    if not linear or linear == chosen or not trained.records:
        return choice
    plain = _kept(trained, entered, members, chosen=linear)
    if not _errs_more(trained, choice, plain):
        return choice
    return plain._replace(worse_than_linear=choice.level, held_out=choice.held_out | plain.held_out)


def _is_enough(linear: Candidate, error: float, least: float) -> bool:
    """Whether a linear model leaves other levels nothing to explain."""
    if not np.isfinite(error):
        return False
    white = bool(linear.held_out.errors) and are_white(linear.held_out.errors)
    return error <= least * (1.0 + _SAME * white)


def _errs_more(trained: Trained, choice: Choice, plain: Choice) -> bool:
    """Whether a choice errs more than the plain one where that matters most.

    The typical error, by which levels are chosen, forgives a stretch on which a model is lost.
    Nobody who uses the model does.
    """
    mine, linear = (mixed([one.held_out for one in found.candidates]) for found in (choice, plain))
    known = plain.steady and np.isfinite(linear.rmse)
    if known and mine.rmse > (1.0 + _WORSE) * linear.rmse and not _mostly_less(mine, linear):
        return True
    limit = (1.0 + _WORSE) * trained.training_error(plain.mixture)
    return trained.training_error(choice.mixture) > limit


def _mostly_less(mine: HeldOut, linear: HeldOut) -> bool:
    """Whether errors are smaller on most held-out stretches, and far larger on none.

    Then a larger root mean square is that of one or two, whose like the models of their folds have
    never seen. The final one has.
    """
    times = mine.of_stretches() / linear.of_stretches()
    mostly = len(times) >= _SEVERAL and np.mean(times < 1.0) >= _MOST
    return bool(mostly and np.max(times) < _LOST)


def _kept(
    trained: Trained, entered: list[Candidate], members: list[np.ndarray], chosen: list[int]
) -> Choice:
    """The mixture of those of the levels that have the numbers `chosen`, and its band.

    `members` has for each level its final models that do not run away.
    """
    name = "+".join(entered[index].level.name for index in chosen)
    result = mixed([entered[index].held_out for index in chosen])
    scored = [(one.level.name, one.held_out) for one in entered] + [(name, result)]
    kept = [
        Kept(one.round, found if len(found) else trained.final(one.level, one.round))
        for one, found in ((entered[index], members[index]) for index in chosen)
    ]
    ordered = _with_equal_weights(kept, max(len(part.members) for part in kept))
    mixture = trained.mixture_of(ordered)
    straight = name == Linear.name and bool(result.errors) and are_white(result.errors)
    if straight:
        calibration = _of_white(trained, result, mixture)
    else:
        calibration = usual_calibration(trained, [entered[index] for index in chosen], mixture)
    return Choice(
        level=name,
        held_out={name: found.scores() for name, found in scored if np.isfinite(found.rmse)},
        calibration=calibration,
        mixture=mixture,
        members=np.concatenate([part.members for part in ordered]),
        steady=all(len(members[index]) for index in chosen),
        candidates=[entered[index] for index in chosen],
        witnesses=_witnesses(trained, [entered[index] for index in chosen]),
        straight=straight,
    )


def _witnesses(trained: Trained, candidates: Sequence[Candidate]) -> Witnesses | None:
    """What each fold would mix of the same levels."""
    each = [trained.of_folds(one.level, one.round) for one in candidates]
    folds = [list(parts) for parts in zip(*each, strict=True)]
    if len(folds) < 2:
        return None
    most = max(len(part.members) for parts in folds for part in parts)
    kept = [part for parts in folds for part in _with_equal_weights(parts, most)]
    return Witnesses(trained.mixture_of(kept), len(folds))


def usual_calibration(
    trained: Trained, candidates: Sequence[Candidate], mixture: Mixture
) -> Calibration:
    """From errors of the folds' models where they were not trained, and the final model's there.

    The latter count only where the final model errs less than those of the folds. What integrates
    errs the more the longer it runs: so the band also holds the errors over whole training records,
    which are longer than held-out stretches.
    """
    held_out = mixed([one.held_out for one in candidates])
    if not held_out.errors:
        return Calibration.none(mixture.models.log_output_std.shape[1])
    found = Calibration.fit(*held_out)
    share = max(one.level.seen_share for one in candidates)
    found = found.toward(Calibration.fit(*trained.seen(mixture)) if share else found, share)
    return _beside_whole_records(found, held_out, trained.over_records(mixture), Calibration.fit)


def _of_white(trained: Trained, held_out: HeldOut, mixture: Mixture) -> Calibration:
    """From white errors on held-out stretches, and those over whole training records."""
    found = Calibration.of_white(*held_out)
    long = trained.over_records(mixture)
    return _beside_whole_records(found, held_out, long, Calibration.of_white)


def _beside_whole_records(
    found: Calibration, held_out: HeldOut, long: HeldOut, way: Callable[..., Calibration]
) -> Calibration:
    """Not narrower than runs over whole records ask for, and wider where little was held out."""
    found = found.at_least(way(*long)) if long.errors else found
    return found.for_few(held_out.errors)


def _with_equal_weights(levels: Sequence[Kept], most: int) -> list[Kept]:
    """Members of all levels, the most complex one's best first.

    A level with fewer than `most` members repeats them.
    """
    return [Kept(part.round, np.resize(part.members, most)) for part in reversed(levels)]
