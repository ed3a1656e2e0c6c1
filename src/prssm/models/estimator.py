"""The contract: every method is an Estimator.

So one command line, one benchmark and one report serve all.

A method provides `Config`, `PRESETS`, `warmup`, `_fit`, `_simulate`, `_state_space`, `_state` and
`_restore`, all in scaled units. What is the same for all (checks, scaling, hiding the outputs after
the warm-up, scores, files) happens once: options, fits and files here, runs without measurements
in `free_running`, what takes measurements in, in `state_estimation`.
"""

import dataclasses
import inspect
import os
import time as clock
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from prssm.data.domain import Domain
from prssm.data.preprocessing.pipeline import Prepared, Preprocessing
from prssm.data.record import Record
from prssm.data.resample import checked_stride, chosen_stride, thinned
from prssm.data.scaling import Scaler
from prssm.data.stream.stream import Stream
from prssm.foundation.errors import OptionError, did_you_mean, warn
from prssm.foundation.options import Options
from prssm.foundation.precision import double_precision
from prssm.foundation.show.cards import card, shown_in_notebooks
from prssm.models.checks import cautions_about, records_for, training_records
from prssm.models.free_running import FreeRunning
from prssm.models.functions.in_jax import InJax
from prssm.models.manners import SklearnManners
from prssm.models.state_estimation import StateEstimation
from prssm.training.distributed.store import leads
from prssm.training.log import TrainingLog
from prssm.training.loop import resumable
from prssm.training.session import Progress, Session


def _deadline(budget: float | None) -> float | None:
    """The moment at which a budget of seconds ends."""
    if budget is None:
        return None
    if not isinstance(budget, int | float) or isinstance(budget, bool) or not budget > 0:
        raise OptionError(f"budget: expected a number of seconds above 0, got {budget!r}")
    return clock.monotonic() + budget


@dataclass(frozen=True, eq=False)
class TrainingFacts:
    """What a fitted model knows of its data.

    `like` has their names and rate; `seen` are the scaled records that it is trained on, with all
    their rows, where they are in memory.
    """

    scaler: Scaler
    like: Record | Stream
    domain: Domain
    preprocessing: Preprocessing = Preprocessing()
    seen: list[Record] | None = None


class _SignatureFromConfig(ABCMeta):
    """Shows the options of `Config` in a class's signature, for help() and completion."""

    @property
    def __signature__(cls) -> inspect.Signature:
        kind = inspect.Parameter
        parameters = [kind("preset", kind.POSITIONAL_OR_KEYWORD, default="default", annotation=str)]
        options = (
            inspect.signature(cls.Config).parameters.values() if hasattr(cls, "Config") else ()
        )
        usual = getattr(cls, "PRESETS", {}).get("default")
        parameters += [
            option.replace(
                kind=kind.KEYWORD_ONLY, default=getattr(usual, option.name, option.default)
            )
            for option in options
        ]
        return inspect.Signature(parameters)


class Estimator(
    SklearnManners, FreeRunning, StateEstimation, InJax, metaclass=_SignatureFromConfig
):
    """Base of all methods, with scikit-learn's manners.

    `fit` returns self, what it has learnt ends in `_`.
    """

    name: ClassVar[str]
    Config: ClassVar[type[Options]]
    PRESETS: ClassVar[Mapping[str, Options]]
    many_devices: ClassVar[bool] = False  # whether training can be split between devices
    # the training curve, for methods that are trained by iterations
    training_: TrainingLog | None = None

    # ---- options ----

    def __init_subclass__(cls, **more: Any) -> None:
        """Every option with its meaning and its value in the default preset, for help()."""
        super().__init_subclass__(**more)
        if "PRESETS" not in vars(cls):
            return
        usual = cls.PRESETS["default"]
        lines = [
            f"    {field.name} = {getattr(usual, field.name)!r}: {field.metadata.get('help', '')}"
            for field in dataclasses.fields(cls.Config)
        ]
        cls.__doc__ = "\n".join(
            [inspect.cleandoc(cls.__doc__ or ""), "", "Options, as in preset 'default':", *lines]
        )

    def __init__(self, preset: str = "default", **options: Any) -> None:
        if preset not in self.PRESETS:
            raise OptionError(
                f"unknown preset {preset!r} of {self.name}.{did_you_mean(preset, self.PRESETS)}"
            )
        self.preset = preset
        self.config = self.PRESETS[preset].replace(**options)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All options by name."""
        return {"preset": self.preset} | {
            name: getattr(self.config, name) for name in self.config.names()
        }

    def set_params(self, **options: Any) -> Self:
        """Change options in place; naming a preset starts from that preset's values."""
        if "preset" in options:
            self.__init__(**options)  # type: ignore[misc]
        else:
            self.config = self.config.replace(**options)
        return self

    def __repr__(self) -> str:
        base = self.PRESETS[self.preset]
        changed = [
            f"{n}={getattr(self.config, n)!r}"
            for n in base.names()
            if getattr(self.config, n) != getattr(base, n)
        ]
        return f"{type(self).__name__}({', '.join([f'preset={self.preset!r}', *changed])})"

    @shown_in_notebooks
    def _repr_html_(self) -> str:
        if not hasattr(self, "scaler_"):
            return card(repr(self), [("state", "not fitted yet: call fit(data)")])
        facts = [
            ("inputs", ", ".join(self.input_names_) or "none"),
            ("outputs", ", ".join(self.output_names_)),
            ("sampling time", f"{self.dt_:.6g} s" if self.dt_ else "not given"),
            ("needs", f"the first {self.warmup} rows of a recording to find its state"),
        ]
        if self.training_ is not None:
            facts.append(("training", self.training_.summary()))
        return card(repr(self), [*facts, *((a.lower(), b) for a, b in self.findings())])

    # ---- what a method provides ----

    @abstractmethod
    def _fit(self, records: list[Record], session: Session) -> None:
        """Learn from scaled records, whose rows are steps of the model."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` has learnt: JSON values and arrays."""

    @abstractmethod
    def _restore(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take back what `_state` gave."""

    def _excerpt(self, stream: Stream) -> list[Record]:
        """Rows of a stream to learn from in memory; none where training reads the stream itself."""
        return []

    def _fit_stream(self, stream: Stream, scaler: Scaler, session: Session) -> None:
        """Learn from data on disk, for methods that can."""
        raise OptionError(
            f"data: {self.name} needs all data in memory, got a stream; prssm trains on one, and "
            "any method on its pieces: Stream.open(folder).pieces()"
        )

    @property
    def held_out_error(self) -> float | None:
        """The error on held-out stretches of the training data by which the fit chose, if it did.

        In scaled units: it compares models of the same data.
        """
        return None

    @property
    def is_linear(self) -> bool:
        """Whether what was fitted is a linear system, so that a linear model is nothing simpler."""
        return False

    @property
    def linear_order(self) -> int | None:
        """How many states the best linear model of the data has, if the fit has looked for it."""
        return None

    def findings(self) -> list[tuple[str, str]]:
        """What was done to the data and what the fit decided by itself, as (what, how) in words.

        For reports. Nothing where nothing was done.
        """
        found = []
        if self.preprocessing_.words:
            found.append(("Preprocessing", ", ".join(self.preprocessing_.words)))
        if self.stride_ > 1:
            told = (
                f"a step of the model is {self.stride_} rows, over which inputs are averaged; "
                "predictions are interpolated"
            )
            found.append(("Rate", told))
        return found

    # ---- what a user calls ----

    def fit(
        self,
        data: Any,
        y: Any = None,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        time: str | None = None,
        progress: bool | Progress = False,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        devices: int | str | None = None,
        budget: float | None = None,
        found: Callable[[Self], None] | None = None,
        preprocess: str | Sequence[str] | None = None,
    ) -> Self:
        """Learn the system from data.

        These are a Record, `(u, y)` arrays, a data frame, the path of a file, a list, or a Stream.
        `checkpoint` names a file that training keeps up to date; `resume=True` continues from it.
        `devices` splits training between so many devices, or between all of them ('auto').
        `budget` is a number of seconds that the fit should take at most: methods that train by
        iterations plan for it. `found(model)` is called with every model that can be used while
        training goes on; it may save or show it. After Ctrl-C the model is the best one so far, if
        there was any. `preprocess` are steps such as 'detrend=linear', which new data pass too.
        """
        deadline = _deadline(budget)
        if isinstance(data, Stream):
            session = self._session(
                progress, checkpoint, resume, devices=devices, deadline=deadline
            )
            return self._fit_from_stream(data, session, found, preprocess=preprocess)
        steps, seen = training_records(
            data, y, preprocess, inputs=inputs, outputs=outputs, time=time
        )
        session = self._session(progress, checkpoint, resume, devices=devices, deadline=deadline)
        scaler = Scaler.fit(seen, self._normalises, centre=steps.centres)
        with double_precision(), resumable(session):
            scaled = [scaler.scale(record) for record in seen]
            facts = TrainingFacts(scaler, seen[0], Domain.of(seen), steps, seen=scaled)
            self._fit_scaled(scaled, self._watched(session, found, facts=facts))
            self._describe(facts)
        return self

    @property
    def _normalises(self) -> bool:
        return getattr(self.config, "normalise", True)

    def _fit_from_stream(
        self,
        stream: Stream,
        session: Session,
        found: Callable[[Self], None] | None,
        *,
        preprocess: Any,
    ) -> Self:
        if preprocess:
            told = preprocess if isinstance(preprocess, str) else ", ".join(preprocess)
            raise OptionError(
                f"preprocess: a stream trains as it was converted; expected nothing, got {told}: "
                "change the data before `prssm convert`"
            )
        scaler = stream.scaler(self._normalises)
        self.stride_ = 1
        with double_precision(), resumable(session):
            scaled = [scaler.scale(record) for record in self._excerpt(stream)]
            facts = TrainingFacts(scaler, stream, stream.domain(), seen=scaled or None)
            session = self._watched(session, found, facts=facts)
            if scaled:
                self._fit_scaled(scaled, session)
            else:
                self._fit_stream(stream, scaler, session)
            self._describe(facts)
        return self

    def _fit_scaled(self, records: list[Record], session: Session) -> None:
        """Learn from scaled records with all their rows, at the rate that they ask for."""
        wanted = checked_stride(getattr(self.config, "stride", 1), records)
        self.stride_ = wanted or chosen_stride(records)
        self._fit([thinned(record, self.stride_) for record in records], session)

    def _describe(self, facts: TrainingFacts) -> None:
        """Take over what is known of the data; from here on the model can be used."""
        self.scaler_ = facts.scaler
        self.input_names_ = facts.like.input_names
        self.output_names_ = facts.like.output_names
        self.dt_ = facts.like.dt
        self.domain_ = facts.domain
        self.preprocessing_ = facts.preprocessing
        self.seen_ = None if facts.seen is None else self._seen(facts.seen)

    def _watched(
        self,
        session: Session,
        found: Callable[[Self], None] | None,
        *,
        facts: TrainingFacts,
    ) -> Session:
        """The session with who wants to see models on the way."""

        def usable(model: Self) -> None:
            model._describe(facts)
            if found is not None and leads():
                found(model)

        return replace(session, found=usable)

    def _coerced(self, data: Any, y: Any) -> list[Prepared]:
        """Data as the filters take them in; what must be distrusted in them is said."""
        found = [
            self.preprocessing_.prepare(record, causal=True)
            for record in records_for(self, data, y)
        ]
        for text in (text for each in found for text in cautions_about(self, each.seen)):
            warn(text)
        return found

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to one file (a zip of JSON and safetensors)."""
        from prssm.models.files import save_model

        self._check_fitted()
        return save_model(self, path)

    # ---- shared work ----

    def _session(
        self,
        progress: bool | Progress,
        checkpoint: str | os.PathLike[str] | None,
        resume: bool,
        *,
        devices: int | str | None,
        deadline: float | None,
    ) -> Session:
        session = Session.of(progress, checkpoint, resume, devices=devices, deadline=deadline)
        if session.mesh is not None and not self.many_devices:
            raise OptionError(f"devices: {self.name} trains on one device, got {session.mesh.size}")
        return session
