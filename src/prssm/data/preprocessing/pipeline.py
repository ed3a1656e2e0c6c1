"""Preprocessing: all steps in their order, before and after they have learnt from training data.

    steps = Preprocessing.of(["outliers", "detrend=linear", "lowpass=2Hz"])
    steps, seen = steps.learn(steps.training(records))      # what a model trains on
    steps.prepare(new_record).seen                          # what it sees of new data

What a step takes from the outputs, `undone` gives back where that can be done;
`lost_variance` is what cannot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from prssm.data.preprocessing.step import ModelStep, TrainingStep
from prssm.data.preprocessing.words import steps_of
from prssm.data.record import Record
from prssm.foundation.errors import ModelFileError, OptionError


class Prepared(NamedTuple):
    """A recording in the model's rows: as it was measured, and as the model sees it."""

    measured: Record
    seen: Record


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """Steps for training and steps of the model; without any, data stay as they are."""

    training_steps: tuple[TrainingStep, ...] = ()
    model_steps: tuple[ModelStep, ...] = ()

    @classmethod
    def of(cls, words: "str | Sequence[str] | Preprocessing | None") -> "Preprocessing":
        """The steps of words such as 'detrend=linear', which have not learnt anything yet."""
        if words is None:
            return cls()
        if isinstance(words, Preprocessing):
            return words
        training, model = steps_of(words)
        return cls(tuple(training), tuple(model))

    @property
    def words(self) -> list[str]:
        """The steps as one writes them."""
        return [str(step) for step in (*self.training_steps, *self.model_steps)]

    @property
    def model_words(self) -> list[str]:
        """Those of the words that belong to the model."""
        return [str(step) for step in self.model_steps]

    # ---- training ----

    def training(self, records: Sequence[Record]) -> list[Record]:
        """What trains, with values as they were measured: rows chosen, outliers out."""
        left = list(records)
        for step in self.training_steps:
            left = step.training(left)
        return left

    def held_out(self, records: Sequence[Record]) -> list[Record]:
        """What `split` holds back, with values as they were measured; else nothing."""
        left = list(records)
        found: list[Record] = []
        for step in self.training_steps:
            found += step.held_out(left)
            left = step.training(left)
        return found

    def learn(self, measured: Sequence[Record]) -> "tuple[Preprocessing, list[Record]]":
        """The steps with what they learn of rows that train, and the rows as the model sees them.

        The rows are those that `training` gives.
        """
        left = list(measured)
        learnt = []
        for step in self.model_steps:
            step = step.learn(left)
            left = [step.apply(record) for record in left]
            learnt.append(step)
        return replace(self, model_steps=tuple(learnt)), left

    @property
    def centres(self) -> bool:
        """Whether the model's scales take the level out, even where they change nothing else."""
        return any(step.centres for step in self.model_steps)

    @property
    def dead_times(self) -> list[str]:
        """Inputs that a step hands over later, and by how much, in words."""
        return [step.dead_time for step in self.model_steps if step.dead_time]

    # ---- new data ----

    def prepare(self, record: Record, *, causal: bool = False) -> Prepared:
        """A new recording as a fitted model takes it in.

        `causal`: no output that the model sees depends on later ones.
        """
        measured = record
        seen = record
        for step in self.model_steps:
            measured = step.at_rows(measured)
            seen = step.apply(seen, causal=causal)
        return Prepared(measured, seen)

    def cautions(self, record: Record) -> list[str]:
        """What a run over this record must be distrusted for because of a step."""
        return [line for step in self.model_steps for line in step.cautions(record)]

    def undone(self, outputs: np.ndarray, record: Record) -> np.ndarray:
        """Outputs (..., T, Dy) with what was taken from them at the rows of the record."""
        for step in self.model_steps:
            outputs = outputs + step.taken(record)
        return outputs

    @property
    def lost_variance(self) -> Any:
        """The variance that a low-pass took from each output in training, (Dy,), or 0."""
        return sum((step.taken_variance() for step in self.model_steps), 0.0)

    def check_row_by_row(self, what: str) -> None:
        """Refuse what hands the model one row after the other, where a step cannot."""
        for step in self.model_steps:
            if not step.row_by_row:
                raise OptionError(
                    f"{what}: the model was trained with {step}, which needs whole recordings; "
                    f"fit without it, or use simulate, filter and predict"
                )

    # ---- files ----

    def to_list(self) -> list[dict[str, Any]]:
        """As JSON values, for a model file."""
        return [
            *({"step": str(step)} for step in self.training_steps),
            *({"step": str(step), "learnt": step.learnt()} for step in self.model_steps),
        ]

    @classmethod
    def from_list(cls, parts: Any, inputs: Sequence[str], outputs: Sequence[str]) -> Self:
        """What `to_list` gave, for a model with columns of these names."""
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise ModelFileError("preprocessing: expected a list of steps")
        training, model = steps_of([part["step"] for part in parts])
        learnt = [part.get("learnt") or {} for part in parts[len(training) :]]
        restored = [
            step.restored(found, inputs, outputs) for step, found in zip(model, learnt, strict=True)
        ]
        return cls(tuple(training), tuple(restored))
