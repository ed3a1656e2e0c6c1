"""A resumed fit never leaves a worse model in the file than the one that it found there."""

import numpy as np
import pytest

import prssm
from prssm.data.io.files import write_columns
from prssm.evaluation.tasks.fit import fit
from prssm.evaluation.tasks.settings import DataSettings, FitSettings
from prssm.foundation.errors import ModelFileError, TrainingInterrupted

OPTIONS = {
    "latent_dim": "1",
    "inducing": "4",
    "iterations": "40",
    "restarts": "1",
    "folds": "2",
    "fold_restarts": "1",
    "neurons": "0",
    "grow": "false",
}


class StopAtOnce:
    """Presses Ctrl-C at the first step of training."""

    def start(self, total: int, done: int, label: str) -> None:
        self.label = label

    def update(self, done: int, figures: object) -> None:
        if self.label == "training":
            raise KeyboardInterrupt

    def stop(self) -> None: ...


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> FitSettings:
    """A fit that was interrupted, with a model in its file that errs less than its first ones."""
    folder = tmp_path_factory.mktemp("resume")
    rng = np.random.default_rng(0)
    u = np.repeat(rng.uniform(-2.0, 2.0, 20), 6)
    y = np.zeros(120)
    for t in range(1, 120):
        y[t] = 0.7 * y[t - 1] + np.tanh(2.0 * u[t - 1])
    log = write_columns(folder / "log.csv", {"u": u, "y": y + 0.01 * rng.normal(size=120)})
    out = folder / "m.prssm"
    settings = FitSettings(data=DataSettings(data=(str(log),)), out=out, options=OPTIONS)
    with pytest.raises(TrainingInterrupted):
        fit(settings, progress=StopAtOnce())
    better = prssm.load(out)
    better.held_out_[better.level_]["typical"] *= 0.5
    better.save(out)
    return settings


def resumed(settings: FitSettings, **changes: object) -> FitSettings:
    kept = {"data": settings.data, "out": settings.out, "options": settings.options}
    return FitSettings(**(kept | {"resume": True} | changes))


def test_the_first_models_of_a_resumed_fit_do_not_replace_a_better_one(stopped) -> None:
    before = stopped.out.read_bytes()
    with pytest.raises(TrainingInterrupted):
        fit(resumed(stopped), progress=StopAtOnce())
    assert stopped.out.read_bytes() == before


def test_a_checkpoint_of_another_fit_is_refused_before_anything_is_written(stopped) -> None:
    stopped.out.write_bytes(b"a model of last week")
    with pytest.raises(ModelFileError, match="other data or options"):
        fit(resumed(stopped, options=OPTIONS | {"seed": "1"}))
    assert stopped.out.read_bytes() == b"a model of last week"
