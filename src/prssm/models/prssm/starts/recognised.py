"""A recognition model for states that are known: a regression from first samples to first states.

A network that was trained on its free runs knows its states at every row of its records, but no map
from samples to them.
"""

from collections.abc import Sequence

import numpy as np

from prssm.data.record import Record
from prssm.models.prssm.recognition import Recognition

MOST_WINDOWS = 6000  # windows that are looked at
_RIDGES = 10.0 ** np.arange(-9.0, 1.0)
_LEAST_STD = 1e-4  # of a first state, relative to that state's deviation
_TEST = 5  # every so many windows judge how strong a ridge is best


def recognition_from(
    records: Sequence[Record],
    states: Sequence[np.ndarray],
    window: int,
    *,
    hidden: int,
    rng: np.random.Generator,
) -> Recognition:
    """The map from every `window` samples of the records to the state at the first of them.

    Linear, and a hidden layer of random neurons; the weights of both are those of a ridge
    regression, as strong as serves windows that it has not seen.
    """
    samples, targets = _windows(records, states, window)
    layer = rng.normal(size=(hidden, samples.shape[1])) / np.sqrt(samples.shape[1])
    layer_bias = rng.uniform(-1.0, 1.0, hidden)
    features = np.concatenate(
        [samples, np.tanh(samples @ layer.T + layer_bias), np.ones((len(samples), 1))], axis=1
    )
    weight, std = _regression(features, targets)
    size = samples.shape[1]
    return Recognition(
        hidden_weight=layer,
        hidden_bias=layer_bias,
        mean_weight=weight[size:-1].T.copy(),
        log_std_weight=np.zeros((targets.shape[1], hidden)),
        log_std_bias=np.log(std),
        shown=0,
        direct=weight[:size].T.copy(),
        direct_bias=weight[-1].copy(),
    )


def uncorrelated(
    recognition: Recognition,
    records: Sequence[Record],
    states: Sequence[np.ndarray],
    window: int,
) -> tuple[np.ndarray, np.ndarray]:
    """A matrix T and its inverse: the states T x, and their recognition errors, are uncorrelated.

    A recognition model gives a deviation for each state. Where some directions are known well and
    others hardly, as with few samples of many states, that says too little in other coordinates.
    """
    samples, targets = _windows(records, states, window)
    size = targets.shape[1]
    if len(samples) <= size:
        return np.eye(size), np.eye(size)
    errors = recognition.means(samples) - targets
    spread = np.atleast_2d(np.cov(targets, rowvar=False))
    factor = np.linalg.cholesky(spread + _LEAST_STD**2 * np.trace(spread) / size * np.eye(size))
    scaled = np.linalg.solve(factor, errors.T)
    _, axes = np.linalg.eigh(scaled @ scaled.T / len(errors))
    return np.linalg.solve(factor.T, axes).T, factor @ axes


def first_state(recognition: Recognition, record: Record, window: int) -> np.ndarray:
    """The state at the first row of a record, zero where that is too short to tell."""
    if len(record) < window:
        return np.zeros(len(recognition.log_std_bias))
    y = record.outputs_filled()[:window]
    return np.asarray(recognition(y, record.u[:window], xp=np)[0])


def windows_of(
    records: Sequence[Record], window: int, most: int = MOST_WINDOWS
) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Samples (N, window (Dy + Du)) as a recognition model reads them, from all over the records.

    And for each of them the number of its record and its first row.
    """
    total = sum(max(len(record) - window + 1, 1) for record in records)
    every = max(1, total // most)
    samples: list[np.ndarray] = []
    places: list[tuple[int, int]] = []
    for number, record in enumerate(records):
        y = record.outputs_filled()
        for begin in range(0, len(record) - window + 1, every):
            rows = slice(begin, begin + window)
            samples.append(np.concatenate([y[rows].ravel(), record.u[rows].ravel()]))
            places.append((number, begin))
    size = window * (records[0].input_dim + records[0].output_dim)
    return np.reshape(samples, (-1, size)), places


def _windows(
    records: Sequence[Record], states: Sequence[np.ndarray], window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Samples as a recognition model reads them, and the states (N, Dx) at their first rows."""
    samples, places = windows_of(records, window)
    targets = [states[number][begin] for number, begin in places]
    return samples, np.reshape(targets, (-1, states[0].shape[1]))


def _regression(features: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the best ridge, and the deviations (Dx,) of what it leaves unsaid.

    Where no record is as long as a window, nothing is known of a first state.
    """
    if not len(features):
        states = targets.shape[1]
        return np.zeros((features.shape[1], states)), np.ones(states)
    test = np.arange(len(features)) % _TEST == 0
    scale = np.maximum(targets.std(axis=0), 1e-12)
    everything = _Ridge(features, targets)
    if test.all():
        return everything.weight(_RIDGES[-1]), np.maximum(scale, _LEAST_STD)
    some = _Ridge(features[~test], targets[~test])
    best = np.inf
    ridge = _RIDGES[-1]
    for one in _RIDGES:
        off = (features[test] @ some.weight(one) - targets[test]) / scale
        error = float(np.mean(off**2))
        if error < best:
            best = error
            ridge = one
    left = features[test] @ some.weight(ridge) - targets[test]
    std = np.maximum(np.sqrt(np.mean(left**2, axis=0)), _LEAST_STD * scale)
    return everything.weight(ridge), std


class _Ridge:
    """Ridge regressions of the same data: what takes long is computed once for all strengths."""

    def __init__(self, features: np.ndarray, targets: np.ndarray) -> None:
        self._square = features.T @ features
        self._slope = features.T @ targets

    def weight(self, strength: float) -> np.ndarray:
        brake = strength * np.mean(self._square.diagonal())
        return np.linalg.solve(self._square + brake * np.eye(len(self._square)), self._slope)
