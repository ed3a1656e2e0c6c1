"""Where JAX computes."""

import jax


def platform() -> str:
    """The kind of device that computations go to by default: 'cpu', 'gpu' and so on."""
    # JAX adds its settings to `config` while it runs, where the checker does not see them.
    device = jax.config.jax_default_device  # type: ignore[attr-defined]
    return getattr(device, "platform", device) or jax.default_backend()
