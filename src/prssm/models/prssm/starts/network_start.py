"""Networks that were trained on their free runs, and PR-SSMs whose prior mean they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from prssm.data.record import Record
from prssm.dynamics.networks.equations import free_run
from prssm.dynamics.networks.search import Paused, Search
from prssm.dynamics.networks.system import NetworkSystem, Shape
from prssm.dynamics.transition import NetworkMean
from prssm.linear.system import LinearSystem
from prssm.models.prssm.config import ResolvedConfig
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission
from prssm.models.prssm.recognition import Recognition
from prssm.models.prssm.starts.recognised import (
    MOST_WINDOWS,
    first_state,
    recognition_from,
    uncorrelated,
)
from prssm.models.prssm.starts.start import gp_without_signal

# Of the prior around the start; see `networks.search`. Errors are correlated over tens of rows.
_PRIOR_WEIGHT = 30.0
# Neurons of a recognition model, and windows for each of its weights.
_RECOGNITION_NEURONS = (16, 128)
_WINDOWS_EACH = 20
_WINDOW_A_STATE = 4  # samples that tell a state
_LEAST_STD = 1e-5  # of the output's error, in scaled units


class Size(NamedTuple):
    """States and neurons."""

    states: int
    neurons: int


def longer_window(size: Size, window: int) -> int:
    """First samples that a network of long data reads: they tell many states."""
    return max(window, _WINDOW_A_STATE * size.states)


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network, the records it was trained on, its first state (R, Dx) in each, its errors.

    `paused` says how far its training was, if that was stopped before its end.
    """

    system: NetworkSystem
    records: Sequence[Record]
    firsts: np.ndarray
    rmse: float
    paused: Paused | None = None

    def numbers(self) -> np.ndarray:
        """Parameters, first states and error in a row."""
        return np.concatenate([self.system.row(), self.firsts.ravel(), [self.rmse]])

    @property
    def runs(self) -> list[np.ndarray]:
        """States (T, Dx) along the records."""
        found = []
        row = self.system.row()
        for record, first in zip(self.records, self.firsts, strict=True):
            run = free_run(np.append(row, first), self.system.shape, record.u)
            found.append(np.zeros((len(record), len(first))) if run is None else run[0])
        return found

    def recognition_hidden(self, window: int) -> int:
        """Neurons of the recognition model that the data can tell."""
        samples = window * (self.records[0].input_dim + self.records[0].output_dim)
        rows = min(sum(map(len, self.records)), MOST_WINDOWS)
        return int(np.clip(rows // _WINDOWS_EACH - samples, *_RECOGNITION_NEURONS))

    def recognition(self, window: int, hidden: int, seed: Sequence[int]) -> Recognition:
        """The map from first samples to its first state."""
        rng = np.random.default_rng(seed)
        return recognition_from(self.records, self.runs, window, hidden=hidden, rng=rng)


def well_recognised(
    network: TrainedNetwork, window: int, hidden: int, seed: Sequence[int]
) -> TrainedNetwork:
    """The same network in coordinates in which its recognition model errs independently."""
    recognition = network.recognition(window, hidden, seed)
    T, inverse = uncorrelated(recognition, network.records, network.runs, window)
    system = network.system.transformed(T, inverse)
    return replace(network, system=system, firsts=network.firsts @ T.T)


def begun(
    linear: LinearSystem, records: Sequence[Record], size: Size, *, seed: Sequence[int]
) -> TrainedNetwork:
    """A linear system with neurons that add nothing yet, and states that nothing reads."""
    rng = np.random.default_rng(seed)
    shape = Shape(max(size.states, linear.order), linear.B.shape[1], len(linear.C), size.neurons)
    system = NetworkSystem.around(linear, shape, rng)
    firsts = np.zeros((len(records), shape.states))
    for first, record in zip(firsts, records, strict=True):
        first[: linear.order] = linear.first_state(record)
    return TrainedNetwork(system, records, firsts, np.inf)


def larger(network: TrainedNetwork, size: Size, *, seed: Sequence[int]) -> TrainedNetwork:
    """The same function with more states and neurons."""
    rng = np.random.default_rng([*seed, *size])
    states, _, _, neurons = network.system.shape
    system = network.system.with_more_states(size.states - states, rng)
    system = system.with_more_neurons(size.neurons - neurons, rng)
    firsts = np.pad(network.firsts, ((0, 0), (0, size.states - states)))
    return replace(network, system=system, firsts=firsts)


def on_records(
    network: TrainedNetwork, records: Sequence[Record], window: int, *, seed: Sequence[int]
) -> TrainedNetwork:
    """The same network with first states in other records, as its recognition model sees them.

    They are zero where a run from there would be lost.
    """
    recognition = network.recognition(window, network.recognition_hidden(window), seed)
    firsts = np.stack([first_state(recognition, record, window) for record in records])
    row = network.system.row()
    for record, first in zip(records, firsts, strict=True):
        if free_run(np.append(row, first), network.system.shape, record.u) is None:
            first[:] = 0.0
    return replace(network, records=records, firsts=firsts)


def improved(
    network: TrainedNetwork,
    steps: int,
    go_on: Callable[[], bool] = lambda: True,
    *,
    before: TrainedNetwork | None = None,
) -> TrainedNetwork:
    """The same after so many steps of training at most.

    `before` is what an earlier call found from the same network: if it was stopped after some
    steps, it goes on.
    """
    search = _search(network)
    if before is None or before.paused is None or before.paused.left == steps:
        paused = search.run(steps, go_on)
    else:
        paused = search.resume((before.system.row(), before.firsts), before.paused, go_on)
    best = search.best
    rmse = float(np.sqrt(best.squares / max(search.count, 1)))
    return replace(network, system=search.system, firsts=best.firsts, rmse=rmse, paused=paused)


def most_promising(
    starts: Sequence[TrainedNetwork], steps: int, go_on: Callable[[], bool] = lambda: True
) -> TrainedNetwork:
    """The start that errs least on its own records after a few steps; the first if told to stop.

    Some starts lead to poor optima, which shows early.
    """
    errors: list[float] = []
    for start in starts if len(starts) > 1 else ():
        search = _search(start)
        if search.run(steps, go_on) is not None:
            return starts[0]
        errors.append(search.best.squares)
    return starts[int(np.argmin(errors or [0.0]))]


def _search(start: TrainedNetwork) -> Search:
    return Search(start.records, start.system, start.firsts, weight=_PRIOR_WEIGHT)


def network_model(
    config: ResolvedConfig, network: TrainedNetwork, rng: np.random.Generator
) -> StateSpaceModel:
    """A PR-SSM with this prior mean, whose GP plays no part."""
    window = config.recognition_window
    hidden = config.recognition_hidden
    network = well_recognised(network, window, hidden, [config.seed])
    system = network.system
    mean = NetworkMean(
        system.weight,
        system.bias,
        neuron_out=system.neuron_out,
        neuron_weight=system.neuron_weight,
        neuron_bias=system.neuron_bias,
    )
    transition = gp_without_signal(config, mean, system.shape.inputs, rng=rng)
    outputs = system.shape.outputs
    recognition = network.recognition(window, hidden, [config.seed])
    return StateSpaceModel(
        transition,
        LinearEmission(system.C, system.D, system.offset),
        recognition,
        log_output_std=np.full(outputs, np.log(max(network.rmse, _LEAST_STD))),
        noise_memory=np.zeros(outputs),
    )
