"""Training windows of PR-SSM that are read from disk while it trains."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.stream.stream import Stream
from prssm.data.windows import Windows
from prssm.foundation.errors import OptionError
from prssm.foundation.precision import double_precision
from prssm.models.prssm.config import PRSSMConfig
from prssm.models.prssm.elbo import TrainingData
from prssm.training.feed import Feed
from prssm.training.optimise import CHUNK

# rows in memory for what needs data at hand: the linear start and where inducing points go
SAMPLE_ROWS = 20_000


def check_options(config: PRSSMConfig) -> None:
    """What training cannot do that reads its windows from disk."""
    if config.scheme != "stochastic":
        raise OptionError(
            f"option scheme: expected 'stochastic' for a stream, got {config.scheme!r}, which "
            "needs all data"
        )
    if config.folds:
        raise OptionError(
            f"option folds: expected 0 for a stream at one level, got {config.folds}: nothing is "
            "held out; complexity 'auto' takes rows of it into memory and fits with folds"
        )
    if config.stride not in (1, None):
        raise OptionError(f"option stride: expected 1 for a stream, got {config.stride}")


class StreamWindows:
    """Draws the windows that training in memory would draw with the same key.

    Only they are read.
    """

    def __init__(self, stream: Stream, scaler: Scaler, batch: int, horizon: int) -> None:
        self.stream = stream
        self.scaler = scaler
        self.batch = batch
        self.horizon = horizon
        self.count = stream.window_count(horizon)

    def sample(self, seed: int) -> list[Record]:
        return [
            self.scaler.scale(record)
            for record in self.stream.sample(SAMPLE_ROWS, seed, self.horizon)
        ]

    def feed(self) -> Feed:
        return Feed(self.of_chunk, CHUNK)

    def like(self) -> Windows:
        """A mini-batch as the objective sees it: its windows end to end."""
        inputs = len(self.stream.input_names)
        outputs = len(self.stream.output_names)
        y = np.zeros((self.batch * self.horizon, outputs))
        starts = np.arange(self.batch) * self.horizon
        return Windows(
            np.zeros((len(y), inputs)),
            y,
            y,
            starts=starts,
            horizon=self.horizon,
            steps=self.stream.steps,
            source=np.arange(len(y)),
        )

    def of_chunk(self, key: Any, first: int) -> TrainingData:
        """The mini-batches of a chunk of iterations, stacked."""
        with double_precision():
            drawn = np.asarray(_indices(key, first, self.count, batch=self.batch))
        batches = [self._read(windows) for windows in drawn]
        u, y, y_filled = (np.stack(arrays) for arrays in zip(*batches, strict=True))
        starts = np.broadcast_to(np.arange(self.batch) * self.horizon, (CHUNK, self.batch))
        return TrainingData(
            u,
            y,
            y_filled,
            starts=starts,
            steps=np.full(CHUNK, float(self.stream.steps)),
        )

    def _read(self, windows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, outputs and bridged outputs of a mini-batch.

        Gaps are bridged within a window: no more of it is read.
        """
        begins = self.stream.window_rows(windows, self.horizon)
        records = [
            self.scaler.scale(self.stream.read(int(begin), int(begin) + self.horizon))
            for begin in begins
        ]
        return (
            np.concatenate([record.u for record in records]),
            np.concatenate([record.y for record in records]),
            np.concatenate([record.outputs_filled() for record in records]),
        )


@partial(jax.jit, static_argnames=("count", "batch"))
def _indices(key: Any, first: int, count: int, batch: int) -> jax.Array:
    """Which windows the iterations of a chunk train on.

    As `Objective` draws them from the same keys.
    """

    def one(iteration: jax.Array) -> jax.Array:
        key_batch, _ = jax.random.split(jax.random.fold_in(key, iteration))
        return jax.random.choice(key_batch, count, (batch,))

    return jax.vmap(one)(first + jnp.arange(CHUNK))
