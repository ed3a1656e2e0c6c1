"""The rollout and its adjoint on NVIDIA GPUs: CUDA behind jax.ffi.

`build` compiles it, `library` loads it, `layout` brings parameters into the order that the kernels
read and makes gradients of their sums, `engine` is the rollout for JAX. docs/adjoint.md says how
the work is divided.
"""
