"""Random nonlinear systems with known noise: a population to measure a method over.

    found = random_recording(17)
    found.train, found.test     # Records
    found.facts                 # what was drawn: kind, noise, whether the test input differs

One number is one system, always the same. A drive (T,) goes through a block to an output (T,); a
new kind of block is a function here and a line in `KINDS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators.excitation import EXCITATIONS
from prssm.data.simulators.system import integrate

Block = Callable[[np.ndarray], np.ndarray]

_RUN_IN = 200  # rows that are dropped, so that a recording does not begin at rest
_TEST_ROWS = 500
_STREAM = 2718  # sets these random numbers apart from those of other simulators
_LIMIT = 1e3  # an output beyond it has run away: the system is drawn again


@dataclass(frozen=True, eq=False)
class RandomRecording:
    """A recording to learn from, another one to predict, and what was drawn."""

    train: Record
    test: Record
    noise_std: np.ndarray  # of the sensors, (Dy,)
    facts: dict[str, Any]
    moves: list["Excitation"]  # of the training inputs
    test_moves: list["Excitation"]
    plant: "Plant"

    def again(self, moves: list["Excitation"], rows: int, seed: int) -> Record:
        """Another recording of the same system by the same sensors; `seed` numbers them."""
        rng = np.random.default_rng([_STREAM, seed])
        u, y = self.plant.run(rng, moves, rows)
        quantum = self.facts["quantum"] * self.noise_std / self.facts["noise"]
        return Record(u, _measured(rng, y, self.noise_std, quantum), name=f"{seed}")


@dataclass(frozen=True)
class Excitation:
    """How an input moves: `kind` names a signal of `EXCITATIONS`, `pace` how many rows it lasts."""

    kind: str
    pace: float
    size: float
    offset: float

    def draw(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        return self.offset + self.size * EXCITATIONS[self.kind](rng, rows, self.pace)

    def unlike(self, rng: np.random.Generator) -> "Excitation":
        """A moderately different one: other sizes, other times, sometimes another signal.

        A switch keeps its two levels: nobody can learn from them what is between and beyond.
        """
        pace = self.pace * np.exp(rng.uniform(-0.7, 0.7))
        if self.kind == "on-off":
            return Excitation(self.kind, pace, self.size, self.offset)
        kind = str(rng.choice(list(EXCITATIONS))) if rng.random() < 0.5 else self.kind
        size = self.size * rng.uniform(0.7, 1.2)
        return Excitation(kind, pace, size, self.offset + self.size * rng.uniform(-0.2, 0.2))


@dataclass(frozen=True, eq=False)
class Plant:
    """Blocks from each input to each output, and how much of each is in the sum."""

    blocks: list[list[Block]]
    shares: np.ndarray  # (Dy, Du)
    disturbance: float  # in the drive, where nobody measures it

    def run(
        self, rng: np.random.Generator, moves: list[Excitation], rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (T, Du) and outputs (T, Dy) without sensor noise."""
        total = rows + _RUN_IN
        u = np.stack([move.draw(rng, total) for move in moves], axis=1)
        drive = u + self.disturbance * np.stack([_wandering(rng, total) for _ in moves], axis=1)
        outputs = []
        for blocks, share in zip(self.blocks, self.shares, strict=True):
            each = [block(drive[:, i]) for i, block in enumerate(blocks)]
            outputs.append(np.stack(each, axis=1) @ share)
        return u[_RUN_IN:], np.stack(outputs, axis=1)[_RUN_IN:]


def random_recording(number: int) -> RandomRecording:
    """The system with this number: what it is, how it is excited and how it is measured."""
    rng = np.random.default_rng([_STREAM, number])
    while True:
        found = _drawn(rng, f"random{number:03d}")
        if found is not None:
            return found


def _drawn(rng: np.random.Generator, name: str) -> RandomRecording | None:
    """One draw; None where the system runs away or does not move."""
    kind = str(rng.choice(list(KINDS)))
    inputs = 2 if rng.random() < 0.2 else 1
    outputs = 2 if rng.random() < 0.15 else 1
    blocks = [[KINDS[kind](rng) for _ in range(inputs)] for _ in range(outputs)]
    shares = rng.uniform(0.5, 1.5, (outputs, inputs))
    facts: dict[str, Any] = {
        "kind": kind,
        "rows": int(rng.integers(200, 1001)),
        "noise": float(np.exp(rng.uniform(np.log(0.005), np.log(0.2)))),
        "disturbance": float(rng.uniform(0.02, 0.2)) if rng.random() < 0.4 else 0.0,
        "quantum": float(rng.uniform(0.05, 0.4)) if rng.random() < 0.2 else 0.0,
        "unlike": bool(rng.random() < 0.4),
    }
    moves = [_excitation(rng) for _ in range(inputs)]
    others = [move.unlike(rng) for move in moves] if facts["unlike"] else moves
    facts["input"] = "+".join(move.kind for move in moves)
    facts["test_input"] = "+".join(move.kind for move in others)
    plant = Plant(blocks, shares, facts["disturbance"])
    parts = [plant.run(rng, moves, facts["rows"]), plant.run(rng, others, _TEST_ROWS)]
    spread = parts[0][1].std(axis=0)
    if not all(np.abs(y).max() < _LIMIT for _, y in parts) or spread.min() < 1e-6:
        return None
    noise_std = facts["noise"] * spread
    train, test = (
        Record(u, _measured(rng, y, noise_std, facts["quantum"] * spread), name=f"{name} {part}")
        for part, (u, y) in zip(("train", "test"), parts, strict=True)
    )
    return RandomRecording(
        train, test, noise_std, facts, moves=moves, test_moves=others, plant=plant
    )


def _excitation(rng: np.random.Generator) -> Excitation:
    return Excitation(
        str(rng.choice(list(EXCITATIONS))),
        pace=float(np.exp(rng.uniform(np.log(4.0), np.log(25.0)))),
        size=1.0,
        offset=float(rng.choice([0.0, 0.0, 0.5, -0.5])),
    )


def _wandering(rng: np.random.Generator, rows: int) -> np.ndarray:
    """A disturbance of unit deviation that lasts some ten rows."""
    from scipy.signal import lfilter

    memory = 0.9
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], rng.standard_normal(rows))


def _measured(
    rng: np.random.Generator, y: np.ndarray, noise_std: np.ndarray, quantum: np.ndarray
) -> np.ndarray:
    """What the sensors read; a quantum above 0 is the step of a coarse scale."""
    y = y + noise_std * rng.standard_normal(y.shape)
    step = np.where(quantum > 0.0, quantum, 1.0)
    return np.where(quantum > 0.0, step * np.round(y / step), y)


# ---- blocks ----


def linear(rng: np.random.Generator) -> Block:
    """Unit gain, one to three poles, perhaps a resonance, one row of delay or some more."""
    from scipy.signal import lfilter

    order = int(rng.integers(1, 4))
    poles = [np.exp(-1.0 / rng.uniform(2.0, 20.0))] if order % 2 else []
    if order > 1:
        turn = 2.0 * np.pi / rng.uniform(8.0, 40.0)
        damping = rng.uniform(0.1, 0.9)
        pole = np.exp(turn * complex(-damping, np.sqrt(1.0 - damping**2)))
        poles += [pole, pole.conjugate()]
    a = np.real(np.poly(poles))
    b = np.concatenate([np.zeros(int(rng.integers(1, 4))), [a.sum()]])
    return lambda drive: lfilter(b, a, drive)


def static(rng: np.random.Generator) -> Block:
    """A curve without memory: saturation, dead zone, parabola, cubic or a kink."""
    size = rng.uniform(0.3, 1.0)
    curves: list[Block] = [
        lambda v: size * np.tanh(v / size),
        lambda v: np.sign(v) * np.maximum(np.abs(v) - 0.7 * size, 0.0),
        lambda v: v + 0.5 * size * v**2,
        lambda v: v + 0.3 * size * v**3,
        lambda v: np.where(v > 0.0, v, (1.0 - size) * v),
    ]
    return curves[int(rng.integers(len(curves)))]


def hammerstein(rng: np.random.Generator) -> Block:
    """A curve before linear dynamics (a valve)."""
    curve = static(rng)
    dynamics = linear(rng)
    return lambda drive: dynamics(curve(drive))


def wiener(rng: np.random.Generator) -> Block:
    """A curve after linear dynamics (a sensor)."""
    dynamics = linear(rng)
    curve = static(rng)
    return lambda drive: curve(dynamics(drive))


def sandwich(rng: np.random.Generator) -> Block:
    """A curve between linear dynamics (Wiener-Hammerstein)."""
    before = linear(rng)
    curve = static(rng)
    after = linear(rng)
    return lambda drive: after(curve(before(drive)))


def duffing(rng: np.random.Generator) -> Block:
    """A mass on a spring that gets harder or softer."""
    turn = 2.0 * np.pi / rng.uniform(10.0, 40.0)
    damping = rng.uniform(0.1, 0.6)
    hardness = rng.uniform(0.2, 1.0)

    def slope(x: np.ndarray, v: float) -> np.ndarray:
        force = v - x[0] - hardness * x[0] ** 3
        return np.array([x[1], turn**2 * force - 2.0 * damping * turn * x[1]])

    return lambda drive: integrate(slope, np.zeros(2), drive, dt=1.0)[:, 0]


def drag(rng: np.random.Generator) -> Block:
    """A mass on a spring in a fluid, whose drag grows with the square of the speed."""
    turn = 2.0 * np.pi / rng.uniform(10.0, 40.0)
    damping = rng.uniform(0.05, 0.2)
    quadratic = rng.uniform(0.5, 3.0)

    def slope(x: np.ndarray, v: float) -> np.ndarray:
        brake = 2.0 * damping * turn * x[1] + quadratic * abs(x[1]) * x[1]
        return np.array([x[1], turn**2 * (v - x[0]) - brake])

    return lambda drive: integrate(slope, np.zeros(2), drive, dt=1.0)[:, 0]


def bilinear(rng: np.random.Generator) -> Block:
    """A mixture that is the faster the more flows in; the drive multiplies the state."""
    time = rng.uniform(3.0, 15.0)
    share = rng.uniform(0.3, 0.8)
    after = linear(rng)

    def slope(x: np.ndarray, v: float) -> np.ndarray:
        return (v - (1.0 + share * np.tanh(v)) * x) / time

    return lambda drive: after(integrate(slope, np.zeros(1), drive, dt=1.0)[:, 0])


def tank(rng: np.random.Generator) -> Block:
    """A pump fills a tank that drains through a hole; a second one below it."""
    hole = rng.uniform(0.1, 0.3)

    def slope(x: np.ndarray, v: float) -> np.ndarray:
        flow = hole * np.sqrt(np.maximum(x, 0.0))
        return np.array([0.1 * max(v + 2.0, 0.0) - flow[0], flow[0] - flow[1]])

    return lambda drive: integrate(slope, np.ones(2), drive, dt=1.0)[:, 1]


def recurrent(rng: np.random.Generator) -> Block:
    """Three states that saturate and drive each other (a small recurrent network)."""
    keep = np.exp(-1.0 / rng.uniform(2.0, 15.0, 3))
    mix = rng.normal(size=(3, 3))
    mix *= 0.9 / np.linalg.norm(mix, 2)
    push = rng.normal(size=3)
    read = rng.normal(size=3)

    def run(drive: np.ndarray) -> np.ndarray:
        x = np.zeros(3)
        y = np.empty(len(drive))
        for t, v in enumerate(drive):
            y[t] = read @ x
            x = keep * x + (1.0 - keep) * np.tanh(mix @ x + push * v)
        return y

    return run


def play(rng: np.random.Generator) -> Block:
    """A gear with play before linear dynamics."""
    width = rng.uniform(0.1, 0.5)
    dynamics = linear(rng)

    def run(drive: np.ndarray) -> np.ndarray:
        position = np.empty(len(drive))
        at = 0.0
        for t, v in enumerate(drive):
            at = min(max(at, v - width), v + width)
            position[t] = at
        return dynamics(position)

    return run


KINDS: dict[str, Callable[[np.random.Generator], Block]] = {
    "linear": linear,
    "hammerstein": hammerstein,
    "wiener": wiener,
    "sandwich": sandwich,
    "duffing": duffing,
    "drag": drag,
    "bilinear": bilinear,
    "tank": tank,
    "recurrent": recurrent,
    "play": play,
}
