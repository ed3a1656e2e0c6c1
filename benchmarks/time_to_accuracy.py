r"""How long training takes until it is as good as the paper preset after 1000 iterations.

    PRSSM_DATA=... OPENBLAS_NUM_THREADS=1 python benchmarks/time_to_accuracy.py \
        [--docs docs/studies/performance.md] [--out runs]

Before and after; some eight minutes on two idle cores. One restart, same seed, training parts only.
Every ten iterations the clock stops and the ELBO is estimated, in all configurations by the same
draws: full weight of the KL terms, N=50 samples. What counts is the mean of the last five
estimates. The goal is what float64 reaches in the end, less 0.05 for each recorded step: other
noise, which float32 draws, changes the end of such a run by about as much. Fewer samples make
noisier gradients, for which a longer schedule makes up.

An iteration of `scan` is one of `native` in float64, to rounding (docs/studies/performance.md). So
the oracle is run for some iterations only, for its time for each. Its number of iterations is that
of `native`. Records in runs/time-to-accuracy are not made again: remove them for a new measurement.
"""

import argparse
import json
import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm import datasets
from prssm.data import windows
from prssm.data.scaling import Scaler
from prssm.evaluation.jobs.provenance import provenance
from prssm.foundation.atomic import replacing
from prssm.foundation.precision import double_precision
from prssm.models.prssm.config import PAPER, PRSSMConfig
from prssm.models.prssm.elbo import Objective, StateSpaceModel, TrainingData
from prssm.models.prssm.starts.start import Starts
from prssm.report.page_sections import with_section
from prssm.training.optimise import CHUNK, Schedule, advance, initial_state

SETS = ("actuator", "ballbeam", "drives", "furnace", "dryer")
BEFORE = "scan, float64"
REFERENCE = "native, float64"
# By name: how many times the iterations, and other options.
CONFIGURATIONS: dict[str, tuple[int, dict[str, Any]]] = {
    BEFORE: (1, {"engine": "scan"}),
    REFERENCE: (1, {"engine": "auto"}),
    "native, float32": (1, {"engine": "auto-single"}),
    "native, float32, N=10, twice as long": (2, {"engine": "auto-single", "samples": 10}),
}
DRAWS = 10  # estimates of the ELBO, averaged, each time the clock stops
AVERAGED = 5  # such averages in the running mean
TOLERANCE = 0.05  # of the ELBO for each recorded step


@dataclass(frozen=True, eq=False)
class Problem:
    """A training part, ready to be trained on."""

    config: PRSSMConfig
    data: TrainingData
    starts: StateSpaceModel
    steps: int

    @classmethod
    def of(cls, name: str, config: PRSSMConfig) -> "Problem":
        train, _ = datasets.load(name)
        record = Scaler.fit([train]).scale(train)
        cut = windows.sliding([record], config.horizon)
        config = config.resolved([record])
        return cls(
            config,
            TrainingData.of(cut),
            starts=Starts(config, [record]).create("free", 1),
            steps=cut.steps,
        )

    def objective(self) -> Objective:
        c = self.config
        return Objective(
            c.horizon,
            c.batch,
            c.samples,
            window=c.recognition_window,
            engine=c.engine,
            draws=c.draws,
            likelihood=c.likelihood,
        )

    def schedule(self) -> Schedule:
        c = self.config
        return Schedule(
            c.iterations,
            c.learning_rate,
            c.final_learning_rate,
            ramp=round(c.kl_warmup * c.iterations),
            clip=c.gradient_clip * self.steps,
        )


@partial(jax.jit, static_argnames="objective")
def estimate(
    objective: Objective, models: StateSpaceModel, data: TrainingData, keys: jax.Array
) -> jax.Array:
    """The ELBO of the only restart, averaged over the draws of `keys`."""
    model = jax.tree.map(lambda leaf: leaf[0], models)
    return jnp.mean(jax.lax.map(lambda key: objective(model, data, key), keys))


def measure(
    name: str, configuration: str, iterations: int, seed: int, run_iterations: int
) -> dict[str, Any]:
    """One configuration on one set.

    Its curve, the clock at each point of it, and what compilation took.
    """
    config = PAPER.replace(
        iterations=iterations, restarts=1, seed=seed, **CONFIGURATIONS[configuration][1]
    )
    load = os.getloadavg()[0]
    with double_precision():
        problem = Problem.of(name, config)
        objective = problem.objective()
        schedule = problem.schedule()
        key = jax.random.key(seed)
        judge = replace(objective, samples=PAPER.samples, engine="auto")
        draws = jax.random.split(jax.random.key(seed + 1), DRAWS)
        state = initial_state(problem.starts)
        first, second = (
            float(advance(objective, state, problem.data, schedule=schedule, key=key)["seconds"])
            for _ in range(2)
        )
        seconds = []
        elbo = []
        while state["iteration"] < run_iterations:
            state = advance(objective, state, problem.data, schedule=schedule, key=key)
            seconds.append(float(state["seconds"]))
            if configuration != BEFORE:
                elbo.append(float(estimate(judge, state["parameters"], problem.data, keys=draws)))
    return {
        "set": name,
        "configuration": configuration,
        "iterations": iterations,
        "seed": seed,
        "steps": problem.steps,
        "compile_seconds": first - second,
        "seconds": seconds,
        "elbo": elbo,
        "load": load,
        "provenance": provenance(),
    }


def running_mean(elbo: list[float]) -> np.ndarray:
    """The mean of the last estimates at each point; of fewer at the beginning."""
    return np.array(
        [np.mean(elbo[max(0, end - AVERAGED) : end]) for end in range(1, len(elbo) + 1)]
    )


def points_to(elbo: list[float], goal: float) -> int | None:
    """At how many points of the curve its running mean has reached the goal.

    None where it never does.
    """
    there = np.flatnonzero(running_mean(elbo) >= goal)
    return int(there[0]) + 1 if len(there) else None


def table(records: list[dict[str, Any]]) -> str:
    """A row for each set: the goal, and seconds (iterations) of each configuration."""
    head = ["", "goal, ELBO a step", *CONFIGURATIONS, "times faster"]
    lines = [head, ["---"] * len(head)]
    for name in dict.fromkeys(record["set"] for record in records):
        found = {record["configuration"]: record for record in records if record["set"] == name}
        if len(found) == len(CONFIGURATIONS):
            lines.append([name.capitalize(), *_row(found)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(found: dict[str, dict[str, Any]]) -> list[str]:
    reference = found[REFERENCE]
    before = found[BEFORE]
    goal = float(running_mean(reference["elbo"])[-1]) - TOLERANCE * reference["steps"]
    points = points_to(reference["elbo"], goal)
    assert points is not None  # its end is above the goal by definition
    taken = points * before["seconds"][-1] / len(before["seconds"])
    cells = [f"{goal / reference['steps']:.3f}", f"{taken:.0f} s ({CHUNK * points})"]
    best = np.inf
    for record in (found[name] for name in CONFIGURATIONS if name != BEFORE):
        points = points_to(record["elbo"], goal)
        if points is None:
            missed = (goal - float(running_mean(record["elbo"])[-1])) / record["steps"]
            cells.append(f"not reached ({missed:.3f} below)")
        else:
            cells.append(f"{record['seconds'][points - 1]:.1f} s ({CHUNK * points})")
            best = min(best, record["seconds"][points - 1])
    return [*cells, f"{taken / best:.0f}"]


def text(records: list[dict[str, Any]]) -> str:
    """The section of the page."""
    origin = records[0]["provenance"]
    compiled = {
        name: [r["compile_seconds"] for r in records if r["configuration"] == name]
        for name in CONFIGURATIONS
    }
    told = ", ".join(
        f"{name}: {np.median(seconds):.1f}" for name, seconds in compiled.items() if seconds
    )
    loads = [record["load"] for record in records]
    iterations = records[0]["iterations"]
    return f"""## Time to accuracy

Generated by `python benchmarks/time_to_accuracy.py --docs docs/studies/performance.md`. Seconds of
training (iterations in brackets), compilation not counted, until the running mean of the training
ELBO comes within {TOLERANCE} for each recorded step of what the paper preset, one restart, reaches
after {iterations} iterations in float64. The ELBO is estimated by the same draws in all columns.
Training in float32 draws other noise, which alone changes the end of a run by about that
tolerance. An iteration of the oracle is one of `native` in float64, to rounding: its column is the
same number of them times its measured time for each. The last column compares it with the fastest.

{table(records)}

Compilation, seconds, median over the sets: {told}.
{origin["machine"]}; commit {origin["commit"]}; load average {min(loads):.1f} to {max(loads):.1f}
when the runs began.
"""


def kept_or_measured(file: Path, **work: Any) -> dict[str, Any]:
    """The record of an earlier call, else a new one; `work` is what `measure` takes."""
    if not file.exists():
        with replacing(file) as stream:
            stream.write(json.dumps(measure(**work)).encode())
    return json.loads(file.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument(
        "--scan-iterations",
        type=int,
        default=100,
        help="iterations of the oracle that are really run",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--docs", type=Path, help="also write the section into this page")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    options = parser.parse_args()
    records = []
    for name in options.sets:
        for index, (configuration, (times, _)) in enumerate(CONFIGURATIONS.items()):
            iterations = times * options.iterations
            run = (
                min(options.scan_iterations, iterations) if configuration == BEFORE else iterations
            )
            file = (
                options.out
                / "time-to-accuracy"
                / f"{name}-{index}-{iterations}-{run}-{options.seed}.json"
            )
            records.append(
                kept_or_measured(
                    file,
                    name=name,
                    configuration=configuration,
                    iterations=iterations,
                    seed=options.seed,
                    run_iterations=run,
                )
            )
            print(f"{name}, {configuration}: {records[-1]['seconds'][-1]:.1f} s", flush=True)
    print(text(records))
    if options.docs:
        page = options.docs.read_text() if options.docs.exists() else ""
        options.docs.write_text(with_section(page, "time-to-accuracy", text(records)))


if __name__ == "__main__":
    main()
