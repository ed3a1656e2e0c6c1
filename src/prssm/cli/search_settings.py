"""What `prssm search` can be told besides the data and the method.

On the command line, or in a TOML file:

    data = "log.csv"
    trials = 30

    [over]
    latent_dim = [2, 4, 6]
    learning_rate = "0.005..0.1:log"

    [options]
    iterations = 300
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.merging import Said, word_names
from prssm.cli.settings import DataWords, data_settings
from prssm.cli.whole import MaybeWhole
from prssm.evaluation.tasks.settings import SearchSettings


@dataclass(frozen=True, kw_only=True)
class SearchWords(DataWords):
    """What `prssm search` is told besides."""

    over: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=True,
            negative="",
            help="What to try: latent_dim=2,4,6 seed=0..4 horizon=50..200:50 "
            "learning_rate=0.005..0.1:log (ranges with log need --trials). Also method=... and "
            "preset=....",
        ),
    ] = None
    trials: Annotated[
        MaybeWhole,
        Parameter(
            help="So many trials, proposed by Optuna from what was found before. Without it: all "
            "combinations."
        ),
    ] = None
    hold_out: Annotated[
        float | None,
        Parameter(
            help="Trials are judged on this last fraction of the training data.",
            show_default=str(SearchSettings.hold_out),
        ),
    ] = None
    held_out_folds: Annotated[
        MaybeWhole,
        Parameter(
            help="Instead: cut the training data into so many stretches, each held out once."
        ),
    ] = None
    by: Annotated[
        str | None,
        Parameter(
            help="Compare by rmse or log-likelihood of the held-out free run.",
            show_default=SearchSettings.by,
        ),
    ] = None
    prune: Annotated[
        bool | None,
        Parameter(
            help="Stop trials whose training ELBO is below the median of others. Default: with "
            "--trials."
        ),
    ] = None
    workers: Annotated[
        MaybeWhole, Parameter(help="Local processes to spread the trials over.", show_default="1")
    ] = None
    dask: Annotated[
        str | None, Parameter(help="Address of a dask scheduler to spread the trials over.")
    ] = None
    retry_failed: Annotated[
        bool | None, Parameter(negative="", help="Run failed trials again.", show_default=False)
    ] = None
    no_fit: Annotated[
        bool | None,
        Parameter(
            negative="",
            help="Do not refit the best to all training data; the test part is not touched.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        str | None,
        Parameter(
            help="Folder of the results; what is recorded there is not run again.",
            show_default=str(SearchSettings.out),
        ),
    ] = None
    quiet: Annotated[
        bool | None, Parameter(negative="", help="No progress, no tables.", show_default=False)
    ] = None
    config: Annotated[
        str | None,
        Parameter(
            help="A TOML file with any of these as keys, what to try in a table [over] and fixed "
            "options in [options]. "
            "The command line wins over the file."
        ),
    ] = None


SEARCH_WORDS = word_names(SearchWords)


def search_settings(said: Said[SearchWords]) -> SearchSettings:
    """What to try, and how it is judged."""
    words = said.words
    return SearchSettings(
        data=data_settings(said),
        over=words.over or (),
        folds=words.held_out_folds,
        options=said.options,
        out=Path(words.out) if words.out else SearchSettings.out,
        **said.given(
            "method",
            "preset",
            "trials",
            "hold_out",
            "by",
            "prune",
            "workers",
            "dask",
            "retry_failed",
            "no_fit",
        ),
    )
