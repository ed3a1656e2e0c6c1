"""One name for the arrays of NumPy and of JAX, where either will do.

Parameters are NumPy arrays before training and after it, because outside the scope of
`double_precision` a JAX array would be rounded to single precision. Within compiled code the same
fields hold JAX arrays. What computes with either returns JAX arrays.
"""

import jax
import numpy as np

AnyArray = jax.Array | np.ndarray
