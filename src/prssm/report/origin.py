"""Where results come from, as rows of a page: told by the records, not by who prints them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def origin(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """When, on which machine and by which code the records were made; empty without any."""
    if not records:
        return []
    days = sorted(record["finished"] or "" for record in records)
    commits = distinct(record["commit"] or "not from a source tree" for record in records)
    if any((record["commit"] or "").endswith("+") for record in records):
        commits += " (+: with uncommitted changes)"
    return [
        ("Run", days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"),
        ("Machine", distinct(record["machine"] for record in records)),
        ("Device", distinct(record["device"] for record in records)),
        ("Commit", commits),
        ("Versions", distinct(_listed(record["versions"]) for record in records)),
    ]


def distinct(texts: Iterable[str]) -> str:
    """The different ones among some texts, in one line."""
    return "; ".join(sorted(set(texts)))


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())
