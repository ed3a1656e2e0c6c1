"""A fitted model as graphs of ONNX, for onnxruntime and services that run it."""
