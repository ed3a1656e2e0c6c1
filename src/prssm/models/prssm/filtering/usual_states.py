"""The states that training has shown: where a run of which little is known most likely begins.

    usual = usual_states(models, window, records)     # None where the records tell too little

They are what the recognition model makes of windows all over the training records.
"""

from collections.abc import Mapping, Sequence

import jax
import numpy as np

from prssm.data.record import Record
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.filtering.short_start import Firsts
from prssm.models.prssm.recognition import Recognition
from prssm.models.prssm.starts.recognised import windows_of
from prssm.models.prssm.stored_members import checked

_WINDOWS = 1000  # that are looked at
_ENOUGH = 3  # windows for each state; fewer tell no covariance
_LEAST_VAR = 1e-6  # of a direction, relative to the mean variance of a state


def usual_states(models: StateSpaceModel, window: int, records: Sequence[Record]) -> Firsts | None:
    """Mean and covariance of the states of each member, whose arrays lead with the members.

    `records` are scaled and at the model's rate; `window` rows are what it recognises from.
    """
    recognition = models.recognition
    if not isinstance(recognition, Recognition) or window == 0:
        return None
    samples, _ = windows_of(records, window, _WINDOWS)
    members, states = models.transition.log_process_std.shape
    if len(samples) < _ENOUGH * states:
        return None
    means = []
    factors = []
    for member in range(members):
        one = jax.tree.map(lambda leaf, at=member: np.asarray(leaf)[at], recognition)
        x = one.means(samples)
        spread = np.atleast_2d(np.cov(x, rowvar=False))
        least = _LEAST_VAR * max(np.trace(spread) / states, _LEAST_VAR)
        means.append(x.mean(axis=0))
        factors.append(np.linalg.cholesky(spread + least * np.eye(states)))
    return Firsts(np.stack(means), np.stack(factors))


def usual_from(
    arrays: Mapping[str, np.ndarray], prefix: str, members: int, *, states: int
) -> Firsts | None:
    """What `stored_members.arrays_of` made of them; None of a file that has none."""
    names = [prefix + f".{name}" for name in Firsts._fields]
    if not any(name in arrays for name in names):
        return None
    mean = checked(arrays, names[0], (members, states))
    factor = checked(arrays, names[1], (members, states, states))
    if not (np.diagonal(factor, axis1=1, axis2=2) > 0.0).all():
        raise TypeError(f"{names[1]}: expected factors of covariances, got one without an inverse")
    return Firsts(mean, factor)
