"""A filter over a whole recording: what was expected of every row, and what is known after it.

The recording is in the model's units and at its rate. All results lead with the members (M) and
have the rows (T) as their batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float

from prssm.foundation.errors import OptionError, did_you_mean
from prssm.inference.gaussian import extended, unscented
from prssm.inference.gaussian.update import Predicted, Seen
from prssm.inference.mixing import weighed
from prssm.inference.state_space import Array, Belief, StateSpace, windows

# The Gaussian filters by the names that users give; each has `predict`, `predict_output`, `update`.
RULES: dict[str, ModuleType] = {"extended": extended, "unscented": unscented}
_CHUNK = 512  # rows whose predictions are computed at once: it bounds the memory


def rule_of(name: str) -> ModuleType:
    """The Gaussian filter of that name."""
    if name not in RULES:
        raise OptionError(f"method: no filter is called {name!r}.{did_you_mean(name, RULES)}")
    return RULES[name]


@dataclass(frozen=True, eq=False)
class Filtered:
    """What a filter makes of a recording; `log_weight` are the members' after each row."""

    predicted: Belief
    output: Float[Array, "M T Dy"]  # expected before the row was measured
    seen: Seen
    filtered: Belief
    log_weight: Float[Array, "M T"]
    evidence: Float[Array, " T"]  # log-density of each row under the mixture
    first_log_weight: Float[Array, " M"]  # before the first row

    @classmethod
    def joined(cls, early: Self, late: Self, begin: int, rows: int) -> Self:
        """Rows before `rows` from `early`; then `late`, whose first row is `begin`.

        What is known after the last of the early rows is already the later one's.
        """

        def before(first: Array, second: Array) -> Array:
            return np.concatenate([first[:, :rows], second[:, rows - begin :]], axis=1)

        def after(first: Array, second: Array) -> Array:
            return np.concatenate([first[:, : rows - 1], second[:, rows - 1 - begin :]], axis=1)

        return cls(
            Belief(*map(before, early.predicted, late.predicted)),
            before(early.output, late.output),
            Seen(*map(before, early.seen, late.seen)),
            filtered=Belief(*map(after, early.filtered, late.filtered)),
            log_weight=after(early.log_weight, late.log_weight),
            evidence=np.concatenate([early.evidence[:rows], late.evidence[rows - begin :]]),
            first_log_weight=early.first_log_weight,
        )

    def weight_before(self) -> Float[Array, "M T"]:
        """The members' weights before each row was measured."""
        before = [self.first_log_weight[:, None], self.log_weight[:, :-1]]
        return np.exp(np.concatenate(before, axis=1))


class Row(NamedTuple):
    """One row of a filter's run."""

    predicted: Belief
    expected: Predicted
    seen: Seen
    filtered: Belief


def filter_rows(
    space: StateSpace, u: Float[Array, "T Du"], y: Float[Array, "T Dy"], rule: ModuleType = extended
) -> Filtered:
    """The filter from the prior; from the recognised start once its window has been seen."""
    rows = space.window
    found = space.recognised(u[:rows], y[:rows]) if 0 < rows <= len(u) else None
    if found is None:
        return rows_from(space, u, y, belief=space.first(), rule=rule)
    early = rows_from(space, u[:rows], y[:rows], belief=space.first(), rule=rule)
    begin, belief = found
    late = rows_from(space, u, y, belief=belief, begin=begin, rule=rule)
    return Filtered.joined(early, late, begin, rows)


def rows_from(
    space: StateSpace,
    u: Float[Array, "T Du"],
    y: Float[Array, "T Dy"],
    *,
    belief: Belief,
    begin: int = 0,
    rule: ModuleType = extended,
) -> Filtered:
    """The filter from a belief about the state at row `begin`, over that row and all later ones."""
    inputs = windows(u, space.lags)[begin:]
    known = ~np.isnan(y[begin:])
    log_weight = space.first_log_weight
    rows = []
    weights = []
    evidence = []
    for t in range(len(inputs)):
        now = inputs[t : t + 1]
        if t > 0:
            belief = rule.predict(space, belief, inputs[t - 1 : t])
        predicted = belief
        expected = rule.predict_output(space, predicted, now)
        belief, seen = rule.condition(predicted, expected, y[begin + t], known[t])
        density = 0.0
        if known[t].any():
            log_weight, density = weighed(log_weight, seen.log_likelihood[:, 0])
        rows.append(Row(predicted, expected, seen, belief))
        weights.append(log_weight)
        evidence.append(density)
    return _stacked(rows, [space.first_log_weight, *weights], evidence)


def _stacked(rows: list[Row], weights: list[Array], evidence: list[float]) -> Filtered:
    """`weights` begin with those before the first row."""

    def along(part: Callable[[Row], Array]) -> Array:
        return np.concatenate([part(row) for row in rows], axis=1)

    return Filtered(
        Belief(along(lambda r: r.predicted.mean), along(lambda r: r.predicted.covariance)),
        along(lambda r: r.expected.output),
        Seen(
            along(lambda r: r.seen.innovation),
            along(lambda r: r.seen.variance),
            along(lambda r: r.seen.log_likelihood),
        ),
        filtered=Belief(along(lambda r: r.filtered.mean), along(lambda r: r.filtered.covariance)),
        log_weight=np.stack(weights[1:], axis=1),
        evidence=np.asarray(evidence),
        first_log_weight=weights[0],
    )


class Ahead(NamedTuple):
    """A prediction of every row by every member, with the weights that they had at its origin."""

    output: Float[Array, "M T Dy"]
    variance: Float[Array, "M T Dy"]
    weight: Float[Array, "M T"]


def ahead(
    space: StateSpace,
    found: Filtered,
    u: Float[Array, "T Du"],
    horizon: int,
    rule: ModuleType = extended,
) -> Ahead:
    """Every row from what was known `horizon` rows before it; the first ones from the prior."""
    inputs = windows(u, space.lags)
    early = min(horizon, len(u))
    outputs = []
    variances = []
    if early:
        first = from_prior(space, inputs[:early], rule)
        outputs.append(first.output)
        variances.append(_diagonal(first.variance))
    for begin in range(0, len(u) - early, _CHUNK):
        origins = slice(begin, min(begin + _CHUNK, len(u) - early))
        belief = Belief(*(part[:, origins] for part in found.filtered))
        for k in range(horizon):
            belief = rule.predict(space, belief, inputs[origins.start + k : origins.stop + k])
        now = inputs[origins.start + horizon : origins.stop + horizon]
        expected = rule.predict_output(space, belief, now)
        outputs.append(expected.output)
        variances.append(_diagonal(expected.variance))
    first_weight = np.repeat(np.exp(found.first_log_weight)[:, None], early, axis=1)
    later = np.exp(found.log_weight[:, : len(u) - early])
    return Ahead(
        np.concatenate(outputs, axis=1),
        np.concatenate(variances, axis=1),
        np.concatenate([first_weight, later], axis=1),
    )


def from_prior(space: StateSpace, inputs: Float[Array, "T U"], rule: ModuleType) -> Predicted:
    """Rows that nothing measured tells anything of."""
    belief = space.first()
    rows = []
    for t in range(len(inputs)):
        if t > 0:
            belief = rule.predict(space, belief, inputs[t - 1 : t])
        rows.append(rule.predict_output(space, belief, inputs[t : t + 1]))
    return Predicted(*(np.concatenate(part, axis=1) for part in zip(*rows, strict=True)))


def _diagonal(matrix: Float[Array, "*rest D D"]) -> Float[Array, "*rest D"]:
    return np.diagonal(matrix, axis1=-2, axis2=-1)
