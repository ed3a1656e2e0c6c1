"""The model of REVARB (Mattos et al. 2016) and its bound.

Hidden layers h = 1..H of latent rows x^h_t, each with its own zero-mean GP, and an output layer:

    x^1_t = f^1(x^1_{t-1} .. x^1_{t-L}, u_{t-1} .. u_{t-L}) + noise,
    x^h_t = f^h(x^h_{t-1} .. x^h_{t-L}, x^{h-1}_t .. x^{h-1}_{t-L+1}) + noise,          h > 1,
    y_t   = f^{H+1}(x^H_t .. x^H_{t-L+1}) + noise.

The first L rows of a record have the prior N(first_mean, first_std^2). With the mean field q(x) =
prod N(q_mean, q_std^2) a row is independent of its own window, so each layer is a sparse regression
with uncertain inputs and targets, and

    bound = sum over layers of their collapsed bounds + entropy of q + E_q[log p(first rows)].
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.data.record import Record
from prssm.foundation.errors import DataError
from prssm.gp.collapsed import CollapsedGP, Pairs
from prssm.gp.conditional import Conditional

AnyArray = Array | np.ndarray  # made by NumPy, moved to a device once


class RevarbData(NamedTuple):
    """All records' rows one below the other, and which of them make windows.

    Arrays `past` etc. hold row numbers.
    """

    u: Float[AnyArray, "R Du"]
    y: Float[AnyArray, "R Dy"]  # zero where missing
    measured: Float[AnyArray, "R Dy"]  # 1 or 0
    first: np.ndarray  # (F,) the first L rows of each record
    later: np.ndarray  # (N,) all other rows
    past: np.ndarray  # (N, L) the rows before each of `later`, newest first
    seen: np.ndarray  # (M,) rows whose output is modelled: those with L - 1 rows before them
    recent: np.ndarray  # (M, L) each of `seen` and the rows before it, newest first
    first_mean: Float[AnyArray, " Dy"]
    first_std: Float[AnyArray, " Dy"]

    @classmethod
    def of(cls, records: Sequence[Record], lags: int) -> Self:
        records = usable(records, lags)
        ends = np.cumsum([len(record) for record in records])
        spans = list(zip(ends - [len(record) for record in records], ends, strict=True))
        first = np.concatenate([np.arange(begin, begin + lags) for begin, _ in spans])
        later = np.concatenate([np.arange(begin + lags, end) for begin, end in spans])
        seen = np.concatenate([np.arange(begin + lags - 1, end) for begin, end in spans])
        u, y = (
            np.concatenate([getattr(record, name) for record in records]) for name in ("u", "y")
        )
        steps = np.arange(lags)
        return cls(
            u,
            np.nan_to_num(y),
            (~np.isnan(y)).astype(float),
            first=first,
            later=later,
            past=later[:, None] - 1 - steps,
            seen=seen,
            recent=seen[:, None] - steps,
            first_mean=np.nanmean(y, axis=0),
            first_std=np.nanstd(y, axis=0),
        )


def usable(records: Sequence[Record], lags: int) -> list[Record]:
    """The records that are longer than the window."""
    long_enough = [record for record in records if len(record) > lags]
    if not long_enough:
        longest = max(len(record) for record in records)
        raise DataError(
            f"{records[0].name}: the longest record has {longest} rows; lags={lags} needs at least "
            f"{lags + 1}"
        )
    return long_enough


class Revarb(eqx.Module):
    """All that is learnt.

    A GP for each hidden layer and the output layer, and q(x) of each hidden layer's rows.
    """

    layers: tuple[CollapsedGP, ...]  # H + 1 of them
    q_mean: Float[Array, "H R Dy"]
    q_log_std: Float[Array, "H R Dy"]

    def bound(self, data: RevarbData) -> Float[Array, ""]:
        """Lower bound of log p(y)."""
        fit = sum(gp.bound(pairs) for gp, pairs in zip(self.layers, self.pairs(data), strict=True))
        entropy = jnp.sum(self.q_log_std) + 0.5 * self.q_mean.size * jnp.log(2.0 * jnp.pi * jnp.e)
        return fit + entropy + self._first_rows(data)

    def condition(self, data: RevarbData) -> tuple[Conditional, ...]:
        """Each layer's posterior; arrays lead with the output axis."""
        return tuple(
            gp.condition(pairs) for gp, pairs in zip(self.layers, self.pairs(data), strict=True)
        )

    def pairs(self, data: RevarbData) -> list[Pairs]:
        """Each layer's inputs and targets under q."""
        q_var = jnp.exp(2.0 * self.q_log_std)
        found = []
        for h in range(self.q_mean.shape[0]):
            mean = [_side_by_side(self.q_mean[h], data.past)]
            var = [_side_by_side(q_var[h], data.past)]
            if h == 0:
                known = _side_by_side(data.u, data.past)
                mean = [*mean, known]
                var = [*var, jnp.zeros(known.shape)]
            else:
                below = data.past + 1  # x^{h-1}_t .. x^{h-1}_{t-L+1}
                mean = [*mean, _side_by_side(self.q_mean[h - 1], below)]
                var = [*var, _side_by_side(q_var[h - 1], below)]
            target = self.q_mean[h][data.later]
            target_var = q_var[h][data.later]
            found.append(
                Pairs(
                    jnp.concatenate(mean, axis=1),
                    jnp.concatenate(var, axis=1),
                    target,
                    target_var=target_var,
                    counted=jnp.ones(target.shape),
                )
            )
        y = jnp.asarray(data.y)[data.seen]
        found.append(
            Pairs(
                _side_by_side(self.q_mean[-1], data.recent),
                _side_by_side(q_var[-1], data.recent),
                y,
                target_var=jnp.zeros(y.shape),
                counted=jnp.asarray(data.measured)[data.seen],
            )
        )
        return found

    def _first_rows(self, data: RevarbData) -> Float[Array, ""]:
        """E_q[log N(x; first_mean, first_std^2)] over the first rows of all layers."""
        away = (self.q_mean[:, data.first] - data.first_mean) ** 2 + jnp.exp(
            2.0 * self.q_log_std[:, data.first]
        )
        return -0.5 * jnp.sum(away / data.first_std**2 + jnp.log(2.0 * jnp.pi * data.first_std**2))


def _side_by_side(rows: AnyArray, windows: AnyArray) -> Float[Array, "N LD"]:
    """The rows of each window as one vector, newest first."""
    return jnp.asarray(rows)[windows].reshape(windows.shape[0], -1)


def objective(model: Revarb, data: RevarbData) -> Float[Array, ""]:
    return model.bound(data)
