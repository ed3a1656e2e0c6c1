"""The benchmark's tables: ours beside the published, best and second best marked."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from prssm.evaluation.benchmark.plan import Experiment
from prssm.evaluation.benchmark.published import Reference, Setting, published
from prssm.evaluation.benchmark.summary import (
    JobRecords,
    SeedScores,
    best_two,
    failures,
    on_test,
    summarise,
)
from prssm.report.tables import Cell, Table

NOTE = (
    "Mean (sample standard deviation) over seeds. Best and second best of each column are marked, "
    "compared as printed; "
    "a row with failed or missing runs is shown but not marked. Every test step counts, but for "
    "those that a data set's "
    "own protocol leaves out (none of the paper's five)."
)
COVERAGES = ("coverage_50", "coverage_80", "coverage_95")


def rmse_table(
    planned: Sequence[Experiment], records: JobRecords, setting: Setting | None = None
) -> Table:
    """Test RMSE of the free run: our rows, then the paper's in one setting (its main one)."""
    setting = setting or published().settings[published().main]
    datasets = _datasets(planned)
    ours = summarise(planned, records, on_test("rmse_scored"))
    texts = {
        label: {d: cell_text(row[d]) for d in datasets if d in row} for label, row in ours.items()
    }
    costs = _costs(ours)
    for method, name in published().labels.items():
        figures = {
            d: setting.rmse[d][method] for d in datasets if method in setting.rmse.get(d, {})
        }
        texts[f"{name} (paper)"] = {
            d: mean_std(figure.mean, figure.std) for d, figure in figures.items()
        }
        costs |= {(f"{name} (paper)", d): _as_printed(figure.mean) for d, figure in figures.items()}
    return _marked(
        f"Test RMSE of the free run; paper: {setting.title}", datasets, texts, costs=costs
    )


def likelihood_table(planned: Sequence[Experiment], records: JobRecords) -> Table:
    """Log-likelihood per sample of the test part, in scaled units: higher is better."""
    datasets = _datasets(planned)
    ours = summarise(planned, records, on_test("log_likelihood_scaled"))
    texts = {
        label: {d: cell_text(row[d]) for d in datasets if d in row} for label, row in ours.items()
    }
    costs = {place: -value for place, value in _costs(ours).items()}
    for reference in published().references:
        if reference.log_likelihood_scaled:
            known = {d: v for d, v in reference.log_likelihood_scaled.items() if d in datasets}
            texts[reference.label] = {d: f"{value:.2f}" for d, value in known.items()}
            costs |= {(reference.label, d): -value for d, value in known.items()}
    return _marked(
        "Log-likelihood per test sample, scaled units (higher is better)",
        datasets,
        texts,
        costs=costs,
    )


def coverage_table(planned: Sequence[Experiment], records: JobRecords) -> Table:
    """Share of test measurements inside the 50, 80 and 95 % bands, mean over seeds."""
    datasets = _datasets(planned)
    levels = [summarise(planned, records, on_test(name)) for name in COVERAGES]
    texts = {
        label: {d: _coverage_text([level[label][d] for level in levels]) for d in row}
        for label, row in levels[0].items()
    }
    return _marked(
        "Share of test measurements inside the 50 / 80 / 95 % band", datasets, texts, costs={}
    )


def cost_table(planned: Sequence[Experiment], records: JobRecords) -> Table:
    """Seconds to train, mean over seeds.

    Then what a method's whole row took, free runs included, and where it ran.
    """
    datasets = _datasets(planned)
    seconds = summarise(planned, records, lambda record: record["seconds"]["fit"])
    table = _marked(
        "Seconds to train",
        datasets,
        {label: {d: cell_text(row[d], ".1f") for d in row} for label, row in seconds.items()},
        costs={},
    )
    rows = [
        [
            *row,
            *_whole_row(
                [records[e.key] for e in planned if e.variant.label == row[0] and e.key in records]
            ),
        ]
        for row in table.rows
    ]
    return Table(table.title, [*table.header, "all runs and sets", "device"], rows)


def _whole_row(runs: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """The seconds of all runs of a row together, and the devices they ran on."""
    spent = sum(seconds or 0.0 for run in runs for seconds in run["seconds"].values())
    return [f"{spent:.1f}", "; ".join(sorted({run["device"] for run in runs}))]


def reference_table(datasets: Sequence[str]) -> Table:
    """Rows that are not in the paper but must stand beside it."""
    known = [
        d for d in datasets if any(d in reference.rmse for reference in published().references)
    ]
    rows = [
        [reference.label, *_reference_cells(reference, known), reference.source]
        for reference in published().references
    ]
    return Table("Reference figures: test RMSE", ["", *known, "source"], rows)


def failure_table(planned: Sequence[Experiment], records: JobRecords) -> Table | None:
    """Every failed experiment with its reason; None if there is none."""
    rows: list[list[Cell]] = [
        [e.dataset, e.variant.label, e.seed, why] for e, why in failures(planned, records)
    ]
    return (
        Table("Failed experiments", ["data set", "method", "seed", "reason"], rows)
        if rows
        else None
    )


def experiments_csv(planned: Sequence[Experiment], records: JobRecords) -> str:
    """One line for each experiment with all its metrics, for other programs.

    What failed has no numbers.
    """
    found = {e.key: (e, records[e.key]) for e in planned if e.key in records}
    lines = [_flat(experiment, record) for experiment, record in found.values()]
    header = list(dict.fromkeys(name for line in lines for name in line))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def _flat(experiment: Experiment, record: Mapping[str, Any]) -> dict[str, Any]:
    line = {
        "dataset": experiment.dataset,
        "method": record["method"],
        "label": experiment.variant.label,
        "preset": record["preset"],
        "seed": experiment.seed,
        "outcome": record["outcome"],
        "reason": record["reason"],
    }
    line |= {f"seconds_{name}": value for name, value in record["seconds"].items()}
    line |= {name: record[name] for name in ("iterations", "device", "commit", "finished", "key")}
    for part, metrics in (record["metrics"] or {}).items():
        line |= {f"{part}_{name}": value for name, value in metrics.items()}
    return line


def digits(value: float) -> str:
    """The format of a number: three decimals, as in the paper.

    Very large and very small numbers keep their leading digits instead.
    """
    if value == 0 or 0.01 <= abs(value) < 100:
        return ".3f"
    return ".1f" if 100 <= abs(value) < 1e5 else ".3g"


def mean_std(mean: float, std: float | None, form: str = "") -> str:
    """'0.502 (0.031)': the deviation with as many decimals as the mean."""
    form = form or digits(mean)
    return f"{mean:{form}} ({'-' if std is None else format(std, form)})"


def cell_text(runs: SeedScores, form: str = "") -> str:
    """'0.502 (0.031)', and what is wrong with it if something is."""
    text = "no value" if runs.mean is None else mean_std(runs.mean, runs.std, form)
    return text + _troubles(runs)


def _coverage_text(levels: Sequence[SeedScores]) -> str:
    """'48 / 79 / 94 %', and what is wrong with it if something is."""
    means = [runs.mean for runs in levels if runs.mean is not None]
    text = " / ".join(f"{100 * mean:.0f}" for mean in means) + " %" if means else "no value"
    return text + _troubles(levels[0])


def _troubles(runs: SeedScores) -> str:
    total = len(runs.values) + runs.failed + runs.missing
    counts = {"failed": runs.failed, "missing": runs.missing}
    return "".join(f", {count} of {total} {word}" for word, count in counts.items() if count)


def _reference_cells(reference: Reference, datasets: Sequence[str]) -> list[str | None]:
    known = reference.rmse
    return [
        mean_std(known[d].mean, known[d].std).removesuffix(" (-)") if d in known else None
        for d in datasets
    ]


def _datasets(planned: Sequence[Experiment]) -> list[str]:
    return list(dict.fromkeys(experiment.dataset for experiment in planned))


def _costs(rows: Mapping[str, Mapping[str, SeedScores]]) -> dict[tuple[str, str], float]:
    """Means of the cells without failed runs."""
    return {
        (label, d): _as_printed(cell.mean)
        for label, row in rows.items()
        for d, cell in row.items()
        if cell.comparable and cell.mean is not None
    }


def _as_printed(value: float) -> float:
    """The number a reader sees, so that equal prints are equal places."""
    return float(format(value, digits(value)))


def _marked(
    title: str,
    datasets: Sequence[str],
    texts: Mapping[str, Mapping[str, str]],
    costs: Mapping[tuple[str, str], float],
) -> Table:
    """Rows are methods, columns data sets; a row without any cell is left out."""
    labels = [label for label, row in texts.items() if row]
    best = set()
    second = set()
    for j, dataset in enumerate(datasets):
        places = best_two(
            {label: costs[label, dataset] for label in labels if (label, dataset) in costs}
        )
        best |= {(labels.index(label), j + 1) for label in places[0]}
        second |= {(labels.index(label), j + 1) for label in places[1]}
    rows = [[label, *(texts[label].get(dataset) for dataset in datasets)] for label in labels]
    return Table(title, ["", *datasets], rows, best=frozenset(best), second=frozenset(second))
