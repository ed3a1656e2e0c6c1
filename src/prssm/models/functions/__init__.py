"""A fitted state-space model as pure functions of JAX, and what they tell a control engineer."""
