"""The recognition network of a whole batch by the CUDA library, a JAX function with its gradient.

Its matrix products are so small that launches are all they cost; this is one each way.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from prssm.dynamics.engines.cuda import library


class Network(NamedTuple):
    """h = tanh(W1 s + b1), mean = W2 h + D s + d + [s_1..s_shown, 0], log std = W3 h + b3.

    Without a linear path around the hidden layer D and d have no numbers: (Dx, 0) and (0,).
    """

    hidden_weight: Float[Array, "H S"]
    hidden_bias: Float[Array, " H"]
    mean_weight: Float[Array, "Dx H"]
    log_std_weight: Float[Array, "Dx H"]
    log_std_bias: Float[Array, " Dx"]
    direct: Float[Array, "Dx S"]
    direct_bias: Float[Array, " Dx"]


class NetworkShape(NamedTuple):
    """Sizes of a call, in the order in which the library reads them."""

    windows: int
    size: int
    hidden: int
    dx: int
    shown: int
    direct: int


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def cuda_recognition(
    network: Network, sample: Float[Array, "n S"], shown: int
) -> tuple[Float[Array, "n Dx"], Float[Array, "n Dx"]]:
    """Mean and log standard deviation of the first state of each window."""
    return _forward(network, sample, shown)[0]


def _forward(
    network: Network, sample: Array, shown: int
) -> tuple[tuple[Array, Array], tuple[Network, Array, Array]]:
    shape = _shape(network, sample, shown)
    sizes = [(shape.windows, shape.hidden), (shape.windows, shape.dx), (shape.windows, shape.dx)]
    hidden, mean, log_std = _library_function(library.RECOGNISE, sizes, sample.dtype)(
        sample, *network, sizes=np.asarray(shape, np.int64)
    )
    return (mean, log_std), (network, sample, hidden)


def _backward(
    shown: int, saved: tuple[Network, Array, Array], slopes: tuple[Array, Array]
) -> tuple[Network, Array]:
    network, sample, hidden = saved
    g_mean, g_log_std = slopes
    shape = _shape(network, sample, shown)
    sizes = [*(part.shape for part in network), (shape.windows, shape.hidden)]
    *g_network, g_before = _library_function(library.UNRECOGNISE, sizes, sample.dtype)(
        sample, *network, hidden, g_mean, g_log_std, sizes=np.asarray(shape, np.int64)
    )
    # Training asks for no gradient of the data: XLA then leaves this out.
    g_sample = g_before @ network.hidden_weight
    if shape.direct:
        g_sample += g_mean @ network.direct
    return Network(*g_network), g_sample.at[:, :shown].add(g_mean[:, :shown])


cuda_recognition.defvjp(_forward, _backward)


def _shape(network: Network, sample: Array, shown: int) -> NetworkShape:
    windows, size = sample.shape
    return NetworkShape(
        windows,
        size,
        len(network.hidden_bias),
        dx=len(network.log_std_bias),
        shown=shown,
        direct=int(network.direct.size > 0),
    )


def _library_function(name: str, sizes: Sequence[tuple[int, ...]], kind: np.dtype) -> Callable:
    results = [jax.ShapeDtypeStruct(size, kind) for size in sizes]
    return jax.ffi.ffi_call(name, results, vmap_method="broadcast_all")
