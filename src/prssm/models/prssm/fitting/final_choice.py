"""What a fit keeps in the end: the race's winner, what grows from it, or recurrent networks."""

from prssm.models.prssm.fitting.contest import Contender, Contest, is_long
from prssm.models.prssm.fitting.growth import Growth
from prssm.models.prssm.fitting.network_contender import network_contender

# Times the error of networks: what errs more does not catch up by growing.
_FAR = 1.5
# Share of the held-out error that networks must save: of few data, by which they are easily led to
# fit what is chance, more.
_GAIN = 0.1


def best_of_all(contest: Contest, first: Contender, with_networks: bool) -> Contender:
    """The best on held-out stretches of `first`, of all that may grow from it, and of networks."""
    networks = network_contender(contest, first) if with_networks else None
    if networks is None:
        return Growth(contest, contest.run(first)).run()
    gain = contest.gain(first, networks)
    if gain < _least_gain(first):
        return Growth(contest, contest.run(first)).run()
    now = contest.better(first, networks, gain=gain)
    ahead = now is not first
    if ahead and gain > 1.0 - 1.0 / _FAR:
        return now
    contest.quiet = ahead
    grown = Growth(contest, contest.run(first)).run()
    contest.quiet = False
    gain = contest.gain(grown, networks)
    best = contest.better(grown, networks, gain=gain if gain >= _least_gain(grown) else 0.0)
    if ahead and best is grown:
        contest.tell(grown)
    return best


def best_with_networks(contest: Contest, first: Contender) -> Contender:
    """The better one of `first` and of networks, where nothing grows."""
    networks = network_contender(contest, first)
    if networks is None:
        return first
    gain = contest.gain(first, networks)
    return contest.better(first, networks, gain=gain if gain >= _least_gain(first) else 0.0)


def _least_gain(now: Contender) -> float:
    return 0.0 if is_long(now) else _GAIN
