"""PR-SSM (Doerr et al., ICML 2018): the estimator. Its mathematics is in transition, rollout, recognition and elbo."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from prssm.data import windows
from prssm.data.record import Record
from prssm.data.windows import Windows
from prssm.foundation.errors import OptionError
from prssm.models.base import Estimator, Simulated
from prssm.models.calibration import Calibration
from prssm.models.elbo import Objective, StateSpaceModel, TrainingData
from prssm.models.held_out import Fold, folds_of
from prssm.models.mixture import Mixture
from prssm.models.prssm_config import DEFAULT, PAPER, PRSSMConfig
from prssm.models.prssm_start import blank_model, create_starts
from prssm.training.checkpoint import fingerprint
from prssm.training.log import TrainingLog
from prssm.training.optimise import PerRestart, Schedule, optimise_all
from prssm.training.session import Session

_CALIBRATION_SAMPLES = 200


class PRSSM(Estimator):
    """Probabilistic recurrent state-space model: GP dynamics in a latent state, trained through time on an ELBO."""

    name: ClassVar[str] = "prssm"
    Config = PRSSMConfig
    PRESETS: ClassVar = {"default": DEFAULT, "paper": PAPER}
    config: PRSSMConfig
    training_: TrainingLog

    @property
    def warmup(self) -> int:
        return self.config.recognition_window if self.config.scheme == "stochastic" else 0

    def _fit(self, records: list[Record], session: Session) -> None:
        config = self.config
        self._check_structure(records)
        full = config.scheme == "full"
        cut = windows.whole(records) if full else windows.sliding(records, config.horizon)
        objective = Objective(cut.horizon, None if full else config.batch, config.samples, config.recognition_window,
                              config.engine, config.draws, config.likelihood)
        schedule = Schedule(config.iterations, config.learning_rate, config.final_learning_rate,
                            warmup=round(config.kl_warmup * config.iterations), clip=config.gradient_clip * cut.steps)
        folds = folds_of(cut, records, config.folds, self.warmup)
        models, log = optimise_all(objective, self._starts(records, folds), _data(cut, folds, config), schedule,
                                   jax.random.key(config.seed), session, fingerprint(config, vars(cut).values()))
        groups = _groups(log, config, len(folds))
        self.mixture_ = self._mixture(models, groups[0])
        self.training_ = replace(log, kept=int(groups[0][0]))
        self.calibration_ = self._calibrate(records, folds, [self._mixture(models, group) for group in groups[1:]])

    def _starts(self, records: list[Record], folds: list[Fold]) -> StateSpaceModel:
        """The restarts that see all data, then those of each fold, which start from what they are shown."""
        config = self.config
        parts = [create_starts(config, records, config.restarts)]
        parts += [create_starts(config, fold.shown_records, config.fold_restarts) for fold in folds]
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)

    def _mixture(self, models: StateSpaceModel, members: np.ndarray) -> Mixture:
        return Mixture(jax.tree.map(lambda array: array[members], models), self.warmup, self.config.draws)

    def _calibrate(self, records: list[Record], folds: list[Fold], mixtures: list[Mixture]) -> Calibration:
        """From free runs over the stretches that each fold's members have not seen."""
        errors, stds = [], []
        for fold, mixture in zip(folds, mixtures, strict=True):
            for record in fold.held_out_records:
                run = mixture.run(record.u, record.y[: self.warmup], _CALIBRATION_SAMPLES, self.config.seed)
                errors.append(record.y - run.mean)
                stds.append(run.std)
        return Calibration.fit(errors, stds) if errors else Calibration.none(records[0].output_dim)

    def _check_structure(self, records: list[Record]) -> None:
        config = self.config
        if config.emission == "selector" and config.start == "random" and config.latent_dim < records[0].output_dim:
            raise OptionError(f"option latent_dim: expected at least {records[0].output_dim}, the number of outputs, "
                              f"got {config.latent_dim}")
        if config.scheme == "stochastic" and config.recognition_window > config.horizon:
            raise OptionError(f"option recognition_window: expected at most horizon={config.horizon}, "
                              f"got {config.recognition_window}")

    def _simulate(self, u: np.ndarray, y_start: np.ndarray, samples: int | None, seed: int) -> Simulated:
        count = self.config.simulation_samples if samples is None else samples
        if count < 2:
            raise OptionError(f"samples: expected at least 2 trajectories, got {count}")
        run = self.mixture_.run(u, y_start, count, seed)
        assert run.samples is not None
        samples_y = self.calibration_.samples(run.samples, run.mean, seed)
        return replace(run, std=self.calibration_.std(run.std), samples=samples_y)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        leaves = jax.tree_util.tree_leaves_with_path(self.mixture_.models)
        values, curves = self.training_.to_parts()
        arrays = {f"models{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}
        arrays |= {f"training.{name}": array for name, array in curves.items()}
        arrays |= {f"calibration.{field.name}": getattr(self.calibration_, field.name) for field in fields(Calibration)}
        return {"training": values}, arrays

    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        like = blank_model(self.config, len(self.input_names_), len(self.output_names_))
        members = len(arrays["models.log_output_std"])
        leaves = [_shaped(arrays, f"models{jax.tree_util.keystr(path)}", (members, *leaf.shape))
                  for path, leaf in jax.tree_util.tree_leaves_with_path(like)]
        self.mixture_ = Mixture(jax.tree.unflatten(jax.tree.structure(like), leaves), self.warmup, self.config.draws)
        curves = {name: arrays[f"training.{name}"] for name in ("iteration", "objective", "final")}
        self.training_ = TrainingLog.from_parts(values["training"], curves)
        self.calibration_ = Calibration(*(arrays[f"calibration.{field.name}"] for field in fields(Calibration)))


def _data(cut: Windows, folds: list[Fold], config: PRSSMConfig) -> TrainingData | PerRestart:
    """All data for all restarts, or with folds what each restart is shown."""
    data = TrainingData.of(cut)
    if not folds:
        return data
    everything = Fold.nothing_held_out(cut)
    own = [everything.shown] * config.restarts + [fold.shown for fold in folds for _ in range(config.fold_restarts)]
    return PerRestart(data, jax.tree.map(lambda *leaves: jnp.stack(leaves), *own))


def _groups(log: TrainingLog, config: PRSSMConfig, folds: int) -> list[np.ndarray]:
    """Indices of the members: of the final mixture, then of each fold's."""
    edges = np.cumsum([0, config.restarts, *([config.fold_restarts] * folds)])
    return [log.best(config.members, slice(int(begin), int(end))) for begin, end in pairwise(edges)]


def _shaped(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    if arrays[name].shape != shape:
        raise TypeError(f"{name} has shape {arrays[name].shape}, the options ask for {shape}")
    return arrays[name]
