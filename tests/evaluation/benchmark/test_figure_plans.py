"""The paper's figures as named experiments."""

import benchmark_fakes
import pytest

from prssm.evaluation.benchmark.figure_plans import (
    FIGURES,
    ITERATION_GRID,
    figure_datasets,
    plan_figure,
)
from prssm.evaluation.benchmark.plan import chosen_variants, variant_of
from prssm.foundation.errors import OptionError


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    benchmark_fakes.install(monkeypatch)


def _plan(name, seeds=2):
    return plan_figure(
        name, variant_of("prssm"), chosen_variants(["prssm", "prssm:scheme=full"]), seeds=seeds
    )


def _options(experiment):
    configuration = experiment.variant.configuration()
    return configuration["scheme"], configuration["iterations"]


def test_untrained_is_the_trained_model_without_its_training():
    panels = _plan("untrained-vs-trained").panels
    assert [_options(e) for e in panels["untrained"]] == [("full", 0)]
    assert [_options(e) for e in panels["trained"]] == [("full", 50)]


def test_recognition_compares_the_two_schemes():
    panels = _plan("recognition").panels
    assert [_options(panel[0])[0] for panel in panels.values()] == ["full", "stochastic"]


def test_all_methods_of_the_benchmark_are_in_the_drives_figure():
    plan = _plan("drives-methods")
    assert list(plan.panels) == ["constant", "linear", "prssm", "prssm:scheme=full"]
    assert {e.dataset for e in plan.experiments()} == {"drives"}
    assert {e.seed for e in plan.experiments()} == {0}


def test_learning_progress_is_run_at_growing_numbers_of_iterations_for_every_seed():
    panels = _plan("full-vs-stochastic", seeds=3).panels
    counts = [count for count in ITERATION_GRID if count < 50] + [50]
    for scheme, panel in panels.items():
        assert [(_options(e), e.seed) for e in panel] == [
            ((scheme, count), s) for count in counts for s in range(3)
        ]


def test_a_preset_that_leaves_the_iterations_to_the_data_is_run_over_the_whole_grid():
    ours = variant_of("prssm").changed(iterations=None)
    panels = plan_figure("full-vs-stochastic", ours, [ours], seeds=1).panels
    assert tuple(_options(e)[1] for e in panels["full"]) == ITERATION_GRID


def test_needed_data_sets_and_unknown_figures():
    assert figure_datasets(list(FIGURES)) == ["furnace", "drives"]
    with pytest.raises(OptionError, match="Did you mean 'recognition'"):
        figure_datasets(["recogniton"])
