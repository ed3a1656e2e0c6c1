"""The parts of the reference that are made from the program: they cannot go stale.

    python docs/generated.py folder

`make docs` calls it. A new part is a function that gives Markdown and a line in `PARTS`; a page
takes it in by an `include` of `_generated/<name>.md`.
"""

import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

import prssm
from prssm.foundation import errors

SOURCE = Path(prssm.__file__).parent


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown; bars inside of cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", r"\|")


def commands() -> str:
    """Every command with its options, as `--help` has them."""
    from prssm.cli.main import app

    text = app.generate_docs(output_format="markdown")
    text = text[text.index("\n## prssm ") :].strip().replace("```console", "```text")
    # cyclopts takes the words by which this program was started for a part of the command
    return re.sub(r"^(prssm \w+) -m \S+", r"\1", text, flags=re.MULTILINE) + "\n"


def options() -> str:
    """Every option of every method, with its value in each preset."""
    from prssm.models.registry import METHODS, method

    parts = []
    for name in METHODS:
        kind = method(name)
        says = (kind.__doc__ or "").strip().splitlines()[0]
        rows = [
            [f"`{field.name}`", *_values(kind.PRESETS, field.name), _meaning(field)]
            for field in dataclasses.fields(kind.Config)
        ]
        header = ["option", *(f"`{preset}`" for preset in kind.PRESETS), "meaning"]
        parts.append(f"## `{name}`\n\n{says}\n\n{table(header, rows)}\n")
    return "\n".join(parts)


def _values(presets: dict[str, object], name: str) -> list[str]:
    values = [getattr(preset, name) for preset in presets.values()]
    return [f"`{getattr(value, '__qualname__', value)}`" for value in values]


def _meaning(field: "dataclasses.Field[object]") -> str:
    choices = field.metadata.get("choices")
    text = str(field.metadata.get("help", ""))
    return f"{text} (one of {', '.join(choices)})" if choices else text


def error_classes() -> str:
    """Every class of errors, what it means, and which class of Python it also is."""
    rows = []
    for name in sorted(prssm.__all__):
        kind = getattr(prssm, name)
        if isinstance(kind, type) and issubclass(kind, errors.PrssmError | errors.PrssmWarning):
            also = [base.__name__ for base in kind.__bases__ if base.__module__ == "builtins"]
            says = " ".join((kind.__doc__ or "").split())
            rows.append([f"`{name}`", ", ".join(f"`{base}`" for base in also), says])
    return table(["class", "is also", "when"], rows) + "\n"


def messages() -> str:
    """Every message with the file that says it; what is filled in stands in curly brackets."""
    found: dict[str, list[list[str]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            kind, text = _raised(node)
            if text:
                where = str(path.relative_to(SOURCE))
                found.setdefault(kind, []).append([f"`{_code(text)}`", f"`{where}`"])
    parts = [
        f"### {kind}\n\n{table(['message', 'file in `src/prssm/`'], sorted(rows))}\n"
        for kind, rows in sorted(found.items())
    ]
    return "\n".join(parts)


def _code(text: str) -> str:
    return text.replace("`", "'")


def _raised(node: ast.AST) -> tuple[str, str]:
    """The class and the message of a `raise` of ours, or nothing."""
    if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
        return "", ""
    call = node.exc
    kind = getattr(call.func, "id", "")
    is_ours = kind in prssm.__all__ and kind != "datasets"
    if not is_ours or not call.args:
        return "", ""
    return kind, _words(call.args[0])


def _words(node: ast.expr) -> str:
    """A text or a formatted text as it is written; nothing for what is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _words(node.left) + _words(node.right)
    if isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else _blank(part) for part in node.values
        ]
        return "".join(str(part) for part in parts)
    return ""


def _blank(part: ast.expr) -> str:
    """What is filled in, by the last word of its expression."""
    value = part.value if isinstance(part, ast.FormattedValue) else part
    names = [node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    names += [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return "{" + (names[0] if names else "...") + "}"


def metrics() -> str:
    """What `evaluate` gives, in the words of the tables."""
    from prssm.report.tables import METRICS

    rows = [
        [f"`{name}`", metric.title, metric.explanation, _direction(metric)]
        for name, metric in METRICS.items()
    ]
    return table(["key", "in tables", "meaning", "good is"], rows) + "\n"


def _direction(metric: object) -> str:
    target = getattr(metric, "target", None)
    if target is not None:
        return f"near {target:g}"
    return "large" if getattr(metric, "higher", False) else "small"


def data_sets() -> str:
    """The data sets that `prssm.datasets.load` and the commands know by name."""
    catalogue = importlib.import_module("prssm.data.sets.catalogue")
    rows = []
    for name in catalogue.names():
        about = catalogue.describe(name)
        kind = "simulated" if about.simulated else "recording"
        rows.append([f"`{name}`", kind, about.title])
    return table(["name", "kind", "what it is"], rows) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "options": options,
    "error-classes": error_classes,
    "messages": messages,
    "metrics": metrics,
    "data-sets": data_sets,
}


def write(folder: Path) -> None:
    """All parts as files of this folder; what has not changed keeps its time."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        path = folder / f"{name}.md"
        text = part()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
