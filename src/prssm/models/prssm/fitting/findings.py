"""What a fit decided, in words: for the terminal, the report and `PRSSM.findings`.

    for name, words in findings_of(model): ...

A new decision is a line in `findings_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prssm.models.prssm.levels import NETWORK

if TYPE_CHECKING:
    from prssm.models.prssm.estimator import PRSSM

_RUNS_AWAY = (
    "free runs over the longest training record, or on after a short one, leave the data; try a "
    "longer horizon or a larger stride: training sees no more than one horizon at a time"
)
_WORSE_THAN_LINEAR = (
    "the linear model is kept: level {level} errs less on a typical held-out stretch, but more "
    "over all of them or in free runs over whole training records"
)
_NOT_OUTSIDE = (
    ", not outside of the training data as such: errors are like a sensor's noise, so that the "
    "system is linear as far as these tell"
)
_ALWAYS_SHOWN = (
    "{count} record(s) never, as too short to be cut: the errors and the band are those of the "
    "others"
)


_WHOLE_STREAM = "all {all:,} rows"
_OF_STREAM = "{taken:,} of {all:,} rows, in pieces that are spread over all of it"


def findings_of(model: PRSSM) -> list[tuple[str, str]]:
    """Names and words, of a model that has held-out errors."""
    found = [
        ("Complexity", _complexity(model)),
        ("Size", _size(model)),
        ("Mixture", f"{len(model.mixture_.models.log_output_std)} member(s)"),
        ("Band", _band(model)),
    ]
    if model.rows_of_stream_ is not None:
        taken, every = model.rows_of_stream_
        told = _WHOLE_STREAM if taken == every else _OF_STREAM
        found.append(("Stream", told.format(taken=taken, all=every)))
    if model.always_shown_:
        found.append(("Held out", _ALWAYS_SHOWN.format(count=model.always_shown_)))
    if model.filter_.beside is not None:
        found.append(("Filter", model.filter_.words()))
    if model.worse_than_linear_:
        found.append(("Linear", _WORSE_THAN_LINEAR.format(level=model.worse_than_linear_)))
    return found if model.steady_ else [*found, ("Warning", _RUNS_AWAY)]


def _complexity(model: PRSSM) -> str:
    scores = model.held_out_.items()
    errors = ", ".join(f"{level} {score['typical']:.3g}" for level, score in scores)
    return (
        f"{model.level_} (error on held-out stretches of the training data, scaled units: {errors})"
    )


def _size(model: PRSSM) -> str:
    config = model.config_
    states = f"{config.latent_dim} state{'s' * (config.latent_dim != 1)}"
    if model.level_ == NETWORK.name:
        return f"{states}, {config.neurons} neurons, trained on whole records"
    return (
        f"{states}, {config.inducing} inducing points, sub-trajectories of {config.horizon} steps"
    )


def _band(model: PRSSM) -> str:
    factors = ", ".join(f"{factor:.2f}" for factor in model.calibration_.factor)
    inside = model.held_out_[model.level_]["inside"]
    told = (
        f"{factors} times the model's own, whose two deviations held {inside:.0%} of the "
        "held-out values"
    )
    if model.witnesses_ is None:
        return told
    told += f"; wider where the models of {model.witnesses_.folds} folds disagree"
    return told + _NOT_OUTSIDE if model.straight_ else told
