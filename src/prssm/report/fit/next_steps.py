"""What to do next, read from the findings of a report: one plain sentence or two each.

Each rule takes the findings and says nothing or one text. A new rule is one more function in
`_RULES`; the most useful come first.
"""

import math
from collections.abc import Callable

import numpy as np

from prssm.prediction.cautions import leaves
from prssm.prediction.gaussian import half_width
from prssm.prediction.residuals import Residuals
from prssm.report.fit.context_figures import errors_up_to
from prssm.report.fit.findings import Findings
from prssm.report.fit.notes import DOUBTFUL, GAP, too_wide

_AS_GOOD = 1.02  # times the error of the model: a simpler one that is so near is preferred
_OFFSET = 0.7  # share of the error that is constant, from which we speak of an offset
_GROWTH = 3.0  # of the error, from the first tenth of the runs to their whole
_LATE_ROWS = 100  # of a run, below which growth of its error means little


def next_steps(found: Findings) -> list[str]:
    """All that the findings ask for; if that is nothing, where to go with the model."""
    if found.runs[0].beyond:
        return [_BEYOND]
    texts = [rule(found) for rule in _RULES]
    return [text for text in texts if text] or [_GO_ON]


_BEYOND = (
    "Record training data that reach as far as these: many of the measured outputs are beyond what "
    "training saw. Or score the model on data of the kind that it was trained on. Nothing else on "
    "this page says much before that."
)
_GO_ON = (
    "Nothing here speaks against the model. Try it on one more recording (prssm report MODEL "
    "OTHER.csv), then use it: prssm simulate, prssm export, or model.observer() on a running "
    "system."
)


def _nothing_held_out(found: Findings) -> str:
    if found.held_out:
        return ""
    return (
        "Keep data back: fit again with --split 0.7 or --test FILE. Until then nobody knows how "
        "the model does on new data."
    )


def _left_training(found: Findings) -> str:
    runs = found.runs[0].predictions
    marked = [run.inputs_outside for run in runs if run.inputs_outside is not None]
    share = float(np.concatenate(marked).mean()) if marked else 0.0
    if share > 0.0:
        return (
            f"Record training data with such inputs: {share:.0%} of the rows have inputs beyond "
            "what training saw (red in the figure of the inputs)."
        )
    if not _leaves(found):
        return ""
    outside = np.concatenate([run.outside for run in runs if run.outside is not None])
    return (
        f"Record training data where the run goes: {outside.mean():.0%} of its rows are outside "
        "of what training covered (red in the figures), though their inputs are not."
    )


def _band_too_narrow(found: Findings) -> str:
    coverage = found.runs[0].scores.get("coverage_95", math.nan)
    factor = _widening(found)
    if not coverage < DOUBTFUL or not factor > 1.0:
        return ""
    text = (
        f"The band is too narrow on this record: it held {coverage:.0%}, and {factor:.1f} times "
        "its width would have held 95 %. "
    )
    if _leaves(found):
        return text + "First record data where the run goes: no band holds there."
    return text + (
        "Train on more recordings that look like this one: the band is judged on parts of the "
        "training data, which differ less from each other."
    )


def _band_too_wide(found: Findings) -> str:
    if not too_wide(found.runs[0]):
        return ""
    return (
        f"The band is too wide on this record: {_widening(found):.2f} times its width would have "
        "held 95 %. Training recordings that differ from each other make it so; a longer one helps."
    )


def _linear_is_as_good(found: Findings) -> str:
    own = found.runs[0].scores.get("rmse", math.nan)
    linear = [row.scores.get("rmse", math.nan) for row in found.baselines if row.label == "linear"]
    if found.model.name == "linear" or not linear or not linear[0] <= _AS_GOOD * own:
        return ""
    if found.model.is_linear:
        return (
            "Keep the model: it is the linear one, which the fit has chosen or was told to take, "
            "so that the linear row of the table is no reason to change."
        )
    return (
        "Use the linear model (prssm fit --method linear): its error is no larger, it is fitted "
        "in seconds, and every control tool can read it."
    )


def _inputs_still_tell(found: Findings) -> str:
    checked = found.residuals
    if isinstance(checked, str) or checked.independent or not checked.cross_correlation.size:
        return ""
    beyond = np.abs(checked.cross_correlation) / checked.cross_correlation_band
    lag, output, column = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    return (
        f"Give the model more states{_option(found)}: errors of {checked.output_names[output]} "
        f"still depend on {checked.input_names[column]}, most on that of {lag} "
        f"step{'' if lag == 1 else 's'} before. If the system only reacts after a dead time, shift "
        "that input by it."
    )


def _option(found: Findings) -> str:
    """The option by which a method gets more states, in words."""
    words = {"prssm": " (--latent-dim)", "linear": " (--order)"}
    return words.get(found.model.name, "")


def _disturbed(found: Findings) -> str:
    checked = found.residuals
    if isinstance(checked, str) or checked.white or not checked.independent:
        return ""
    if _largest(checked) < 0.0:
        text = (
            f"Errors one step ahead alternate (correlation {_largest(checked):.2f}): the filter "
            "follows the noise of the sensors. Free runs do not use it."
        )
        if found.model.name == "linear":
            return text
        return text + (
            " If you predict from measurements, compare with prssm fit --method linear; a fit that "
            "had a --budget has had less time to choose its filter."
        )
    return (
        f"Errors one step ahead follow each other (correlation {_largest(checked):.2f}) without "
        "following the inputs: something that was not recorded drives the system. Record it as an "
        "input if you can; else predict from measurements (prssm predict), which know it."
    )


def _largest(checked: Residuals) -> float:
    """The autocorrelation that is farthest from zero, with its sign."""
    each = checked.autocorrelation.ravel()
    return float(each[np.abs(each).argmax()])


def _constant_error(found: Findings) -> str:
    """An error that hardly changes, in the output that has the largest share of it."""
    names = found.first.output_names
    errors = np.concatenate(
        [run.measured - run.mean for run in found.runs[0].predictions if run.measured is not None]
    )
    with np.errstate(all="ignore"):
        known = np.where(np.isfinite(errors), errors, np.nan)
        if np.isnan(known).all(axis=0).any():
            return ""
        mean = np.nanmean(known, axis=0)
        share = np.abs(mean) / np.sqrt(np.nanmean(known**2, axis=0))
    worst = int(np.argmax(share))
    if not share[worst] > _OFFSET:
        return ""
    return (
        f"The run is off by a constant: {names[worst]} was {mean[worst]:+.3g} beside it on "
        "average. Look for a sensor's offset, a load or a temperature that differs from training."
    )


def _errors_add_up(found: Findings) -> str:
    runs = found.runs[0].predictions
    longest = max(map(len, runs))
    if longest < _LATE_ROWS:
        return ""
    curve = errors_up_to(runs, found.model.scaler_.y_std)
    early = curve[max(longest // 10, max(run.warmup for run in runs), 1) - 1]
    if not curve[-1] > _GROWTH * early:
        return ""
    return (
        f"Errors add up: over the whole run they are {curve[-1] / early:.1f} times those of its "
        "first tenth. Where measurements come in, take them: model.observer(), prssm predict."
    )


def _learnt_by_heart(found: Findings) -> str:
    if len(found.runs) < 2 or _leaves(found):
        return ""
    test, train = (run.scores.get("rmse", math.nan) for run in found.runs[:2])
    if not test > GAP * train:
        return ""
    return (
        "Train on more data, or hold the model simpler (prssm: --complexity held or linear): its "
        f"error on new data is {test / train:.1f} times that on training data."
    )


def _sampled_too_fast(found: Findings) -> str:
    stride = found.model.stride_
    if stride == 1:
        return ""
    dt = found.model.dt_
    every = f"every {stride * dt:.4g} s" if dt else f"every {stride} rows"
    return (
        f"The log is sampled faster than the system moves: {every} would do, and the same disk "
        "then holds a longer recording."
    )


def _diverged(found: Findings) -> str:
    log = found.model.training_
    if log is None or not log.worth_a_word:
        return ""
    return (
        f"{log.diverged} of {len(log.outcomes)} restarts diverged: try half the --learning-rate, "
        "or a longer --horizon."
    )


def _leaves(found: Findings) -> bool:
    return any(leaves(run) for run in found.runs[0].predictions)


def _widening(found: Findings) -> float:
    """The factor with which the band would have held 95 of 100 measurements."""
    sizes = [
        np.abs(run.measured - run.mean) / run.std
        for run in found.runs[0].predictions
        if run.measured is not None
    ]
    known = np.concatenate([size.ravel() for size in sizes])
    known = known[np.isfinite(known)]
    return float(np.quantile(known, 0.95)) / half_width(0.95) if len(known) else math.nan


_RULES: tuple[Callable[[Findings], str], ...] = (
    _nothing_held_out,
    _linear_is_as_good,
    _left_training,
    _band_too_narrow,
    _band_too_wide,
    _inputs_still_tell,
    _disturbed,
    _constant_error,
    _errors_add_up,
    _learnt_by_heart,
    _sampled_too_fast,
    _diverged,
)
