"""What runs a rollout: compiled code for the CPU and for NVIDIA GPUs.

`choice` picks one. Nothing outside of this package imports `native` or `cuda`.
"""
