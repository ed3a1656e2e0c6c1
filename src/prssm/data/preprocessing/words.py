"""From words to steps: `detrend=linear`, the same on the command line and in Python."""

from collections.abc import Sequence

from prssm.data.preprocessing.cutting import Cut, Split
from prssm.data.preprocessing.delay import Delay
from prssm.data.preprocessing.lowpass import LowPass
from prssm.data.preprocessing.outliers import Outliers
from prssm.data.preprocessing.rate import Decimate, Resample
from prssm.data.preprocessing.step import ModelStep, Step, TrainingStep
from prssm.data.preprocessing.trend import Detrend
from prssm.foundation.errors import OptionError, did_you_mean

STEPS: dict[str, type[Step]] = {
    kind.word: kind for kind in (Cut, Split, Outliers, Detrend, LowPass, Resample, Decimate, Delay)
}
_SEVERAL = (Delay,)  # steps that may come more than once


def steps_of(words: str | Sequence[str]) -> tuple[list[TrainingStep], list[ModelStep]]:
    """The steps of words such as 'lowpass=2Hz': those for training, and those of the model.

    Steps work in the order in which they are written. Those for training alone come first, so that
    rows and values mean those of the recording.
    """
    texts = [words] if isinstance(words, str) else list(words)
    steps = [_step(text) for text in texts]
    _check_once(steps)
    _check_order(steps)
    training = [step for step in steps if isinstance(step, TrainingStep)]
    return training, [step for step in steps if isinstance(step, ModelStep)]


def _step(text: str) -> Step:
    if not isinstance(text, str):
        raise OptionError(f"preprocess: expected words such as 'detrend=linear', got {text!r}")
    word, _, value = (part.strip() for part in text.partition("="))
    if word not in STEPS:
        raise OptionError(f"preprocess: unknown step {word!r}.{did_you_mean(word, STEPS)}")
    return STEPS[word].of(value)


def _check_once(steps: Sequence[Step]) -> None:
    kinds = [type(step) for step in steps if not isinstance(step, _SEVERAL)]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise OptionError(f"preprocess: {kind.word} is there twice; expected it once")


def _check_order(steps: Sequence[Step]) -> None:
    of_model: Step | None = None
    for step in steps:
        if isinstance(step, ModelStep):
            of_model = of_model or step
        elif of_model is not None:
            raise OptionError(
                f"preprocess: {step} comes after {of_model}; steps for training alone (cut, split, "
                "outliers) come first"
            )
