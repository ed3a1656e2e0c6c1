"""What is to be run: data sets x methods (with options) x seeds.

All names and options are checked before anything starts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prssm.data.sets import catalogue
from prssm.evaluation import comparison
from prssm.evaluation.benchmark import data
from prssm.evaluation.benchmark.published import Setting, published
from prssm.evaluation.jobs.job_record import key_of
from prssm.foundation.errors import OptionError, did_you_mean
from prssm.models.registry import METHODS, method

PAPER_SETS = ("actuator", "ballbeam", "drives", "furnace", "dryer")


@dataclass(frozen=True)
class Variant:
    """A method with its options: one row of the table.

    Options are kept as sorted pairs, so that variants can be compared.
    """

    label: str
    method: str
    preset: str
    options: tuple[tuple[str, Any], ...] = ()

    def build(self, seed: int) -> Any:
        """The estimator, not fitted."""
        return method(self.method)(self.preset, **dict(self.options), seed=seed)

    def configuration(self) -> dict[str, Any]:
        """Every option with its value, defaults too: a changed default is another experiment."""
        return {
            name: value for name, value in self.build(0).config.to_dict().items() if name != "seed"
        }

    def on(self, dataset: str) -> "Variant":
        """The same row of the table on a data set.

        A method with a lag window takes the one that the paper used there, unless lags were named.
        """
        if "lags" not in method(self.method).Config.names() or "lags" in dict(self.options):
            return self
        lags = catalogue.describe(dataset).lags
        return (
            self
            if lags is None
            else replace(self, options=pairs(dict(self.options) | {"lags": lags}))
        )

    def changed(self, **options: Any) -> "Variant":
        """The same method with some options changed; the label says which."""
        settings = ",".join(f"{name}={value}" for name, value in options.items())
        label = f"{self.label}{',' if ':' in self.label else ':'}{settings}"
        return Variant(label, self.method, self.preset, options=pairs(dict(self.options) | options))


@dataclass(frozen=True)
class Experiment:
    """One data set, one method with its options, one seed.

    The options include those that the protocol of the data set fixes.
    """

    dataset: str
    variant: Variant
    seed: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variant", self.variant.on(self.dataset))
        variant = self.variant
        key = key_of(self.dataset, variant.method, variant.configuration(), self.seed)
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        return f"{self.dataset} {self.variant.label} seed {self.seed}"


def experiments(
    datasets: Iterable[str], variants: Iterable[Variant], seeds: int
) -> list[Experiment]:
    """All combinations, seed by seed, so that an early look at the results shows every method."""
    variants = list(variants)
    datasets = list(datasets)
    return [
        Experiment(dataset, variant, seed)
        for seed in range(seeds)
        for dataset in datasets
        for variant in variants
    ]


def chosen_settings(names: Sequence[str] | None) -> list[Setting]:
    """Of the paper's settings, those beside its main one that were asked for; 'all' are all."""
    known = {
        name: setting for name, setting in published().settings.items() if name != published().main
    }
    for name in names or ():
        if name not in (*known, published().main, "all"):
            raise OptionError(
                f"--supplement: unknown setting {name!r}.{did_you_mean(name, [*known, 'all'])}"
            )
    return [
        setting for name, setting in known.items() if names and (name in names or "all" in names)
    ]


def in_setting(planned: Iterable[Experiment], setting: Setting) -> list[Experiment]:
    """The same experiments in another setting of the paper, on its data sets.

    The paper varied some methods only; the others, and rows whose options say the setting, stay as
    they are.
    """
    return [
        Experiment(experiment.dataset, _in_setting(experiment.variant, setting), experiment.seed)
        for experiment in planned
        if experiment.dataset in setting.rmse
    ]


def _in_setting(variant: Variant, setting: Setting) -> Variant:
    if (
        variant.method not in published().varied
        or setting.options.keys() & dict(variant.options).keys()
    ):
        return variant
    options = pairs(dict(variant.options) | dict(setting.options))
    return replace(variant, label=f"{variant.label} [{setting.name}]", options=options)


def chosen_datasets(names: Sequence[str] | None) -> list[str]:
    """The named data sets, by default the paper's five.

    Each is loaded now, so that a missing file is said at the start; the experiments that run in
    this process share what was loaded.
    """
    chosen = list(dict.fromkeys(names or PAPER_SETS))
    for name in chosen:
        catalogue.describe(name)  # a misspelt name is said before the first download
    for name in chosen:
        data.load_parts(name)
    return chosen


def chosen_variants(
    specs: Sequence[str] | None, preset: str | None = None, settings: Sequence[str] = ()
) -> list[Variant]:
    """Variants from texts like 'prssm' or 'prssm:scheme=full,iterations=100'.

    The rows of the plain models are always there, and come first.

    `preset` is for every method that has it. A setting 'key=value' is for every chosen method that
    has such an option, 'method.key=value' for that method alone.
    """
    specs = list(dict.fromkeys([*comparison.BASELINES, *(specs or METHODS)]))
    given = dict(assignment(text, "--options") for text in settings)
    names = list(dict.fromkeys(spec.partition(":")[0] for spec in specs))
    check_preset(preset, names)
    for key in given:
        _check_setting(key, names)
    return [_variant(spec, preset, given) for spec in specs]


def variant_of(spec: str, preset: str | None = None, settings: Sequence[str] = ()) -> Variant:
    """One variant from its text; settings for other methods are left to them."""
    return _variant(spec, preset, dict(assignment(text, "--options") for text in settings))


def _variant(spec: str, preset: str | None, given: Mapping[str, str]) -> Variant:
    name, _, text = spec.partition(":")
    kind = method(name)
    own = dict(assignment(part, f"method {spec!r}") for part in text.split(",")) if text else {}
    own_preset = own.pop("preset", None)
    fallback = preset if preset is not None and preset in kind.PRESETS else "default"
    shared = {
        key: value for key, value in given.items() if key.replace("-", "_") in kind.Config.names()
    }
    private = {
        key.partition(".")[2]: value for key, value in given.items() if key.startswith(f"{name}.")
    }
    options = kind.Config.parse(shared | private | own)
    if "seed" in options:
        raise OptionError(
            "option seed: the benchmark gives each run its seed; say how many with --seeds"
        )
    variant = Variant(spec, name, own_preset or fallback, options=pairs(options))
    variant.build(0)  # an option out of range is said now, not after hours of other runs
    return variant


def pairs(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(options.items()))


def assignment(text: str, where: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise OptionError(f"{where}: expected key=value, got {text!r}")
    return key.strip(), value.strip()


def check_preset(preset: str | None, names: Sequence[str]) -> None:
    known = list(dict.fromkeys(known for name in names for known in method(name).PRESETS))
    if preset is not None and preset not in known:
        raise OptionError(
            f"--preset: no chosen method has a preset {preset!r}.{did_you_mean(preset, known)}"
        )


def _check_setting(key: str, names: Sequence[str]) -> None:
    name, dot, option = key.rpartition(".")
    if dot and name not in names:
        raise OptionError(
            f"--options {key}: {name!r} is not one of the chosen methods."
            f"{did_you_mean(name, names)}"
        )
    owners = [name] if dot else names
    known = list(dict.fromkeys(known for owner in owners for known in method(owner).Config.names()))
    if option.replace("-", "_") not in known:
        raise OptionError(
            f"--options {key}: no chosen method has an option {option!r}."
            f"{did_you_mean(option, known)}"
        )
