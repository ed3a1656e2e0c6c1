"""States that a model has beside those of a linear system, to learn with: `SpareStates`.

They are random filters of the inputs, of unit variance where these are white, and nothing reads
them yet. A state that is zero and that nothing reads would never learn anything, since both of its
gradients are zero.
"""

from typing import NamedTuple, Self

import numpy as np

POLES = (0.3, 0.95)  # the least and the largest


class SpareStates(NamedTuple):
    """Filters s' = poles * s + drive u; `drawn` makes some, `beside` puts them into dynamics."""

    poles: np.ndarray  # (count,)
    drive: np.ndarray  # (count, inputs)

    @classmethod
    def drawn(cls, count: int, inputs: int, rng: np.random.Generator) -> Self:
        """So many random ones."""
        poles = rng.uniform(*POLES, count)
        drive = rng.normal(size=(count, inputs))
        return cls(poles, drive * np.sqrt((1.0 - poles**2) / max(inputs, 1))[:, None])

    def beside(self, weight: np.ndarray) -> np.ndarray:
        """The dynamics [A B] (Dx, Dx + Du) with these states after the others."""
        states = len(weight)
        count, inputs = self.drive.shape
        wider = np.zeros((states + count, states + count + inputs))
        wider[:states, :states] = weight[:, :states]
        wider[:states, states + count :] = weight[:, states:]
        wider[states:, states : states + count] = np.diag(self.poles)
        wider[states:, states + count :] = self.drive
        return wider

    def run(self, u: np.ndarray) -> np.ndarray:
        """The states (T, count) along inputs (T, Du), from zero."""
        found = np.zeros((len(u), len(self.poles)))
        for t in range(1, len(u)):
            found[t] = self.poles * found[t - 1] + self.drive @ u[t - 1]
        return found
