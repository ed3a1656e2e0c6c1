"""A graph of ONNX, written as one writes formulas.

`g.add(a, b)` is a node and the name of its result.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# BitwiseXor came with 18; every operator here has both float kinds in onnxruntime.
OPSET = 18
IR_VERSION = 8


class Builder:
    """Nodes and constants of one graph, in single or double precision."""

    def __init__(self, kind: type) -> None:
        self.kind = np.dtype(kind)
        self.tensor_kind = TensorProto.FLOAT if self.kind == np.float32 else TensorProto.DOUBLE
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def node(self, kind: str, *inputs: str, outputs: Sequence[str] = (), **attributes: Any) -> str:
        """A node, and the name of its first result."""
        named = list(outputs) or [f"{kind}_{len(self._nodes)}"]
        self._nodes.append(helper.make_node(kind, list(inputs), named, **attributes))
        return named[0]

    def number(self, values: Any) -> str:
        """A constant in the graph's precision."""
        return self._constant(np.asarray(values, self.kind))

    def whole(self, values: Any) -> str:
        """A constant of whole numbers."""
        return self._constant(np.asarray(values, np.int64))

    def _constant(self, array: np.ndarray) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, a: str, b: str) -> str:
        return self.node("Add", a, b)

    def subtract(self, a: str, b: str) -> str:
        return self.node("Sub", a, b)

    def multiply(self, a: str, b: str) -> str:
        return self.node("Mul", a, b)

    def product(self, a: str, b: str) -> str:
        return self.node("MatMul", a, b)

    def square(self, a: str) -> str:
        return self.node("Mul", a, a)

    def sum(self, a: str, axis: int) -> str:
        return self.node("ReduceSum", a, self.whole([axis]), keepdims=0)

    def shaped(self, a: str, shape: Sequence[int]) -> str:
        return self.node("Reshape", a, self.whole(shape))

    def named(self, a: str, name: str) -> str:
        """The same value under a name that the outside sees."""
        return self.node("Identity", a, outputs=[name])

    def value(self, name: str, shape: Sequence[int | str]) -> onnx.ValueInfoProto:
        """An input or output of the graph, in its precision."""
        return helper.make_tensor_value_info(name, self.tensor_kind, list(shape))

    def whole_value(self, name: str) -> onnx.ValueInfoProto:
        """One that is a whole number."""
        return helper.make_tensor_value_info(name, TensorProto.INT64, [])

    def graph(
        self,
        name: str,
        inputs: Sequence[onnx.ValueInfoProto],
        outputs: Sequence[onnx.ValueInfoProto],
    ) -> onnx.GraphProto:
        return helper.make_graph(self._nodes, name, inputs, outputs, self._constants)


def model_of(graph: onnx.GraphProto, about: dict[str, str]) -> onnx.ModelProto:
    """A checked model; `about` is written beside it as text."""
    model = helper.make_model(
        graph,
        producer_name="prssm",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    helper.set_model_props(model, about)
    onnx.checker.check_model(model, full_check=True)
    return model
