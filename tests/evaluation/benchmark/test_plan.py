"""What is planned: names and options are checked at once, and the key is what an experiment is."""

import benchmark_fakes
import pytest

from prssm.evaluation.benchmark.plan import (
    Experiment,
    Variant,
    chosen_datasets,
    chosen_settings,
    chosen_variants,
    experiments,
    in_setting,
    variant_of,
)
from prssm.evaluation.benchmark.published import published
from prssm.evaluation.benchmark.run import run_all
from prssm.evaluation.jobs.results import Results
from prssm.foundation.errors import DataError, OptionError


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    benchmark_fakes.install(monkeypatch)


def test_constant_and_linear_rows_are_always_there():
    assert [v.label for v in chosen_variants(["prssm"])] == ["constant", "linear", "prssm"]
    assert [v.label for v in chosen_variants(["linear", "prssm"])] == [
        "constant",
        "linear",
        "prssm",
    ]
    assert [v.label for v in chosen_variants(None)] == ["constant", "linear", "prssm"]


def test_all_combinations_seed_by_seed():
    planned = experiments(["toy", "drives"], chosen_variants(["prssm"]), 3)
    assert len(planned) == 2 * 3 * 3 == len({experiment.key for experiment in planned})
    assert [experiment.seed for experiment in planned] == [0] * 6 + [1] * 6 + [2] * 6


def test_preset_and_settings_reach_the_methods_that_have_them():
    constant, linear, ours, own = chosen_variants(
        ["prssm", "prssm:scheme=full,preset=default"], "paper", ["iterations=9", "prssm.offset=2"]
    )
    assert (constant.preset, constant.options) == ("default", ())
    assert (linear.preset, linear.options) == ("paper", (("iterations", 9),))
    assert (ours.preset, dict(ours.options)) == ("paper", {"iterations": 9, "offset": 2.0})
    assert (own.preset, dict(own.options)) == (
        "default",
        {"iterations": 9, "offset": 2.0, "scheme": "full"},
    )
    assert own.label == "prssm:scheme=full,preset=default"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"specs": ["prsm"]}, "unknown method 'prsm'. Did you mean 'prssm'?"),
        ({"specs": ["prssm:shceme=full"]}, "Did you mean 'scheme'?"),
        ({"specs": ["prssm:scheme"]}, "expected key=value, got 'scheme'"),
        ({"specs": ["prssm:preset=papr"]}, "Did you mean 'paper'?"),
        ({"specs": ["prssm"], "preset": "papr"}, "Did you mean 'paper'?"),
        ({"specs": ["prssm"], "settings": ["iteration=3"]}, "Did you mean 'iterations'?"),
        ({"specs": ["prssm"], "settings": ["iterations=-3"]}, "expected at least 0, got -3"),
        ({"specs": ["prssm"], "settings": ["prsm.iterations=3"]}, "Did you mean 'prssm'?"),
        (
            {"specs": ["prssm"], "settings": ["constant.iterations=3"]},
            "no chosen method has an option 'iterations'",
        ),
        ({"specs": ["prssm"], "settings": ["seed=3"]}, "--seeds"),
        (
            {"specs": ["prssm"], "settings": ["iterations"]},
            "--options: expected key=value, got 'iterations'",
        ),
    ],
)
def test_wrong_words_are_said_before_anything_runs(arguments, words):
    with pytest.raises(OptionError) as caught:
        chosen_variants(**arguments)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_benchmark_loads_each_data_set_once(monkeypatch, tmp_path):
    loads = []

    def load(name):
        loads.append(name)
        return benchmark_fakes.toy_data()

    benchmark_fakes.install_data(monkeypatch, load)
    chosen = chosen_datasets(["toy", "drives", "toy"])
    assert chosen == ["toy", "drives"]
    assert chosen_datasets(["drives"]) == ["drives"]  # as a figure asks for it once more
    run_all(experiments(chosen, chosen_variants(["prssm"]), 2), Results(tmp_path))
    assert loads == ["toy", "drives"]


def test_a_misspelt_or_missing_data_set_is_said_at_the_start(monkeypatch):
    loads = []
    benchmark_fakes.install_data(monkeypatch, loads.append)
    with pytest.raises(DataError, match="unknown data set 'tyo'"):
        chosen_datasets(["toy", "tyo"])
    assert loads == []  # a misspelt name is said before the first download

    def missing(name):
        raise DataError(f"{name}: no file")

    benchmark_fakes.install_data(monkeypatch, missing)
    with pytest.raises(DataError, match="toy: no file"):
        chosen_datasets(["toy"])


def test_key_is_data_method_configuration_and_seed_and_nothing_else():
    base = Experiment("toy", variant_of("prssm"), 0)
    # 50 is the default
    same = Experiment(
        "toy", Variant("another label", "prssm", "default", options=(("iterations", 50),)), 0
    )
    assert base.key == same.key
    others = [
        Experiment("drives", variant_of("prssm"), 0),
        Experiment("toy", variant_of("prssm"), 1),
        Experiment("toy", variant_of("linear"), 0),
        Experiment("toy", variant_of("prssm:iterations=51"), 0),
        Experiment("toy", variant_of("prssm:preset=paper"), 0),
    ]
    assert len({base.key, *(other.key for other in others)}) == 6


def test_the_papers_settings_by_name():
    assert chosen_settings(None) == []
    assert [s.name for s in chosen_settings(["all"])] == [
        "unnormalised-mean",
        "unnormalised-moments",
        "normalised-mean",
    ]
    assert [s.name for s in chosen_settings(["normalised-moments", "normalised-mean"])] == [
        "normalised-mean"
    ]
    with pytest.raises(
        OptionError,
        match=r"--supplement: unknown setting 'normalised-men'\. Did you mean 'normalised-mean'",
    ):
        chosen_settings(["normalised-men"])


def test_a_setting_changes_the_methods_that_the_paper_varied_on_its_data_sets(monkeypatch):
    benchmark_fakes.install_varied(monkeypatch)
    planned = experiments(
        ["toy", "drives"], chosen_variants(["nigp", "nigp:propagation=mean", "prssm"]), 2
    )
    found = in_setting(planned, published().settings["unnormalised-mean"])
    labels = ["constant", "linear", "nigp [unnormalised-mean]", "nigp:propagation=mean", "prssm"]
    assert [e.variant.label for e in found] == labels * 2
    assert {e.dataset for e in found} == {"drives"}  # the paper has no toy
    assert found[2].variant.configuration() == {"normalise": False, "propagation": "mean"}
    same = {e.key for e in planned} & {e.key for e in found}
    assert same == {e.key for e in found if "[" not in e.variant.label}


def test_changed_options_show_in_the_label():
    changed = variant_of("prssm:scheme=full").changed(iterations=3)
    assert changed.label == "prssm:scheme=full,iterations=3"
    assert changed.configuration()["iterations"] == 3
    assert changed.configuration()["scheme"] == "full"
