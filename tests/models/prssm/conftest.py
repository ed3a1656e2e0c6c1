"""What tests of fits share: to choose filters takes longer than the small fits themselves."""

from collections.abc import Iterator

import pytest

from prssm.models.prssm import estimator
from prssm.models.prssm.filtering.members import FilterMembers
from prssm.models.prssm.filtering.noises import trained_noises


def _keeping_noises(last, window, pace) -> FilterMembers:
    """In the place of `filter_members`: the noises of training, without a look at others."""
    models = last.choice.mixture.models
    return FilterMembers.equal(models, trained_noises(models))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters keep the noises of training: to look for better ones takes seconds."""
    monkeypatch.setattr(estimator, "filter_members", _keeping_noises)


@pytest.fixture(scope="module")
def quick_module() -> Iterator[None]:
    """The same for all tests of a file, and for what they share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimator, "filter_members", _keeping_noises)
        yield
