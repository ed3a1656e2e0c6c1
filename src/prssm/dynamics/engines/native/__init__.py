"""The fused engine in C++: a rollout and its adjoint.

Sixteen trajectories are in the lanes of two vector registers. `build` compiles it (the package's
own build calls it too), `library` loads it, `engine` is the rollout for JAX. docs/adjoint.md has
the mathematics.
"""
