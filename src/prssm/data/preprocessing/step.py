"""What a step of preprocessing is: for training only, or a part of the model.

A new step is a class in a file of this folder and a line in `STEPS` of `words.py`. One that only
chooses or empties training rows is a `TrainingStep`; one that new data must pass too, since the
model knows nothing else, is a `ModelStep`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from prssm.data.record import Record
from prssm.foundation.errors import ModelFileError, OptionError


class Step(ABC):
    """One word with its value; `str` gives it back as it is written."""

    word: ClassVar[str]
    says: ClassVar[str]  # what it does, in a few words
    form: ClassVar[str]  # how it is written

    value: str

    @classmethod
    @abstractmethod
    def of(cls, value: str) -> Self:
        """The step of a value as one writes it; '' where none was given."""

    def __str__(self) -> str:
        return f"{self.word}={self.value}" if self.value else self.word

    @classmethod
    def wrong(cls, value: str, why: str = "") -> OptionError:
        """The error for a value that cannot be read."""
        return OptionError(f"preprocess: {cls.word}: expected {cls.form}, got {value!r}{why}")


class TrainingStep(Step):
    """A step that says what trains; new data do not pass it."""

    @abstractmethod
    def training(self, records: Sequence[Record]) -> list[Record]:
        """The records that train."""

    def held_out(self, records: Sequence[Record]) -> list[Record]:
        """The records that are scored instead, where the step keeps some back."""
        return []


class ModelStep(Step):
    """A step that new data pass before the model sees them, as training data did.

    Override `apply`, and of the others what differs from doing nothing.
    """

    centres: ClassVar[bool] = False  # whether the model's scales take the level out for it

    @property
    def row_by_row(self) -> bool:
        """Whether a running system needs nothing of it: each row is as the model wants it."""
        return False

    @property
    def dead_time(self) -> str:
        """By how much an input acts later because of the step, in words; else ''."""
        return ""

    def cautions(self, record: Record) -> list[str]:
        """What a run over this record must be distrusted for because of the step."""
        return []

    def learn(self, records: Sequence[Record]) -> Self:
        """The step with what it takes from training data, which passed all steps before it."""
        return self

    @abstractmethod
    def apply(self, record: Record, *, causal: bool = False) -> Record:
        """The record as the model sees it; `causal`: no output depends on later ones."""

    def at_rows(self, record: Record) -> Record:
        """The record as it was measured, in the rows that `apply` leaves."""
        return record

    def taken(self, record: Record) -> Any:
        """What was taken from the outputs at the rows of a record, (T, Dy)."""
        return 0.0

    def taken_variance(self) -> Any:
        """The variance of what outputs lost, (Dy,), where that cannot be given back."""
        return 0.0

    def learnt(self) -> dict[str, Any]:
        """What `learn` found, as JSON values."""
        return {}

    def restored(
        self, learnt: Mapping[str, Any], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Self:
        """The step with what `learnt` gave, checked against the names of a model's columns."""
        return self


def numbers(step: Step, values: Any, count: int) -> np.ndarray:
    """So many finite numbers of a model file."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise ModelFileError(f"preprocessing: {step}: expected {count} numbers, got {values!r}")
    return found
