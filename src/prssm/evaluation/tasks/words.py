"""A fit as a person would write it: the command line, and the same in Python.

fit_words(settings)     # ['prssm', 'fit', 'log.csv', '--inputs=u', ...]
fit_script(settings)    # the text of a program
"""

from typing import Any

from prssm.evaluation.tasks.settings import COLUMN_NAMES, DataSettings, FitSettings
from prssm.models.registry import method

_PARTS = ("test", "split", "rows", "test_rows")


def fit_words(settings: FitSettings) -> list[str]:
    """The words of `prssm fit` that make these settings; `shlex.join` makes one line of them.

    Every value is tied to its word by '=', so that no name is taken for another option.
    """
    data = settings.data
    words = ["prssm", "fit", *(_not_an_option(word) for word in data.data)]
    words += [f"--inputs={name}" for name in data.inputs or ()]
    words += [f"--outputs={name}" for name in data.outputs or ()]
    words += [f"--{_word(name)}={value}" for name, value in _told(data).items()]
    words += [f"--preprocess={step}" for step in settings.preprocess]
    words.append(f"--method={settings.method}")
    if settings.preset != FitSettings.preset:
        words.append(f"--preset={settings.preset}")
    words += [f"--{_word(name)}={value}" for name, value in settings.options.items()]
    if settings.budget is not None:
        words.append(f"--budget={settings.budget:g}s")
    words.append(f"--out={settings.out}")
    if settings.resume:
        words.append("--resume")
    return words


def fit_script(settings: FitSettings) -> str:
    """A program that does the same, with the scores of the free run at its end."""
    kind = method(settings.method)
    parsed = kind.Config.parse(settings.options)
    options = [f"{name}={value!r}" for name, value in parsed.items()]
    if settings.preset != FitSettings.preset:
        options.insert(0, f"preset={settings.preset!r}")
    how = "" if settings.budget is None else f", budget={settings.budget:g}"
    how += f", preprocess={list(settings.preprocess)!r}" if settings.preprocess else ""
    lines = [
        '"""The fit that was made in the studio; run it in the project folder."""',
        "",
        "import prssm",
        "",
        *_data_lines(settings.data),
        f"model = prssm.{kind.__name__}({', '.join(options)})",
        f"model.fit(train{how})",
        f"model.save({str(settings.out)!r})",
        "",
        "run = model.simulate(test)",
        "for name, value in model.evaluate(test).items():",
        '    print(f"{name}: {value:.4g}")',
        "",
    ]
    return "\n".join(lines)


def _data_lines(data: DataSettings) -> list[str]:
    """Reads what trains and what is scored: lists of records."""
    lines = [_reading("records", list(data.data), data)]
    if data.test is not None:
        return [*lines, "train = " + _rows(data.rows), _reading("test", [data.test], data)]
    if data.split is not None:
        edge = f"round({data.split!r} * len(record))"
        return [
            *lines,
            f"train = [record[: {edge}] for record in records]",
            f"test = [record[{edge} :] for record in records]",
        ]
    if data.test_rows is None:
        return [*lines, "train = " + _rows(data.rows), "test = train  # nothing was kept back"]
    return [*lines, "train = " + _rows(data.rows), "test = " + _rows(data.test_rows)]


def _rows(text: str | None) -> str:
    """The rows of a text such as '0:700,900:', as an expression."""
    if text is None:
        return "records"
    slices = ", ".join(f"record[{part}]" for part in text.split(","))
    return f"[part for record in records for part in ({slices},)]"


def _reading(name: str, paths: list[str], data: DataSettings) -> str:
    given: dict[str, Any] = {}
    for column in ("inputs", "outputs"):
        if getattr(data, column) is not None:
            given[column] = list(getattr(data, column))
    given |= {key: value for key, value in _told(data).items() if key not in _PARTS}
    told = "".join(f"    {key}={value!r},\n" for key, value in given.items())
    return f"{name} = prssm.read(\n    {paths!r},\n{told})"


def _told(data: DataSettings) -> dict[str, Any]:
    """What was said about the data besides the names of inputs and outputs."""
    names = [*(name for name in COLUMN_NAMES if name not in ("inputs", "outputs")), *_PARTS]
    values = {name: getattr(data, name) for name in names}
    return {name: value for name, value in values.items() if value not in (None, False)}


def _word(name: str) -> str:
    return name.replace("_", "-")


def _not_an_option(word: str) -> str:
    """A file name that begins with '-' would be taken for an option."""
    return f"./{word}" if word.startswith("-") else word
