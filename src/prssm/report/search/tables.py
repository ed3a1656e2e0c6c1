"""The tables of a search: configurations, best first, and what was stopped or failed."""

from collections.abc import Mapping, Sequence
from typing import Any

from prssm.evaluation.jobs.job_record import OK
from prssm.evaluation.search.choice import Configuration, configurations, unbeaten
from prssm.evaluation.search.search import Found
from prssm.evaluation.search.trial import shown
from prssm.report.tables import METRICS, Cell, ScoreRow, Table, score_table

METRIC_COLUMNS = ("rmse", "nrmse", "log_likelihood_scaled", "coverage_95")
MOST_ROWS = 20  # of a table on a terminal; the page and the CSV file have all
NOTE = (
    "Held-out error of the free run: trials are fitted to a part of the training data and judged "
    "on the rest of it. "
    "Configurations are ordered by their mean over seeds; the plain models stand below, for "
    "comparison."
)


def found_table(found: Found, most: int | None = None) -> Table:
    """One row a configuration with the mean over its seeds, best first, then the plain models."""
    ranked = [c for c in configurations(_tried(found.records), found.by) if c.finished]
    plain = [c for c in configurations(_plain_models(found.records), found.by) if c.finished]
    names = option_names(found)
    seeds = any(len(configuration.trials) > 1 for configuration in ranked)
    rows: list[list[Cell]] = [
        _row(str(i + 1), configuration, names, seeds=seeds)
        for i, configuration in enumerate(ranked[:most])
    ]
    rows += [
        _row(configuration.trials[0]["label"], configuration, names, seeds=seeds)
        for configuration in plain
    ]
    header = [
        "",
        *names,
        *(["seeds"] if seeds else []),
        *(METRICS[key].title for key in METRIC_COLUMNS),
        "seconds",
    ]
    first = len(header) - len(METRIC_COLUMNS) - 1
    formats = {first + j: METRICS[key].format for j, key in enumerate(METRIC_COLUMNS)} | {
        len(header) - 1: ".1f"
    }
    left_out = (
        f" (first {most} of {len(ranked)})" if most is not None and len(ranked) > most else ""
    )
    by = {"rmse": "RMSE", "log-likelihood": "log-likelihood"}[found.by]
    title = f"Configurations by {by} on held-out training data ({found.validation}){left_out}"
    return Table(
        title, header, rows, formats, best=frozenset({(0, first)}) if ranked else frozenset()
    )


def unfinished_table(found: Found) -> Table | None:
    """Trials that were stopped or failed, with their reasons."""
    records = [record for record in found.records if record["outcome"] != OK]
    rows: list[list[Cell]] = [
        [record["label"], record["outcome"], record["reason"]] for record in records
    ]
    return (
        Table("Stopped and failed trials", ["trial", "outcome", "reason"], rows) if rows else None
    )


def trials_table(found: Found) -> Table:
    """Every trial in the order in which it ended, for a CSV file."""
    names = [dimension.name for dimension in found.space]
    header = [
        "key",
        "outcome",
        *names,
        *METRIC_COLUMNS,
        "rmse_after_warmup",
        "seconds",
        "finished",
        "reason",
    ]
    rows: list[list[Cell]] = []
    for record in found.records:
        metrics = record["metrics"] or {}
        options = {
            "method": record["method"],
            "preset": record["preset"],
            "seed": record["seed"],
            **record["params"],
        }
        rows.append(
            [
                record["key"],
                record["outcome"],
                *(_plain(options, name) for name in names),
                *(metrics.get(key) for key in (*METRIC_COLUMNS, "rmse_after_warmup")),
                record["seconds"],
                record["finished"],
                record["reason"],
            ]
        )
    return Table("trials", header, rows)


def chosen_table(chosen: Mapping[str, Any]) -> Table:
    """The chosen model, refitted to all training data, beside plain models on the test part."""
    return score_table(
        [ScoreRow(label, row["scores"], row["note"]) for label, row in chosen["scores"].items()],
        title="Test data, free run (the chosen model was refitted to all training data)",
    )


def verdict(record: dict[str, Any]) -> str:
    """How a trial ended, in a few words."""
    if record["outcome"] != OK:
        return f"{record['outcome']}: {record['reason']}"
    return f"held-out RMSE {record['metrics']['rmse']:.4g}, {record['seconds']:.1f} s"


def warning(found: Found) -> str:
    """One line where the search has learnt less than a plain model knows; else nothing."""
    names = unbeaten(found.records, found.by)
    return (
        f"no configuration beats the {' and the '.join(names)} model on the held-out data"
        if names
        else ""
    )


def option_names(found: Found) -> list[str]:
    return [dimension.name for dimension in found.space if dimension.name != "seed"]


def _tried(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [record for record in records if not record["baseline"]]


def _plain_models(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [record for record in records if record["baseline"]]


def _row(label: str, configuration: Configuration, names: Sequence[str], seeds: bool) -> list[Cell]:
    finished = configuration.finished
    count = [f"{len(finished)} of {len(configuration.trials)}"] if seeds else []
    return [
        label,
        *(
            shown(configuration.params[name]) if name in configuration.params else ""
            for name in names
        ),
        *count,
        *(configuration.mean(key) for key in METRIC_COLUMNS),
        sum(record["seconds"] for record in finished) / len(finished),
    ]


def _plain(options: Mapping[str, Any], name: str) -> Cell:
    if name not in options:
        return ""
    value = options[name]
    return value if isinstance(value, int | float) and not isinstance(value, bool) else shown(value)
