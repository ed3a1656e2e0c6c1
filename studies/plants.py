r"""Logs as plants leave them: many channels, few rows, drifts, loops, valves that hardly move.

    python studies/plants.py --out runs/plants --workers 2 --docs docs/studies/accuracy.md
    python studies/plants.py --report-only --out runs/plants

Each of `plant_systems.py` is simulated once to learn from and four times more to predict, and the
default preset is compared with the linear model and with a constant. No rule or number was chosen
by them, with one exception: `swept` showed that networks may need more states than a linear model
sees. Recorded rows are not run again.
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plant_systems import PLANTS, data

FILE = "plants.jsonl"


@dataclass(frozen=True)
class Job:
    """One plant that the preset is fitted to."""

    name: str
    seed: int = 0

    @property
    def key(self) -> str:
        from prssm.evaluation.jobs.job_record import key_of

        return key_of("plants", self.name, self.seed)

    def __str__(self) -> str:
        return self.name


def blank(job: Job) -> dict[str, Any]:
    from prssm.evaluation.jobs.job_record import SCHEMA_VERSION

    return {"schema": SCHEMA_VERSION, "key": job.key, "name": job.name, "seed": job.seed}


def work(job: Job) -> Any:
    """Fit and score; a failure is recorded with its reason."""
    from prssm.evaluation.jobs.job_record import OK, Finished, failure, finite

    try:
        values = measure(job)
    except Exception as error:
        return Finished(blank(job) | failure(error), {})
    return Finished(blank(job) | finite(values) | {"outcome": OK}, {})


def measure(job: Job) -> dict[str, Any]:
    """The preset beside the linear model and a constant."""
    from prssm import PRSSM, Constant, LinearSSM

    train, fresh = data(job.name)
    begun = time.perf_counter()
    model = PRSSM(seed=job.seed).fit(train)
    taken = time.perf_counter() - begun
    return {
        "seconds": round(taken, 1),
        "level": model.level_,
        "findings": dict(model.findings()),
        "score": model.evaluate(fresh),
        "linear": LinearSSM().fit(train).evaluate(fresh),
        "constant": Constant().fit(train).evaluate(fresh),
    }


def page(rows: list[dict[str, Any]]) -> str:
    """A line for each plant."""
    head = ["", "rows", "constant", "linear", "`default`", "of linear", "inside 2 sigma"]
    head += ["log-likelihood", "linear's", "chosen", "fit, s"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        if row["outcome"] != "ok":
            lines.append([row["name"], "failed: " + row["reason"], *[""] * (len(head) - 2)])
            continue
        score, linear = row["score"], row["linear"]
        plant = PLANTS[row["name"]]
        lines.append(
            [
                row["name"],
                f"{plant.records} x {plant.rows}" if plant.records > 1 else str(plant.rows),
                f"{row['constant']['nrmse']:.3f}",
                f"{linear['nrmse']:.3f}",
                f"{score['nrmse']:.3f}",
                f"{score['nrmse'] / linear['nrmse']:.3f}",
                f"{score['coverage_2sigma']:.2f}",
                f"{score['log_likelihood_scaled']:.2f}",
                f"{linear['log_likelihood_scaled']:.2f}",
                f"`{row['level']}`",
                f"{row['seconds']:.0f}",
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/plants"))
    parser.add_argument("--names", nargs="+", choices=list(PLANTS), default=list(PLANTS))
    parser.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    parser.add_argument("--docs", type=Path, help="page whose table is written")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    words = parser.parse_args()
    if words.workers > 1:
        os.environ.setdefault("PRSSM_THREADS", "1")
    from prssm.evaluation.jobs.results import Results
    from prssm.evaluation.jobs.runner import run_missing
    from prssm.report.page_sections import with_section
    from prssm.report.progress import Lines

    results = Results(words.out, FILE)
    jobs = [Job(name) for name in words.names]
    if not words.report_only:
        run_missing(
            jobs,
            results,
            work=work,
            blank=blank,
            workers=words.workers,
            watcher=Lines(lambda row: row.get("reason", "") or f"{row['seconds']} s"),
        )
    text = page([results.records[job.key] for job in jobs if job.key in results.records])
    print(text)
    if words.docs:
        words.docs.write_text(with_section(words.docs.read_text(), "plants", text))


if __name__ == "__main__":
    main()
