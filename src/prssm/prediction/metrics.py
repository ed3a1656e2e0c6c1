"""How good a simulated run is: error, fit, likelihood and coverage.

Steps that were not measured do not count.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prssm.foundation.errors import DataError
from prssm.prediction.gaussian import half_width, log_density
from prssm.prediction.prediction import Prediction

COVERAGE_LEVELS = (0.50, 0.80, 0.95)
HORIZONS = (30, 50)


def evaluate(predictions: Sequence[Prediction], y_std: np.ndarray) -> dict[str, float]:
    """Metrics over all steps and outputs of some runs, pooled.

    `y_std` are the deviations of the training outputs, for the scaled metrics.

    rmse counts every step, warm-up included, as the paper does. rmse_after_warmup counts only what
    was never seen. fit is 100 (1 - |e| / |y - mean y|), averaged over outputs. log_likelihood is
    the mean over steps of the Gaussian log-density of a measurement vector in physical units;
    log_likelihood_scaled is the same in training-scaled units.
    """
    measured, error = _pooled(predictions)
    std = np.concatenate([p.std for p in predictions])
    unseen = np.concatenate([np.arange(len(p)) >= p.warmup for p in predictions])
    scores = {"rmse": _rms(error), "rmse_after_warmup": _rms(error[unseen])}
    scores |= {
        f"rmse_{horizon}": _rms(
            np.concatenate([(p.measured - p.mean)[:horizon] for p in predictions])
        )
        for horizon in HORIZONS
    }
    scores |= _relative(error, measured, y_std)
    scores |= _probabilistic(error, std, y_std)
    return scores


def evaluate_each(
    predictions: Sequence[Prediction], y_std: np.ndarray
) -> dict[str, dict[str, float]]:
    """The metrics of each output alone, by its name; one that was never measured is left out."""
    found = {}
    for i, name in enumerate(predictions[0].output_names):
        alone = [one_output(prediction, i) for prediction in predictions]
        known = [p for p in alone if p.measured is not None and np.isfinite(p.measured).any()]
        if known:
            found[name] = evaluate(known, y_std[i : i + 1])
    return found


def one_output(prediction: Prediction, output: int) -> Prediction:
    """A run of one of its outputs alone."""
    column = slice(output, output + 1)
    return replace(
        prediction,
        mean=prediction.mean[:, column],
        std=prediction.std[:, column],
        samples=None,
        measured=None if prediction.measured is None else prediction.measured[:, column],
        output_names=prediction.output_names[column],
    )


def r_squared(predictions: Sequence[Prediction]) -> float:
    """1 - (sum of squared errors) / (sum of squares about the mean), averaged over outputs.

    An output that does not move counts 1 where it is met exactly, else 0, as in scikit-learn.
    """
    measured, error = _pooled(predictions)
    centred = measured - np.nanmean(measured, axis=0)
    total = np.nansum(centred**2, axis=0)
    left = np.nansum(error**2, axis=0)
    moving = total > 0.0
    share = left / np.where(moving, total, 1.0)
    return float(np.mean(np.where(moving, 1.0 - share, np.where(left == 0.0, 1.0, 0.0))))


def _pooled(predictions: Sequence[Prediction]) -> tuple[np.ndarray, np.ndarray]:
    """Measured outputs and errors of all steps, end to end; there must be something to score."""
    for prediction in predictions:
        if prediction.measured is None or np.isnan(prediction.measured).all():
            raise DataError(f"{prediction.name}: nothing to score against: no output was measured")
    measured = np.concatenate([p.measured for p in predictions])
    return measured, measured - np.concatenate([p.mean for p in predictions])


def rmse_after(predictions: Sequence[Prediction], skip: int) -> float:
    """Root mean square error of some runs, pooled, without the first `skip` steps of each."""
    return _rms(np.concatenate([(p.measured - p.mean)[skip:] for p in predictions]))


def _rms(error: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(error**2))) if np.isfinite(error).any() else float("nan")


def _relative(error: np.ndarray, measured: np.ndarray, y_std: np.ndarray) -> dict[str, float]:
    centred = measured - np.nanmean(measured, axis=0)
    spread = np.sqrt(np.nansum(centred**2, axis=0))
    size = np.sqrt(np.nansum(error**2, axis=0))
    moving = spread > 0
    fit = 100.0 * (1.0 - size[moving] / spread[moving])
    return {
        "fit_percent": float(fit.mean()) if len(fit) else float("nan"),
        "nrmse": _rms(error / y_std),
    }


def _probabilistic(error: np.ndarray, std: np.ndarray, y_std: np.ndarray) -> dict[str, float]:
    known = np.isfinite(error)
    z = np.where(known, error / std, 0.0)
    density = np.where(known, log_density(z) - np.log(std), 0.0)
    steps = known.any(axis=1)
    raw = density.sum(axis=1)[steps].mean()
    scaled = (density + np.where(known, np.log(y_std), 0.0)).sum(axis=1)[steps].mean()
    inside = {
        f"coverage_{round(100 * level)}": float((np.abs(z[known]) <= half_width(level)).mean())
        for level in COVERAGE_LEVELS
    }
    return {
        "log_likelihood": float(raw),
        "log_likelihood_scaled": float(scaled),
        **inside,
        "coverage_2sigma": float((np.abs(z[known]) <= 2.0).mean()),
    }
