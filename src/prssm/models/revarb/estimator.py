"""REVARB (Mattos et al. 2016, Recurrent Gaussian Processes): the estimator.

Its mathematics is in `bound` and `free_run`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data.lag_windows import choose_lags, lagged
from prssm.data.record import Record
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential
from prssm.inference.state_space import StateSpace
from prssm.models.estimator import Estimator
from prssm.models.lagged import LEAST_WARMUP
from prssm.models.revarb.bound import Revarb, RevarbData, objective, usable
from prssm.models.revarb.config import ONE_LAYER, TWO_LAYERS, REVARBConfig
from prssm.models.revarb.first_state import FirstState
from prssm.models.revarb.free_run import Start, Steps, draw_outputs, free_run
from prssm.models.revarb.space import RevarbSpace
from prssm.models.revarb.start import create_starts, phases
from prssm.models.simulated import Simulated
from prssm.models.stored_arrays import MOST_LAGS, Shape, check, whole_number
from prssm.training.checkpoint import fingerprint
from prssm.training.legs import train
from prssm.training.log import TrainingLog
from prssm.training.session import Session


@dataclass(frozen=True, eq=False)
class RevarbModel:
    """What a simulation needs of a fit."""

    # hidden layers, then the output layer; arrays lead with the output axis
    gps: tuple[Conditional, ...]
    noise_std: np.ndarray  # (H + 1, Dy)
    first: FirstState
    usual_mean: np.ndarray  # (Dy,) of the training outputs
    usual_std: np.ndarray
    lags: int


class _NameByLayers:
    """The name by the number of hidden layers, as in the paper.

    Of a model by its option, of a class by its default.
    """

    def __get__(self, model: "REVARB | None", kind: "type[REVARB]") -> str:
        # a model has no options yet while its preset is being looked up
        config: REVARBConfig = getattr(model, "config", kind.PRESETS["default"])
        return f"revarb{config.layers}"


class REVARB(Estimator):
    """Recurrent GP: hidden autoregressive layers under one output layer.

    It is trained on a closed-form variational bound.

    A free run infers all layers' first L rows from the first `warmup` samples. It reproduces the
    first L - 1 measured outputs, for which there is no whole window yet, and predicts from row L -
    1 on.
    """

    name: ClassVar[str] = _NameByLayers()  # type: ignore[assignment]
    Config = REVARBConfig
    PRESETS: ClassVar[Mapping[str, REVARBConfig]] = {"default": ONE_LAYER, "paper": ONE_LAYER}
    config: REVARBConfig
    model_: RevarbModel

    @property
    def lags_(self) -> int:
        """The number of lags in use."""
        return self.model_.lags

    @property
    def warmup(self) -> int:
        lags = self.model_.lags if hasattr(self, "model_") else self.config.lags or 1
        return max(LEAST_WARMUP, lags + 1)

    def _fit(self, records: list[Record], session: Session) -> None:
        config = self.config
        lags = self.config.lags or choose_lags(records)
        data = RevarbData.of(records, lags)
        starts = create_starts(config, records, data, lags)
        steps = phases(config, jax.tree.map(lambda leaf: leaf[0], starts), data)
        gain = config.least_gain * len(data.y)
        moved = jax.tree.map(jnp.asarray, data)  # once, not with every gradient
        learnt, self.training_ = train(
            objective,
            starts,
            (moved,),
            phases=steps,
            least_gain=gain,
            session=session,
            fingerprint=fingerprint(config, data),
        )
        noise_std = np.exp([layer.log_noise_std for layer in learnt.layers])
        first = FirstState.fit(
            usable(records, lags),
            learnt.q_mean,
            np.exp(learnt.q_log_std),
            lags,
            max(LEAST_WARMUP, lags + 1),
        )
        self.model_ = RevarbModel(
            _posteriors(learnt, data),
            noise_std,
            first,
            usual_mean=np.asarray(data.first_mean),
            usual_std=np.asarray(data.first_std),
            lags=lags,
        )

    def _simulate(
        self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int
    ) -> Simulated:
        model = self.model_
        lags = self.model_.lags
        bridged, measured = self._bridged(y_start)
        noise_var = model.noise_std**2
        outputs = len(model.usual_std)
        start = model.first(bridged, _held(u, self.warmup), bool(measured.all()))
        given = bridged[: min(lags - 1, len(u))]
        given_std = np.sqrt(np.where(measured, 0.0, model.usual_std**2) + noise_var[-1]) * np.ones(
            given.shape
        )
        if len(u) < lags:  # all of the record is given
            drawn = (
                None
                if samples is None
                else _around(given, given_std, samples, random=np.random.default_rng(seed))
            )
            return Simulated(given, given_std, drawn)
        steps = free_run(
            model.gps,
            jnp.asarray(noise_var[:-1]),
            start.on_device(),
            jnp.asarray(lagged(u, lags)),
            lags,
            self.config.propagation,
        )
        steps = jax.tree.map(np.asarray, steps)
        mean = np.concatenate([given, steps.start.mean[None], steps.output.mean])
        spread = np.concatenate([steps.start.covariance[None], steps.output.covariance])
        std = np.sqrt(np.maximum(np.diagonal(spread, axis1=1, axis2=2), 0.0) + noise_var[-1])
        drawn = None
        if samples is not None:
            random = np.random.default_rng(seed)
            path = draw_outputs(steps, noise_var, start, lags=lags, count=samples, random=random)
            drawn = np.concatenate(
                [_around(given, given_std, samples, random=random), path], axis=1
            )
        return Simulated(
            mean,
            np.concatenate([given_std, std]),
            drawn,
            *_states(start, steps, noise_var, outputs=outputs, length=len(u)),
        )

    def _state_space(self) -> StateSpace:
        model = self.model_
        return RevarbSpace(
            model.gps, model.noise_std, model.first, lags=model.lags, window=self.warmup
        )

    def _bridged(self, y_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first outputs with gaps bridged, and which were measured at all.

        The others keep their training mean.
        """
        outputs = len(self.model_.usual_mean)
        padded = np.concatenate([y_start, np.full((self.warmup - len(y_start), outputs), np.nan)])
        measured = ~np.isnan(padded).all(axis=0)
        return np.where(
            measured, Record(None, padded).outputs_filled(), self.model_.usual_mean
        ), measured

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        model = self.model_
        arrays = {name: getattr(model, name) for name in ("noise_std", "usual_mean", "usual_std")}
        arrays |= {
            f"first.{field.name}": getattr(model.first, field.name) for field in fields(FirstState)
        }
        for h, gp in enumerate(model.gps):
            kernel = gp.kernel
            assert isinstance(kernel, SquaredExponential)
            parts = {
                "log_std": kernel.log_std,
                "log_lengthscale": kernel.log_lengthscale,
                "zeta": gp.zeta,
                "weights": gp.weights,
                "quadratic": gp.quadratic,
            }
            arrays |= {f"layer{h}.{name}": np.asarray(part) for name, part in parts.items()}
        values, curves = self.training_.to_parts() if self.training_ else ({}, {})
        return {"lags": model.lags, "training": values}, arrays | {
            f"training.{name}": c for name, c in curves.items()
        }

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        lags = whole_number(values, "lags", least=1, most=MOST_LAGS)
        self._check_stored(arrays, lags)
        gps = []
        for h in range(self.config.layers + 1):
            log_std, log_lengthscale, *rest = (
                jnp.asarray(arrays[f"layer{h}.{name}"])
                for name in ("log_std", "log_lengthscale", "zeta", "weights", "quadratic")
            )
            gps.append(Conditional(SquaredExponential(log_std, log_lengthscale), *rest))
        first = FirstState(
            **{field.name: arrays[f"first.{field.name}"] for field in fields(FirstState)}
        )
        self.model_ = RevarbModel(
            tuple(gps),
            arrays["noise_std"],
            first,
            usual_mean=arrays["usual_mean"],
            usual_std=arrays["usual_std"],
            lags=lags,
        )
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)

    def _check_stored(self, arrays: dict[str, np.ndarray], lags: int) -> None:
        """Each layer reads its own window and that of the inputs or of the layer below."""
        outputs = len(self.output_names_)
        inputs = len(self.input_names_)
        layers = self.config.layers
        for h in range(layers + 1):
            below = inputs if h == 0 else outputs
            width = lags * (outputs if h == layers else outputs + below)
            shapes = {f"layer{h}.{name}": shape for name, shape in _LAYER.items()}
            check(arrays, shapes, y=outputs, window=width)
        first = {
            "first.feature_mean": ("rows",),
            "first.coefficients": ("rows", "states"),
            "first.covariance": ("states", "states"),
            "first.usual_mean": ("states",),
            "first.usual_covariance": ("states", "states"),
        }
        features = max(LEAST_WARMUP, lags + 1) * (outputs + inputs)
        check(arrays, first, rows=features, states=layers * lags * outputs)
        own = {"noise_std": ("layers", "y"), "usual_mean": ("y",), "usual_std": ("y",)}
        check(arrays, own, layers=layers + 1, y=outputs)


_LAYER: dict[str, Shape] = {
    "log_std": ("y",),
    "log_lengthscale": ("y", "window"),
    "zeta": ("y", "n", "window"),
    "weights": ("y", "n"),
    "quadratic": ("y", "n", "n"),
}


class REVARB2(REVARB):
    """REVARB with two hidden layers."""

    PRESETS: ClassVar[Mapping[str, REVARBConfig]] = {"default": TWO_LAYERS, "paper": TWO_LAYERS}


@jax.jit
def _posteriors(model: Revarb, data: RevarbData) -> tuple[Conditional, ...]:
    return model.condition(data)


def _held(values: np.ndarray, rows: int) -> np.ndarray:
    """The first rows; a record that ends before keeps its last value."""
    return values[np.minimum(np.arange(rows), len(values) - 1)]


def _around(
    mean: np.ndarray, std: np.ndarray, count: int, random: np.random.Generator
) -> np.ndarray:
    return mean + std * random.standard_normal((count, *mean.shape))


def _states(
    start: Start, steps: Steps, noise_var: np.ndarray, outputs: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means and deviations (T, H Dy) of all hidden rows."""
    layers = len(steps.hidden)
    first_mean = start.mean.reshape(layers, -1, outputs)[:, ::-1]  # windows are newest first
    first_var = np.diagonal(start.covariance).reshape(layers, -1, outputs)[:, ::-1]
    later_mean = np.stack([joined.mean for joined in steps.hidden])
    later_var = np.stack(
        [
            np.diagonal(joined.covariance, axis1=1, axis2=2) + noise_var[h]
            for h, joined in enumerate(steps.hidden)
        ]
    )
    mean = np.concatenate([first_mean, later_mean], axis=1)
    var = np.concatenate([first_var, later_var], axis=1)
    return (
        mean.transpose(1, 0, 2).reshape(length, -1),
        np.sqrt(np.maximum(var, 0.0)).transpose(1, 0, 2).reshape(length, -1),
    )
