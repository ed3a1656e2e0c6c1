"""The study of plants: each runs with the noise that is said; scores and failures have lines."""

import numpy as np
import plant_systems
import plants
import pytest


@pytest.mark.parametrize("name", plant_systems.PLANTS)
def test_every_plant_gives_what_its_line_says(name: str) -> None:
    plant = plant_systems.PLANTS[name]
    train, fresh = plant_systems.data(name)
    assert [len(record) for record in train] == [plant.rows] * plant.records
    assert [len(record) for record in fresh] == [plant.fresh_rows] * plant_systems.RUNS
    for record in (*train, *fresh):
        assert np.isfinite(record.u).all()
        assert np.isfinite(record.y).all()
        assert (record.y.std(axis=0) > 0.0).all()


def test_noise_is_a_share_of_each_outputs_deviation(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 4000
    wave = np.sin(np.arange(rows) / 7.0)[:, None] * [1.0, 100.0]
    still = plant_systems.Plant(
        lambda rng, rows: (None, wave[:rows]), rows, noise=0.1, fresh_rows=rows
    )
    monkeypatch.setitem(plant_systems.PLANTS, "still", still)
    (train,), _ = plant_systems.data("still")
    noise = (train.y - wave).std(axis=0) / wave.std(axis=0)
    np.testing.assert_allclose(noise, 0.1, atol=4.0 * 0.1 / np.sqrt(2.0 * rows))


def test_a_failure_and_a_fit_have_a_line_each() -> None:
    score = {"nrmse": 0.5, "coverage_2sigma": 0.9, "log_likelihood_scaled": 1.0}
    fitted = {
        "name": "batches",
        "outcome": "ok",
        "score": score,
        "linear": score | {"nrmse": 2.0},
        "constant": score,
        "level": "free",
        "seconds": 12.3,
    }
    failed = {"name": "pipe", "outcome": "failed", "reason": "why"}
    lines = plants.page([fitted, failed]).splitlines()
    assert lines[2].startswith("| batches | 6 x 60 | 0.500 | 2.000 | 0.500 | 0.250 | 0.90 | 1.00 |")
    assert lines[3].startswith("| pipe | failed: why |")
