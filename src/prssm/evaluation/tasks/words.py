"""A fit as a person would write it: the command line, and the same in Python.

fit_words(settings)     # ['prssm', 'fit', 'log.csv', '--inputs=u', ...]
fit_script(settings)    # the text of a program
"""

from typing import Any

from prssm.evaluation.tasks.settings import COLUMN_NAMES, DataSettings, FitSettings
from prssm.models.registry import method


def fit_words(settings: FitSettings) -> list[str]:
    """The words of `prssm fit` that make these settings; `shlex.join` makes one line of them.

    Every value is tied to its word by '=', so that no name is taken for another option.
    """
    data = settings.data
    words = ["prssm", "fit", *(_not_an_option(word) for word in data.data)]
    words += [f"--inputs={name}" for name in data.inputs or ()]
    words += [f"--outputs={name}" for name in data.outputs or ()]
    words += [f"--{_word(name)}={value}" for name, value in _told(data).items()]
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
    budget = "" if settings.budget is None else f", budget={settings.budget:g}"
    lines = [
        '"""The fit that was made in the studio; run it in the project folder."""',
        "",
        "import prssm",
        "",
        *_reading("train", settings.data.data[0], settings.data),
        *_test_lines(settings.data),
        f"model = prssm.{kind.__name__}({', '.join(options)})",
        f"model.fit(train{budget})",
        f"model.save({str(settings.out)!r})",
        "",
        "run = model.simulate(test)",
        "for name, value in model.evaluate(test).items():",
        '    print(f"{name}: {value:.4g}")',
        "",
    ]
    return "\n".join(lines)


def _reading(name: str, path: str, data: DataSettings) -> list[str]:
    given: dict[str, Any] = {}
    for column in ("inputs", "outputs"):
        if getattr(data, column) is not None:
            given[column] = list(getattr(data, column))
    given |= {key: value for key, value in _told(data).items() if key not in ("test", "split")}
    told = "".join(f"    {key}={value!r},\n" for key, value in given.items())
    return [f"{name} = prssm.read(\n    {path!r},\n{told})"]


def _test_lines(data: DataSettings) -> list[str]:
    if data.test is not None:
        return _reading("test", data.test, data)
    if data.split is not None:
        return [
            f"edge = round({data.split!r} * len(train))",
            "train, test = train[:edge], train[edge:]",
        ]
    return ["test = train  # nothing was kept back"]


def _told(data: DataSettings) -> dict[str, Any]:
    """What was said about the data besides the names of inputs and outputs."""
    names = [*(name for name in COLUMN_NAMES if name not in ("inputs", "outputs")), "test", "split"]
    values = {name: getattr(data, name) for name in names}
    return {name: value for name, value in values.items() if value not in (None, False)}


def _word(name: str) -> str:
    return name.replace("_", "-")


def _not_an_option(word: str) -> str:
    """A file name that begins with '-' would be taken for an option."""
    return f"./{word}" if word.startswith("-") else word
