"""x' = f(x, u): the transition, its rollout through time and the adjoint."""
