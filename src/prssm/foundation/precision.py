"""Double precision for the duration of a call, without touching JAX's global configuration."""

from contextlib import AbstractContextManager

import jax


def double_precision() -> AbstractContextManager[None]:
    """A scope in which arrays are float64 unless they say otherwise."""
    return jax.enable_x64(True)
