"""All that a report is about, computed once: printed figures, explorable ones and advice read it.

`gathered(model, runs, ...)` asks the model for residual tests, predictions some rows ahead,
responses and slices; what a method cannot say is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prssm.data.record import Record
from prssm.evaluation.comparison import Run, ScoreRow, residuals_of
from prssm.foundation.errors import DataError, OptionError
from prssm.models.estimator import Estimator
from prssm.models.functions.linearise import Linearised
from prssm.models.functions.slices import TransitionSlices
from prssm.models.functions.steady import StaticCurve, input_range
from prssm.prediction.prediction import Prediction
from prssm.prediction.residuals import Residuals

MOST = 3  # inputs and outputs that make a readable figure of responses
SYSTEMS = 32  # plausible systems behind each band
POINTS = 15  # of a static curve
HORIZONS = (1, 10)  # rows ahead
AHEAD_ROWS = 2000  # of a record that are predicted some rows ahead


@dataclass(frozen=True, eq=False)
class Behaviour:
    """The learnt system near the mean of its training inputs."""

    near: Linearised
    curve: StaticCurve  # over each of the first inputs, one after the other


@dataclass(frozen=True, eq=False)
class Findings:
    """A fitted model on its data; `runs[0]` is what counts.

    `residuals` is a text where there are none; so is `behaviour` where the model does not come to
    rest, and it is None for a method without a state.
    """

    model: Estimator
    runs: Sequence[Run]
    baselines: Sequence[ScoreRow]
    held_out: bool
    residuals: Residuals | str
    ahead: list[Prediction]  # the first record, so many rows ahead as `HORIZONS` say
    behaviour: Behaviour | str | None
    slices: TransitionSlices | None
    own: str = ""  # what the model is called beside others, if not by its method

    @property
    def label(self) -> str:
        """The model's name in tables and legends."""
        return self.own or self.model.name

    @property
    def first(self) -> Prediction:
        """The run that is drawn."""
        return self.runs[0].predictions[0]

    @property
    def others(self) -> list[ScoreRow]:
        """The other models that have runs to show."""
        return [row for row in self.baselines if row.predictions]


def gathered(
    model: Estimator, runs: Sequence[Run], baselines: Sequence[ScoreRow], held_out: bool
) -> Findings:
    """Asks the model for everything that a report shows."""
    records = [_record(prediction) for prediction in runs[0].predictions]
    residuals = residuals_of(model, records)
    ahead: list[Prediction] = []
    if not isinstance(residuals, str):
        some = records[0][:AHEAD_ROWS]
        ahead = [model.predict(some, horizon=horizon) for horizon in HORIZONS]
    return Findings(
        model,
        runs,
        baselines,
        held_out,
        residuals=residuals,
        ahead=ahead,
        behaviour=behaviour_of(model),
        slices=_slices(model, runs[0].predictions[0]),
    )


def behaviour_of(model: Estimator) -> Behaviour | str | None:
    """At the equilibrium of the mean training input; a text is why there is none."""
    if not model.input_names_:
        return None
    try:
        near = model.linearise(samples=SYSTEMS)
    except OptionError:  # a method without a state
        return None
    except DataError as error:
        return str(error)
    functions = model._jax_model(0, 0)
    shown = range(min(MOST, len(model.input_names_)))
    grid = np.concatenate([input_range(functions, column, POINTS) for column in shown])
    return Behaviour(near, model.static_curve(grid, samples=SYSTEMS))


def _slices(model: Estimator, run: Prediction) -> TransitionSlices | None:
    try:
        return model.transition_slices(run, samples=SYSTEMS)
    except (OptionError, DataError):  # a method without a state, or a run that is lost
        return None


def _record(run: Prediction) -> Record:
    """The recording that a run went over."""
    return Record(
        run.inputs,
        run.measured,
        run.dt,
        input_names=run.input_names,
        output_names=run.output_names if run.measured is not None else (),
        name=run.name,
        stamps=run.stamps,
        origin=run.origin,
    )
