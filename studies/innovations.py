r"""Networks trained with a filter inside the objective, beside those trained on free runs.

    PRSSM_DATA=... python studies/innovations.py --tasks drift ballbeam quad

In innovations form, x' = f(x, u) + K (y - C x - D u - d), the errors one step ahead are what a
filter of constant gain leaves, and training lowers them instead of the errors of free runs: the
efficient way where disturbances move the state. The network's neurons may read the measured
outputs too. What results is run freely over rows that no training has seen, beside a network
trained on free runs, and one that goes on from there. All start from the same linear model and the
same neurons; four of each are averaged. Tasks are those of `studies/generalisation.py`: no test
part is read.

A predictor is a network with the inputs [u; y], whose outputs do not see y at once. So the search
that trains on free runs trains it too (`dynamics/networks/search.py`).
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from generalisation import FOURTEEN, TASKS

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.dynamics.networks.equations import equations, free_run
from prssm.dynamics.networks.search import Search
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.linear.output_error import identify

SEEDS = 4
STEPS = 80
WEIGHT = 30.0  # of the prior around the start, as in a fit
FIRST_ROWS = 60  # that tell the first state of a run over new rows
_FIXED = 1e12  # times the largest curvature, that holds a parameter where it is


class Found(NamedTuple):
    """A network, its first state in each record, and its error there."""

    system: NetworkSystem
    firsts: np.ndarray
    rmse: float


class PredictorSearch(Search):
    """Training in which outputs do not see the measured outputs among the inputs."""

    def _equations(self, now, precision):
        local = super()._equations(now, precision)
        if local is None:
            return None
        squares, slopes = local
        fixed = self._fixed()
        largest = max(1.0, float(squares.diagonal(axis1=1, axis2=2).max()))
        squares[:, fixed] = 0.0
        squares[:, :, fixed] = 0.0
        squares[:, fixed, fixed] = _FIXED * largest
        slopes[:, fixed] = 0.0
        return squares, slopes

    def _fixed(self) -> np.ndarray:
        """Where the columns of D that belong to measured outputs lie in a row of parameters."""
        begin = 0
        for name, size in self.shape.parts().items():
            if name == "D":
                places = np.arange(begin, begin + int(np.prod(size))).reshape(size)
                return places[:, self.shape.inputs - self.shape.outputs :].ravel()
            begin += int(np.prod(size))
        raise AssertionError("a network has a matrix D")


def predictor(simulator: NetworkSystem) -> NetworkSystem:
    """The network with the gain K = 0: its inputs are [u; y], and y does nothing yet."""
    outputs = simulator.shape.outputs
    states, neurons = simulator.neuron_out.shape
    return replace(
        simulator,
        weight=np.concatenate([simulator.weight, np.zeros((states, outputs))], axis=1),
        neuron_weight=np.concatenate(
            [simulator.neuron_weight, np.zeros((neurons, outputs))], axis=1
        ),
        D=np.concatenate([simulator.D, np.zeros((outputs, outputs))], axis=1),
    )


def simulator(predictor: NetworkSystem) -> NetworkSystem:
    """The network whose free run is the predictor's with its own outputs for the measured ones."""
    states, entries, outputs, _ = predictor.shape
    inputs = entries - outputs
    own = np.concatenate([predictor.C, predictor.D[:, :inputs]], axis=1)  # y of [x; u]
    seen = slice(states + inputs, None)
    gain = predictor.weight[:, seen]
    read = predictor.neuron_weight[:, seen]
    return replace(
        predictor,
        weight=predictor.weight[:, : states + inputs] + gain @ own,
        bias=predictor.bias + gain @ predictor.offset,
        neuron_weight=predictor.neuron_weight[:, : states + inputs] + read @ own,
        neuron_bias=predictor.neuron_bias + read @ predictor.offset,
        D=predictor.D[:, :inputs],
    )


def on_free_runs(start: Found, records: Sequence[Record]) -> Found:
    search = Search(records, start.system, start.firsts, weight=WEIGHT)
    search.run(STEPS)
    return _found(search, search.system)


def on_innovations(start: Found, records: Sequence[Record]) -> Found:
    shown = [Record(np.concatenate([r.u, r.outputs_filled()], axis=1), r.y) for r in records]
    search = PredictorSearch(shown, predictor(start.system), start.firsts, weight=WEIGHT)
    search.run(STEPS)
    return _found(search, simulator(search.system).within())


def _found(search: Search, system: NetworkSystem) -> Found:
    rmse = float(np.sqrt(search.best.squares / search.count))
    return Found(system, search.best.firsts, rmse)


def first_state(system: NetworkSystem, record: Record) -> np.ndarray:
    """The one whose run is nearest to the first rows, by damped Gauss-Newton steps."""
    own = slice(system.shape.shared, None)
    best = np.zeros(system.shape.states)
    part = record[:FIRST_ROWS]
    local = equations(np.append(system.row(), best), system.shape, part.u, part.y)
    damping = 1e-3
    while local is not None and 1e-9 < damping < 1e6:
        square = local[0][own, own]
        brake = damping * (square.diagonal() + 1e-3 * square.diagonal().max()) + 1e-6
        trial = best - np.linalg.solve(square + np.diag(brake), local[1][own])
        after = equations(np.append(system.row(), trial), system.shape, part.u, part.y)
        if after is not None and after[2] < local[2]:
            best = trial
            local = after
            damping /= 5.0
        else:
            damping *= 4.0
    return best


def runs(system: NetworkSystem, records: Sequence[Record]) -> np.ndarray:
    """Outputs of free runs, joined; NaN where one is lost."""
    found = []
    for record in records:
        row = np.append(system.row(), first_state(system, record))
        run = free_run(row, system.shape, record.u)
        found.append(np.full(record.y.shape, np.nan) if run is None else run[1])
    return np.concatenate(found)


def trained(records: Sequence[Record], shape: Shape, seed: int) -> dict[str, NetworkSystem]:
    """A network by each way of training."""
    linear = identify(records, shape.states, random_starts=0)
    system = NetworkSystem.around(linear, shape, np.random.default_rng(seed))
    firsts = np.stack([linear.first_state(record) for record in records])
    start = Found(system, firsts, np.inf)
    filtered = on_innovations(start, records)
    return {
        "free runs": on_free_runs(start, records).system,
        "innovations": filtered.system,
        "innovations, then free runs": on_free_runs(filtered, records).system,
    }


def study(name: str, states: int, neurons: int) -> dict[str, float]:
    """Errors on new rows, in units of the output's deviation in training."""
    train, new = TASKS[name]()
    scaler = Scaler.fit(train)
    shown = [scaler.scale(record) for record in train]
    unseen = [scaler.scale(record) for record in new]
    shape = Shape(states, shown[0].input_dim, shown[0].output_dim, neurons)
    each = [trained(shown, shape, seed) for seed in range(SEEDS)]
    y = np.concatenate([record.y for record in unseen])
    found = {}
    for way in each[0]:
        mean = np.mean([runs(one[way], unseen) for one in each], axis=0)
        found[way] = float(np.sqrt(np.mean((mean - y)[~np.isnan(y)] ** 2)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(FOURTEEN), choices=list(TASKS))
    parser.add_argument("--states", type=int, default=2)
    parser.add_argument("--neurons", type=int, default=4)
    options = parser.parse_args()
    ways: list[str] = []
    for name in options.tasks:
        found = study(name, options.states, options.neurons)
        if not ways:
            ways = list(found)
            print("| task | " + " | ".join(ways) + " |\n" + "|---" * (1 + len(ways)) + "|")
        print(f"| {name} | " + " | ".join(f"{found[way]:.3f}" for way in ways) + " |", flush=True)


if __name__ == "__main__":
    main()
