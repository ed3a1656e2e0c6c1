"""A recurrent network as a system: its parameters in a row, its free run, its stability."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from prssm.linear.spare_states import SpareStates
from prssm.linear.system import MAX_RADIUS, LinearSystem, stabilised


class Shape(NamedTuple):
    """States, inputs, outputs, neurons; `parts` says what lies where in a row of parameters."""

    states: int
    inputs: int
    outputs: int
    neurons: int

    def parts(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays, in their order: the dynamics, the emission, the first state."""
        entries = self.states + self.inputs
        return {
            "weight": (self.states, entries),
            "bias": (self.states,),
            "neuron_out": (self.states, self.neurons),
            "neuron_weight": (self.neurons, entries),
            "neuron_bias": (self.neurons,),
            "C": (self.outputs, self.states),
            "D": (self.outputs, self.inputs),
            "offset": (self.outputs,),
        }

    @property
    def shared(self) -> int:
        """Numbers without the first state, which every record has of its own."""
        return sum(int(np.prod(part)) for part in self.parts().values())

    @property
    def size(self) -> int:
        return self.shared + self.states


@dataclass(frozen=True, eq=False)
class NetworkSystem:
    """x' = weight v + bias + neuron_out tanh(neuron_weight v + neuron_bias), v = [x; u].

    y = C x + D u + offset, in scaled units.
    """

    weight: np.ndarray
    bias: np.ndarray
    neuron_out: np.ndarray
    neuron_weight: np.ndarray
    neuron_bias: np.ndarray
    C: np.ndarray
    D: np.ndarray
    offset: np.ndarray

    @property
    def shape(self) -> Shape:
        states, entries = self.weight.shape
        return Shape(states, entries - states, len(self.C), len(self.neuron_bias))

    @classmethod
    def of_row(cls, row: np.ndarray, shape: Shape) -> Self:
        """From its numbers in a row, of which a first state may follow."""
        parts = {}
        begin = 0
        for name, size in shape.parts().items():
            end = begin + int(np.prod(size))
            parts[name] = row[begin:end].reshape(size)
            begin = end
        return cls(**parts)

    def row(self) -> np.ndarray:
        """All numbers, in the order of `Shape.parts`."""
        return np.concatenate([getattr(self, name).ravel() for name in self.shape.parts()])

    @classmethod
    def around(cls, system: LinearSystem, shape: Shape, rng: np.random.Generator) -> Self:
        """A linear system with random neurons that add nothing yet.

        More states than it has are filters of the inputs that nothing reads.
        """
        start = cls(
            np.concatenate([system.A, system.B], axis=1),
            np.zeros(system.order),
            np.zeros((system.order, 0)),
            np.zeros((0, system.order + shape.inputs)),
            neuron_bias=np.zeros(0),
            C=system.C,
            D=system.D,
            offset=system.offset,
        )
        wider = start.with_more_states(shape.states - system.order, rng)
        return wider.with_more_neurons(shape.neurons, rng)

    def with_more_neurons(self, count: int, rng: np.random.Generator) -> Self:
        """The same function with so many more neurons, which add nothing yet."""
        entries = self.weight.shape[1]
        weight = _random_weights(count, entries, rng)
        bias = rng.uniform(-1.0, 1.0, count)
        return replace(
            self,
            neuron_out=np.concatenate([self.neuron_out, np.zeros((len(self.bias), count))], axis=1),
            neuron_weight=np.concatenate([self.neuron_weight, weight]),
            neuron_bias=np.concatenate([self.neuron_bias, bias]),
        )

    def with_more_states(self, count: int, rng: np.random.Generator) -> Self:
        """The same function with so many more states: filters of the inputs that nothing reads.

        Without inputs they are zero, and neurons read them, so that training can make use of them.
        """
        states, inputs, outputs, neurons = self.shape
        filters = SpareStates.drawn(count, inputs, rng)
        seen = _random_weights(neurons, count, rng) if inputs == 0 else np.zeros((neurons, count))
        return replace(
            self,
            weight=filters.beside(self.weight),
            bias=np.append(self.bias, np.zeros(count)),
            neuron_out=np.concatenate([self.neuron_out, np.zeros((count, neurons))]),
            neuron_weight=np.insert(self.neuron_weight, [states] * count, seen, axis=1),
            C=np.concatenate([self.C, np.zeros((outputs, count))], axis=1),
        )

    def transformed(self, T: np.ndarray, inverse: np.ndarray) -> Self:
        """The same system with the state T x."""
        states = len(self.bias)
        back = np.eye(self.weight.shape[1])
        back[:states, :states] = inverse
        return replace(
            self,
            weight=T @ self.weight @ back,
            bias=T @ self.bias,
            neuron_out=T @ self.neuron_out,
            neuron_weight=self.neuron_weight @ back,
            C=self.C @ inverse,
        )

    def within(self, max_radius: float = MAX_RADIUS) -> Self:
        """The same with the poles of its linear part inside a circle.

        The neurons are bounded, so that every free run is.
        """
        states = len(self.bias)
        A = stabilised(self.weight[:, :states], max_radius)
        return replace(self, weight=np.concatenate([A, self.weight[:, states:]], axis=1))


def _random_weights(neurons: int, entries: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(neurons, entries)) / np.sqrt(max(entries, 1))
