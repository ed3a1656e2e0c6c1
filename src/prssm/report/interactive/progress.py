"""How training went and how errors grow, to explore: plain curves without bands."""

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import Range1d
from bokeh.models.layouts import LayoutDOM

from prssm.evaluation.comparison import Run
from prssm.prediction.plot import MEASURED, PREDICTED
from prssm.prediction.prediction import Prediction
from prssm.report.colours import QUIET
from prssm.report.fit.calibration import LEVELS, coverage_curve
from prssm.report.fit.context_figures import errors_up_to
from prssm.report.fit.figures import settled_range
from prssm.report.interactive.curves import Curve, bands_over
from prssm.report.interactive.panels import colours, legend, panel
from prssm.training.log import TrainingLog

_HEIGHT = 300


def errors_on_the_way(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]], beside: str, below: str = "seconds"
) -> LayoutDOM:
    """Error during training, for each model: pairs of when and how much; `beside` says which."""
    plot = panel(below, beside, height=_HEIGHT)
    drawn = bands_over(
        plot,
        {label: Curve(np.asarray(at), np.asarray(value)) for label, (at, value) in curves.items()},
        colours(list(curves)),
        below=below,
        points=True,
    )
    legend(plot, drawn)
    return plot


def training_curve(log: TrainingLog) -> LayoutDOM:
    """The objective of every restart; the kept one stands out."""
    plot = panel("iteration", log.objective_name, height=_HEIGHT, y_limits=settled_range(log))
    names = [f"restart {restart}" for restart in range(len(log.objective))]
    order = [name for i, name in enumerate(names) if i != log.kept]
    kept = f"kept: restart {log.kept}"
    curves = {name: Curve(log.iteration, log.objective[names.index(name)]) for name in order}
    curves[kept] = Curve(log.iteration, log.objective[log.kept])
    chosen = {**dict.fromkeys(order, QUIET), kept: PREDICTED}
    drawn = bands_over(plot, curves, chosen, below="iteration")
    others = [renderer for name in order for renderer in drawn[name]]
    legend(plot, {kept: drawn[kept], "other restarts": others})
    return plot


def errors_by_horizon(runs: Mapping[str, Sequence[Prediction]], y_std: np.ndarray) -> LayoutDOM:
    """Root mean square error over the first k rows of each model's runs, outputs in unit spread."""
    curves = {}
    for label, predictions in runs.items():
        error = errors_up_to(predictions, y_std)
        curves[label] = Curve(np.arange(1, len(error) + 1), error)
    below = "rows from the start"
    plot = panel(below, "RMSE up to there", height=_HEIGHT)
    drawn = bands_over(plot, curves, colours(list(curves)), below=below)
    plot.y_range.start = 0.0
    legend(plot, drawn)
    return plot


def coverage(runs: Sequence[Run]) -> LayoutDOM:
    """Promised against observed coverage; the diagonal is a band that one can trust."""
    below = "promised share inside the band"
    plot = panel(below, "observed share", height=360, y_limits=(0.0, 1.0))
    plot.sizing_mode = "fixed"
    plot.width = 340
    plot.x_range = Range1d(0.0, 1.0)
    curves = {"ideal": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}
    curves |= {run.label: Curve(LEVELS, coverage_curve(run.predictions)) for run in runs[:2]}
    chosen = dict(zip(curves, (QUIET, PREDICTED, MEASURED), strict=False))
    legend(plot, bands_over(plot, curves, chosen, below=below))
    return plot
