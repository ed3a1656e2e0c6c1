r"""Do bands hold? The default preset over a population of recordings, beside the linear model.

    PRSSM_DATA=... PYTHONPATH=src python benchmarks/calibration.py --out runs/bands --workers 16
    python benchmarks/calibration.py --out runs/bands --report-only
    python benchmarks/calibration.py --out runs/scored --again runs/bands --workers 2

The population: a hundred random systems (`random`), the fourteen tasks of
`studies/generalisation.py` (`tasks`), the kinds of `studies/kinds.py` (`kinds`, and `long` those
with many rows, which take longest). Simulated ones are also run ten times more: errors of one run
are correlated, so that its coverage is chance in part. Finished recordings are not run again.
Beside each line of calibration.jsonl, `arrays/` has what is needed to try other bands off-line
(calibration_runs.py), and `models/` the fitted models. The third command fits nothing: it scores
these models with the code as it is now.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

STUDIES = Path(__file__).absolute().parent.parent / "studies"
if str(STUDIES) not in sys.path:
    sys.path.append(str(STUDIES))

FILE = "calibration.jsonl"
SYSTEMS = 100
LONG_ROWS = 5000  # kinds with more are a group of their own
BAND = (0.85, 0.99)  # two deviations should hold a share between these
LEVELS = ("coverage_50", "coverage_80", "coverage_95", "coverage_2sigma")
MORE_RUNS = 10  # of a simulated system, over inputs like those of its test part
MORE_ROWS = 500  # of each, where a random system or a task makes them


@dataclass(frozen=True)
class Job:
    """One recording that the preset, with some options changed, is fitted to."""

    group: str
    name: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    models: Path = Path("runs/bands/models")  # where fitted models are kept
    again: bool = False  # whether they are there and only scored

    @property
    def key(self) -> str:
        from prssm.evaluation.jobs.job_record import key_of

        return key_of("calibration", self.name, self.seed, self.options)

    def __str__(self) -> str:
        return self.name


def names(systems: int) -> dict[str, list[str]]:
    """All recordings by their group, those that take longest first."""
    from generalisation import FOURTEEN
    from kinds import KINDS

    rows = {name: kind[1] * kind[2] for name, kind in KINDS.items()}
    return {
        "long": [name for name in rows if rows[name] > LONG_ROWS],
        "kinds": [name for name in rows if rows[name] <= LONG_ROWS],
        "tasks": [f"task-{name}" for name in FOURTEEN],
        "random": [f"random{number:03d}" for number in range(systems)],
    }


def recording(name: str) -> tuple[list, list, dict[str, Any]]:
    """Records to train on, records to predict, and what is known of them.

    The noise is that of the sensors in parts of each output's deviation, None where nobody knows.
    """
    if name.startswith("random"):
        from prssm.data.simulators.random_systems import random_recording

        found = random_recording(int(name.removeprefix("random")))
        return [found.train], [found.test], found.facts
    if name.startswith("task-"):
        from generalisation import TASKS

        return (*TASKS[name.removeprefix("task-")](), {"noise": None})
    from kinds import KINDS, data

    return (*data(name), {"noise": KINDS[name][3]})


def more_runs(name: str) -> list:
    """Further records of a simulated system, like its test part; none of a recording."""
    if name.startswith("random"):
        from prssm.data.simulators.random_systems import random_recording

        found = random_recording(int(name.removeprefix("random")))
        return [found.again(found.test_moves, MORE_ROWS, seed) for seed in range(MORE_RUNS)]
    if name.startswith("task-"):
        from generalisation import fresh_runs

        return fresh_runs(name.removeprefix("task-"), runs=MORE_RUNS, rows=MORE_ROWS)
    from kinds import data

    return data(name, MORE_RUNS)[1][-MORE_RUNS:]


def work(job: Job) -> Any:
    """Fit and score; a failure is recorded with its reason."""
    from prssm.evaluation.jobs.job_record import OK, Finished, failure, finite

    begun = time.perf_counter()
    try:
        values, arrays = measure(job)
    except Exception as error:
        return Finished(blank(job) | failure(error), {})
    seconds = round(time.perf_counter() - begun, 1)
    return Finished(blank(job) | finite(values) | {"outcome": OK, "seconds": seconds}, arrays)


def blank(job: Job) -> dict[str, Any]:
    from prssm.evaluation.jobs.job_record import SCHEMA_VERSION

    named = {"group": job.group, "name": job.name, "seed": job.seed, "options": job.options}
    return {"schema": SCHEMA_VERSION, "key": job.key, **named}


def measure(job: Job) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Scores of the preset and of the linear model, and the runs that are kept."""
    from calibration_runs import kept_runs

    from prssm import PRSSM, LinearSSM, load

    train, test, facts = recording(job.name)
    files = [job.models / f"{job.key}.{kind}" for kind in ("prssm", "linear")]
    begun = time.process_time()
    if job.again:
        model, linear = (load(file) for file in files)
    else:
        model = PRSSM(seed=job.seed, **job.options).fit(train)
    taken = time.process_time() - begun
    if not job.again:
        linear = LinearSSM().fit(train)
        job.models.mkdir(parents=True, exist_ok=True)
        for fitted, file in zip((model, linear), files, strict=True):
            fitted.save(file)
    values = {
        "facts": facts,
        "rows": sum(map(len, train)),
        "processor_s": round(taken, 1),
        "level": model.level_,
        "held_out": model.held_out_,
        "factor": model.calibration_.factor.tolist(),
        "stride": model.stride_,
        "members": len(model.mixture_.models.log_output_std),
        "score": model.evaluate(test),
        "linear": linear.evaluate(test),
    }
    more = more_runs(job.name)
    if more:
        values |= {"score_more": model.evaluate(more), "linear_more": linear.evaluate(more)}
    return values, {} if job.again else kept_runs(model, linear, train, test)


def inside(share: float | None) -> bool:
    return share is not None and BAND[0] <= share <= BAND[1]


def over_many_runs(row: dict[str, Any]) -> dict[str, Any]:
    """The same recording scored over its further runs, where it has any."""
    if "score_more" not in row:
        return row
    return row | {"score": row["score_more"], "linear": row["linear_more"]}


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """One line of the table: shares and means over some recordings."""
    two = [row["score"]["coverage_2sigma"] for row in rows]
    means = [f"{np.mean([row['score'][level] for row in rows]):.3f}" for level in LEVELS]
    likelier = [
        row["score"]["log_likelihood_scaled"] > row["linear"]["log_likelihood_scaled"]
        for row in rows
    ]
    ratios = [row["score"]["nrmse"] / row["linear"]["nrmse"] for row in rows]
    noises = [
        row["score"]["nrmse"] / row["facts"]["noise"] for row in rows if row["facts"]["noise"]
    ]
    return [
        str(len(rows)),
        f"{np.mean([inside(share) for share in two]):.0%}",
        f"{np.mean([share < BAND[0] for share in two]):.0%}",
        f"{np.mean([share > BAND[1] for share in two]):.0%}",
        *means,
        f"{np.mean(likelier):.0%}",
        f"{np.exp(np.mean(np.log(ratios))):.3f}",
        f"{np.median(noises):.2f}" if noises else "",
    ]


def table(records: list[dict[str, Any]]) -> str:
    """Markdown: a line for each group of recordings and for all."""
    rows = [row for row in records if row["outcome"] == "ok"]
    head = ["", "recordings", "inside 0.85-0.99", "narrower", "wider"]
    head += ["50 %", "80 %", "95 %", "2 sigma", "likelier than linear", "rmse / linear"]
    lines = [[*head, "rmse / noise"], ["---"] * (len(head) + 1)]
    for group in dict.fromkeys(row["group"] for row in rows):
        lines.append([group, *summary([row for row in rows if row["group"] == group])])
    if rows:
        lines.append(["all", *summary(rows)])
        many = [over_many_runs(row) for row in rows]
        lines.append(["all, ten more runs where simulated", *summary(many)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def listing(records: list[dict[str, Any]]) -> str:
    """A line for each recording, the narrowest band first; failures at the end."""
    rows = [row for row in records if row["outcome"] == "ok"]
    lines = []
    for row in sorted(rows, key=lambda row: row["score"]["coverage_2sigma"]):
        score = row["score"]
        facts = " ".join(f"{key}={_short(value)}" for key, value in row["facts"].items())
        lines.append(
            f"{row['name']:20s} {score['coverage_2sigma']:.3f} 95%: {score['coverage_95']:.3f} "
            f"ll {score['log_likelihood_scaled']:6.2f} "
            f"linear {row['linear']['log_likelihood_scaled']:6.2f} "
            f"rmse {score['nrmse']:.3f} linear {row['linear']['nrmse']:.3f} "
            f"factor {_short(row['factor'])} {row['level']} {facts}"
        )
    failed = [row for row in records if row["outcome"] != "ok"]
    return "\n".join([*lines, *(f"{row['name']}: failed: {row['reason']}" for row in failed)])


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_short, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def said(record: dict[str, Any]) -> str:
    """How a recording ended, in a few words."""
    if record["outcome"] != "ok":
        return f"failed: {record['reason']}"
    share = record["score"]["coverage_2sigma"]
    return f"inside two deviations {share:.3f}, {record['seconds']} s"


def options_of(words: list[str]) -> dict[str, Any]:
    """Options of the preset from `name=value`; values are read as Python's."""
    import ast

    pairs = [word.partition("=") for word in words]
    return {name: ast.literal_eval(value) for name, _, value in pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/bands"))
    parser.add_argument("--groups", nargs="+", default=["long", "kinds", "tasks", "random"])
    parser.add_argument("--systems", type=int, default=SYSTEMS, help="how many random systems")
    parser.add_argument("--names", nargs="+", help="only these recordings")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--options", nargs="+", default=[], help="of the preset, as folds=5")
    parser.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    parser.add_argument("--retry-failed", action="store_true")
    parser.add_argument("--list", action="store_true", help="also a line for each recording")
    parser.add_argument("--again", type=Path, help="folder whose models are scored, not fitted")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    if words.workers > 1:
        os.environ.setdefault("PRSSM_THREADS", "1")
    from prssm.evaluation.jobs.results import Results
    from prssm.evaluation.jobs.runner import run_missing
    from prssm.report.progress import Lines

    results = Results(words.out, FILE)
    options = options_of(words.options)
    fitted = words.again or words.out
    jobs = [
        Job(group, name, words.seed, options, fitted / "models", words.again is not None)
        for group, found in names(words.systems).items()
        for name in found
        if group in words.groups and (words.names is None or name in words.names)
    ]
    if not words.report_only:
        run_missing(
            jobs,
            results,
            work=work,
            blank=blank,
            workers=words.workers,
            retry_failed=words.retry_failed,
            watcher=Lines(said),
        )
    found = [results.records[job.key] for job in jobs if job.key in results.records]
    if words.list:
        print(listing(found))
    print(table(found))


if __name__ == "__main__":
    main()
