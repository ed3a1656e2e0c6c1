"""Who goes on in the race of PR-SSM's restarts.

Levels by their held-out errors, restarts by their ELBO.
"""

import numpy as np

from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.selection import best_rounds
from prssm.models.prssm.trained import Candidate, Stage, Trained
from prssm.training.race import Standing

# A level goes on while its held-out error is within this of the best, relative to it.
_WITHIN = 0.25
# So many levels at most, after the first round and after later ones.
_MOST_LEVELS = (3, 1)
# And while its last round lowered the error by this share.
_GAIN = 0.01
# Restarts that go on of those on all data, and of each fold.
_RESTARTS = 5
_FOLD_RESTARTS = 2


class Referee:
    """A `training.race.Referee`: adds every round to `trained` and says who goes on.

    `racers[i]` is the number in `trained` of the race's restart i: levels that are not trained take
    no part in the race.
    """

    def __init__(self, trained: Trained, racers: np.ndarray) -> None:
        self.trained = trained
        self.racers = racers

    def follow(self, standing: Standing) -> None:
        """Take in the rounds that are new.

        Restarts of levels that are not trained stay as they are.
        """
        start = self.trained.stages[0]
        for number in range(len(self.trained.stages) - 1, len(standing.theta)):
            theta = start.theta.copy()
            objective = start.objective.copy()
            theta[self.racers] = standing.theta[number]
            objective[self.racers] = standing.objective[number]
            self.trained.add(Stage(theta, objective), self.racers[standing.active[number]])

    def __call__(self, standing: Standing) -> np.ndarray:
        self.follow(standing)
        number = len(self.trained.stages) - 1
        candidates = self.trained.candidates()
        if not any(one.held_out.errors for one in candidates):
            return np.flatnonzero(standing.active[-1])
        going_on = {
            one.level.name for one in candidates if one.round == number and one.level.trained
        } & self._worth(candidates, number)
        chosen = [
            self._best(group, number)
            for group in self.trained.groups
            if group.level.name in going_on
        ]
        found = np.concatenate(chosen) if chosen else np.zeros(0, dtype=int)
        return np.flatnonzero(np.isin(self.racers, found))

    def fewer(self, count: int) -> np.ndarray:
        """At most so many racers, and one of each group of the first level at least.

        A `training.race.Fewer`. Levels come one after the other, the first with one restart on all
        data and one on what each fold shows: the first ones start from a linear model and need
        less training. Then all of them have a second restart, and so on.
        """
        trained = [group for group in self.trained.groups if group.level.trained]
        levels = list(dict.fromkeys(group.level for group in trained))
        chosen: list[int] = []
        for number in range(max(group.count for group in trained)):
            for level in levels:
                more = [
                    int(group.restarts[number])
                    for group in trained
                    if group.level is level and number < group.count
                ]
                if chosen and len(chosen) + len(more) > count:
                    return np.flatnonzero(np.isin(self.racers, chosen))
                chosen += more
        return np.arange(len(self.racers))

    def _worth(self, candidates: list[Candidate], number: int) -> set[str]:
        """Names of the levels for which more training may pay."""
        errors = {one.level.name: one.held_out.typical for one in best_rounds(candidates)}
        limit = (1.0 + _WITHIN) * min(errors.values())
        trained = {one.level.name for one in candidates if one.level.trained}
        ranked = sorted(trained & set(errors), key=lambda name: errors[name])
        most = _MOST_LEVELS[min(number, len(_MOST_LEVELS)) - 1]
        worth = {name for name in ranked[:most] if errors[name] <= limit}
        for one in candidates:
            earlier = [
                other.held_out.typical
                for other in candidates
                if other.level is one.level and other.round < number
            ]
            stalls = earlier and one.held_out.typical > (1.0 - _GAIN) * min(earlier)
            if one.round == number and stalls:
                worth.discard(one.level.name)
        return worth

    def _best(self, group: Group, number: int) -> np.ndarray:
        """The restarts of a group that go on.

        By rank alone: how far apart they are so early says little, and a mixture needs several.
        """
        most = _RESTARTS if group.fold is None else _FOLD_RESTARTS
        return self.trained.ranked(group, number)[:most]
