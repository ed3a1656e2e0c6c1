"""What runs a rollout: compiled code for the CPU and for NVIDIA GPUs. Nothing outside imports
native or cuda.
"""
