"""The study of networks' first states: ratios are to the first rule, systems go by their order."""

import network_states
from network_states import RULES, page


def row(order: int, errors: tuple[float, float, float]) -> dict:
    seconds = (10.0, 11.0, 12.0)
    return {"number": order, "order": order} | {
        rule: {"error": error, "seconds": taken, "level": "network"}
        for rule, error, taken in zip(RULES, errors, seconds, strict=True)
    }


def test_errors_and_times_are_geometric_means_of_ratios_to_the_first_rule() -> None:
    lines = page([row(1, (1.0, 0.5, 2.0)), row(2, (1.0, 2.0, 2.0)), row(7, (0.5, 0.5, 0.25))])
    head, _, first, second, third = lines.splitlines()
    assert "linear model with 1 or 2 states (2) | with 5 and more (1) | all" in head
    assert first.endswith("| 1.000 | 1.000 | 1.000 | 0 : 0 | 1.00 |")
    assert second.endswith("| 1.000 | 1.000 | 1.000 | 1 : 1 | 1.10 |")
    assert third.endswith("| 2.000 | 0.500 | 1.260 | 1 : 2 | 1.20 |")


def test_a_rule_says_which_states_the_race_tries(monkeypatch) -> None:
    seen = []

    class Fitted:
        order_ = 4
        level_ = "network"

        def fit(self, train):
            seen.append((network_states.race.FEWER, network_states.race.SMALL))
            return self

        def evaluate(self, unseen):
            return {"nrmse": 1.0}

    monkeypatch.setattr(network_states, "PRSSM", lambda **_: Fitted())
    monkeypatch.setattr(network_states, "LinearSSM", Fitted)
    found = network_states.study("random", 0)
    assert seen[1:] == [tuple(rule) for rule in RULES.values()]
    assert found["order"] == 4
