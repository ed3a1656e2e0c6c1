"""From options and records to a fit that is ready to be trained."""

from collections.abc import Callable, Sequence

from prssm.data import windows
from prssm.data.record import Record
from prssm.data.windows import Windows
from prssm.models.prssm.config import PRSSMConfig, ResolvedConfig
from prssm.models.prssm.fitting.fit import Fitting
from prssm.models.prssm.fitting.groups import groups_of, starts_of
from prssm.models.prssm.fitting.held_out import Fold
from prssm.models.prssm.levels import Level
from prssm.models.prssm.starts.linear_start import Choose, LinearOrders
from prssm.models.prssm.starts.start import Starts


def starts_for(
    config: PRSSMConfig,
    records: Sequence[Record],
    choose: Choose = LinearOrders.choose,
    enough: Callable[[], bool] = lambda: False,
) -> Starts:
    """Where training starts; its `config` has what the data decide filled in.

    A linear model's order is one witness of how many states there are: the level `linear` is never
    smaller than it needs to be. `choose` decides about linear models, which are made in a hurry
    once `enough` says so.
    """
    starts = Starts(config.resolved(records), records, choose=choose, enough=enough)
    if config.latent_dim is None and config.start == "linear":
        return starts.with_states_of_the_data()
    return starts


def window_of(config: PRSSMConfig) -> int:
    """Steps from which the first state is recognised; 0 without a recognition model."""
    return config.recognition_window if config.scheme == "stochastic" else 0


def cut_for(config: ResolvedConfig, records: Sequence[Record]) -> Windows:
    """The sub-trajectories that the options ask for."""
    if config.scheme == "full":
        return windows.whole(records)
    return windows.sliding(records, config.horizon)


def prepared(
    starts: Starts,
    cut: Windows,
    *,
    levels: Sequence[Level],
    folds: Sequence[Fold],
    records: Sequence[Record] = (),
) -> Fitting:
    """A fit of some levels, on all data and on what each fold shows."""
    groups = groups_of(levels, folds, starts)
    return Fitting(
        starts.config,
        cut,
        groups,
        starts=starts_of(starts, groups),
        window=window_of(starts.config),
        records=records,
    )
