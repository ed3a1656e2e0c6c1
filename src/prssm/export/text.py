"""Every file of exported text is rendered here, from a template in `export/templates`."""

import json
from typing import Any

import numpy as np


def render(template: str, *, escape: bool = False, **values: Any) -> str:
    """The text of a file; with `escape`, values are escaped for XML. A missing one is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to import

    environment = Environment(
        loader=PackageLoader("prssm.export"),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["numbers"] = numbers
    return environment.get_template(template).render(**values)


def numbers(array: np.ndarray) -> str:
    """An array as C writes it; single precision where the array is."""
    if array.ndim > 1:
        return "{" + ",\n     ".join(numbers(part) for part in array) + "}"
    suffix = "f" if array.dtype == np.float32 else ""
    words = [_number(value, suffix) for value in array]
    lines = [", ".join(words[at : at + 4]) for at in range(0, len(words), 4)]
    return "{" + ",\n      ".join(lines) + "}"


def _number(value: np.floating, suffix: str) -> str:
    """The shortest text that is read back as the same number."""
    text = str(value)
    return (text if "." in text or "e" in text else f"{text}.0") + suffix


def in_comment(name: str) -> str:
    """A name in quotes that can neither end a comment nor begin a line."""
    quoted = json.dumps(name)
    for bad in ("*/", "/*", "//", "??"):
        while bad in quoted:
            quoted = quoted.replace(bad, " ".join(bad))
    return quoted
