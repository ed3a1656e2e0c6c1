"""What a fit keeps in the end: the race's winner, what grows from it, or recurrent networks."""

from prssm.models.prssm.fitting.contest import Contender, Contest
from prssm.models.prssm.fitting.growth import Growth
from prssm.models.prssm.fitting.network_contender import network_contender

# Times the error of networks: what errs more does not catch up by growing.
_FAR = 1.5


def best_of_all(contest: Contest, first: Contender, with_networks: bool) -> Contender:
    """The best on held-out stretches of `first`, of all that may grow from it, and of networks."""
    networks = network_contender(contest, first) if with_networks else None
    if networks is None:
        return Growth(contest, contest.run(first)).run()
    gain = contest.gain(first, networks)
    now = contest.better(first, networks, gain=gain)
    ahead = now is not first
    if ahead and gain > 1.0 - 1.0 / _FAR:
        return now
    contest.quiet = ahead
    grown = Growth(contest, contest.run(first)).run()
    contest.quiet = False
    best = contest.better(grown, networks, gain=contest.gain(grown, networks))
    if ahead and best is grown:
        contest.tell(grown)
    return best
