"""`prssm methods`: what can be fitted, and every option with its meaning."""

import dataclasses
from typing import Annotated

from cyclopts import Parameter


def methods(
    name: Annotated[str | None, Parameter(help="A method, to see its options.")] = None,
) -> None:
    """List the methods, or the options of one of them with their values in each preset."""
    from prssm.models.registry import METHODS, method
    from prssm.report.tables import Table, print_table

    if name is None:
        kinds = {key: method(key) for key in METHODS}
        rows = [
            [key, (kind.__doc__ or "").strip().splitlines()[0], ", ".join(kind.PRESETS)]
            for key, kind in kinds.items()
        ]
        print_table(Table("methods", ["method", "what it is", "presets"], rows))
        print("prssm methods NAME lists the options of one.")
        return
    kind = method(name)
    rows = []
    for field in dataclasses.fields(kind.Config):
        values = [_shown(getattr(preset, field.name)) for preset in kind.PRESETS.values()]
        rows.append([f"--{field.name.replace('_', '-')}", *values, _meaning(field)])
    print_table(
        Table(
            f"options of {name}",
            ["option", *(f"[{preset}]" for preset in kind.PRESETS), "meaning"],
            rows,
        )
    )


def _shown(value: object) -> str:
    return getattr(value, "__qualname__", type(value).__name__) if callable(value) else str(value)


def _meaning(field: "dataclasses.Field[object]") -> str:
    help_text = field.metadata.get("help", "")
    choices = field.metadata.get("choices")
    return f"{help_text} (one of {', '.join(choices)})" if choices else help_text
