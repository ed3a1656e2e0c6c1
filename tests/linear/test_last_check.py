"""The last check of a linear model: what it measures, when it acts, and what it gives back."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear import last_check
from prssm.linear.first_state import InitialState
from prssm.linear.last_check import checked, started_error
from prssm.linear.output_error import Identification
from prssm.linear.system import MAX_RADIUS, LinearSystem, spectral_radius

WARMUP = 6


def system(*poles: float) -> LinearSystem:
    """Lags side by side, each of unit gain."""
    poles_ = np.array(poles)
    return LinearSystem(
        np.diag(poles_),
        (1.0 - poles_)[:, None],
        np.ones((1, len(poles))),
        D=np.zeros((1, 1)),
        offset=np.zeros(1),
    )


def recording(truth: LinearSystem, rows: int = 120, noise: float = 0.05) -> Record:
    random = np.random.default_rng(3)
    u = np.repeat(random.standard_normal(rows), 4)[:rows, None]
    y = truth.simulate(np.zeros(truth.order), u)[0]
    return Record(u, y + noise * random.standard_normal(y.shape))


def test_runs_begin_as_those_of_a_user() -> None:
    """By hand: the whole, the last half, the quarters; each from its own first outputs."""
    truth = system(0.9)
    records = [recording(truth), recording(truth, 40)]  # a quarter of 10 rows is too short
    start = InitialState.fit(truth, records)
    errors = []
    parts = [(0, 0, 120), (0, 60, 120), (0, 0, 30), (0, 30, 60), (0, 60, 90), (0, 90, 120)]
    for index, begin, end in [*parts, (1, 0, 40), (1, 20, 40)]:
        part = records[index][begin:end]
        x0, _ = start.estimate(truth, part.u, part.y[:WARMUP])
        errors.append(part.y - truth.simulate(x0, part.u)[0])
    by_hand = np.sqrt(np.mean(np.concatenate(errors) ** 2))
    assert started_error(truth, records, WARMUP) == pytest.approx(by_hand)


def test_a_model_that_runs_well_is_kept_without_another_search(monkeypatch) -> None:
    search = Identification([recording(system(0.99, 0.7))])
    found = search.best(2, starts=1, random_starts=0)
    assert spectral_radius(found.A) > 0.95
    monkeypatch.setattr(search, "best", lambda *_, **__: pytest.fail("no search was needed"))
    assert checked(search, found, warmup=WARMUP, max_radius=MAX_RADIUS) is found


def test_a_mode_that_fits_a_disturbance_and_leads_runs_astray_is_left_out() -> None:
    """Halfway the output steps up. An integrator with the right first state follows the step."""
    random = np.random.default_rng(4)
    u = np.repeat(random.standard_normal(120), 8)[:120, None]
    y = system(0.7).simulate(np.zeros(1), u)[0] + (np.arange(120) > 60)[:, None]
    y = y + 0.1 * random.standard_normal(y.shape)
    records = [Record(u, y - y.mean())]
    search = Identification(records)
    found = search.best(2, starts=2, random_starts=0)
    assert spectral_radius(found.A) > 0.9999
    kept = checked(search, found, warmup=WARMUP, max_radius=MAX_RADIUS)
    assert kept.order == 2
    assert spectral_radius(kept.A) <= 0.98 + 1e-6
    assert started_error(kept, records, WARMUP) < 0.95 * started_error(found, records, WARMUP)
    # on rows without the step, from the same kind of start
    u = np.repeat(random.standard_normal(400), 8)[:400, None]
    unseen = Record(u, system(0.7).simulate(np.zeros(1), u)[0])
    errors = []
    for model in (kept, found):
        x0, _ = InitialState.fit(model, records).estimate(model, u, unseen.y[:WARMUP])
        errors.append(np.sqrt(np.mean((unseen.y - model.simulate(x0, u)[0]) ** 2)))
    assert errors[0] < 0.8 * errors[1]


def test_no_limit_is_tried_beyond_that_of_the_search(monkeypatch) -> None:
    found = system(0.99, 0.7)
    search = Identification([recording(found)])
    limits = []
    errors = iter([1.0, 0.97, 0.9])  # of the model itself, then under each limit
    monkeypatch.setattr(last_check, "started_error", lambda *_: next(errors))

    def best(order: int, *, max_radius: float, **_: object) -> LinearSystem:
        limits.append(max_radius)
        return system(max_radius, 0.5)

    monkeypatch.setattr(search, "best", best)
    kept = checked(search, found, warmup=WARMUP, max_radius=MAX_RADIUS)
    assert limits == [0.98, 0.95]
    assert spectral_radius(kept.A) == 0.95  # three per cent less is no gain, ten are
    errors = iter([1.0, 0.97, 0.96])
    monkeypatch.setattr(last_check, "started_error", lambda *_: next(errors))
    assert checked(search, found, warmup=WARMUP, max_radius=MAX_RADIUS) is found
    limits.clear()
    errors = iter([1.0, 0.5])
    monkeypatch.setattr(last_check, "started_error", lambda *_: next(errors))
    checked(search, found, warmup=WARMUP, max_radius=0.98)
    assert limits == [0.95]


def test_what_was_found_stays_where_no_faster_system_exists(monkeypatch) -> None:
    found = system(0.99, 0.7)
    search = Identification([recording(found)])

    def none(*_: object, **__: object) -> LinearSystem:
        raise TrainingError("no start gave a finite error")

    monkeypatch.setattr(search, "best", none)
    monkeypatch.setattr(last_check, "started_error", lambda *_: 1.0)
    assert checked(search, found, warmup=WARMUP, max_radius=MAX_RADIUS) is found


@pytest.mark.parametrize("rows", [2, 5, 8, 40])
def test_parts_of_a_short_record_that_are_too_short_are_left_out(rows):
    record = Record(np.zeros((rows, 1)), np.zeros((rows, 1)))
    assert [len(run) for run in last_check._runs(record, 20)] == [rows, *[20] * (rows == 40)]
