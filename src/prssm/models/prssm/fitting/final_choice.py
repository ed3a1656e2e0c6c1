"""What a fit keeps in the end: the race's winner, what grows from it, or recurrent networks."""

from prssm.models.prssm.fitting.contest import (
    Contender,
    Contest,
    agreed,
    as_the_leader_says,
    is_long,
)
from prssm.models.prssm.fitting.growth import Growth
from prssm.models.prssm.networks.contender import network_contender

# Times the error of networks: what errs more does not catch up by growing.
_FAR = 1.5
# Standard errors by which the logarithm of networks' held-out errors must be lower: few data easily
# lead them to fit what is chance.
_SURELY = 2.0


def best_of_all(contest: Contest, first: Contender, with_networks: bool) -> Contender:
    """The best on held-out stretches of `first`, of all that may grow from it, and of networks.

    Nothing grows where networks err far less. Nor where they leave only noise of many rows: what is
    held out of slow motion shows little of it, so that something else may seem better by chance.
    """
    networks = network_contender(contest, first) if with_networks else None
    if networks is None:
        return Growth(contest, contest.run(first)).run()
    gain = agreed(_sure_gain(contest, first, networks))
    if gain <= 0.0:
        return Growth(contest, contest.run(first)).run()
    now = contest.better(first, networks, gain=gain)
    ahead = now is not first
    far = gain > 1.0 - 1.0 / _FAR
    if ahead and (far or as_the_leader_says(networks.leaves_only_noise())):
        return now
    contest.quiet = ahead
    grown = Growth(contest, contest.run(first)).run()
    contest.quiet = False
    best = contest.better(grown, networks, gain=agreed(_sure_gain(contest, grown, networks)))
    if ahead and best is grown:
        contest.tell(grown)
    return best


def _sure_gain(contest: Contest, now: Contender, networks: Contender) -> float:
    """The share of its held-out error that networks save; of few data 0 where that may be chance.

    Of long data one stretch says enough.
    """
    if is_long(now) or contest.surely_less(now, networks, _SURELY):
        return contest.gain(now, networks)
    return 0.0
