r"""Runs and records experiments where only the numerical core is installed.

    PRSSM_DATA=... PYTHONPATH=src python studies/experiments.py \
        --methods prssm --seeds 5 --out runs/gpu

No command line and no data frames are needed. The records are those of `prssm benchmark --out
runs/gpu` with the same words, which finds them there and only has to write tables and figures.
"""

import argparse
from pathlib import Path

from prssm.evaluation.benchmark.figure_plans import plan_figure
from prssm.evaluation.benchmark.plan import (
    chosen_datasets,
    chosen_settings,
    chosen_variants,
    experiments,
    in_setting,
    variant_of,
)
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.report.progress import Lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--preset")
    parser.add_argument("--options", nargs="+", default=())
    parser.add_argument("--supplement", nargs="+")
    parser.add_argument("--figures", nargs="+", default=())
    parser.add_argument("--skip", nargs="+", default=(), help="methods to leave to another machine")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    words = parser.parse_args()
    variants = chosen_variants(words.methods, words.preset, words.options)
    planned = experiments(chosen_datasets(words.datasets), variants, words.seeds)
    planned += [
        e for setting in chosen_settings(words.supplement) for e in in_setting(planned, setting)
    ]
    ours = variant_of("prssm", words.preset, words.options)
    for name in words.figures:
        planned += plan_figure(name, ours, variants, seeds=words.seeds).experiments()
    wanted = [experiment for experiment in planned if experiment.variant.method not in words.skip]
    run_all(wanted, Results(words.out), watcher=Lines())


if __name__ == "__main__":
    main()
