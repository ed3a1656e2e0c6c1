"""The study of few rows: lines go by the number of rows, errors are beside the linear model's."""

import few_rows
import numpy as np
import pytest
from few_rows import page

from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.levels import NETWORK
from prssm.models.prssm.trained import Candidate, HeldOut


def row(kind: str, held: float, error: float) -> dict:
    score = {"held": held, "likelihood": held, "error": error}
    row = {"number": 900, "kind": kind} | dict.fromkeys(few_rows.MODELS, score)
    return row | {"`linear`": score | {"error": 1.0}}


def test_each_number_of_rows_has_a_line_for_each_model() -> None:
    lines = page([row("40 rows", 0.5, 2.0), row("40 rows", 0.9, 0.5), row("70 rows", 0.9, 4.0)])
    head, _, before, narrower, now, linear, *longer = lines.splitlines()
    assert head.startswith("| rows | band | systems |")
    assert before == "| 40 | before | 2 | 50% | 50% | 0% | 0.700 | 0.700 | 1.00 |"
    assert narrower.startswith("| 40 | as held-out errors ask |")
    assert now.startswith("| 40 | `prssm` |")
    assert linear.startswith("| 40 | `linear` |")
    assert [line.split(" | ")[0] for line in longer] == ["| 70"] * 4
    assert longer[1].endswith("| 4.00 |")


def test_before_nothing_was_held_out_of_forty_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    class Fitted:
        calibration_ = few_rows.Calibration.none(1)
        output_names_ = ("y",)

        class restarts_:
            @staticmethod
            def candidates():
                return [Candidate(NETWORK, 0, HeldOut([np.zeros((20, 1))] * 2, []))]

        def fit(self, train):
            config = DEFAULT.resolved([train])
            seen.append((len(train), config.recognition_window, few_rows.held_out._LEAST_ROWS))
            return self

        def evaluate(self, unseen):
            keys = ("nrmse", "coverage_2sigma", "log_likelihood_scaled")
            return dict.fromkeys(keys, self.calibration_.factor[0])

    monkeypatch.setattr(few_rows, "PRSSM", Fitted)
    monkeypatch.setattr(few_rows, "LinearSSM", Fitted)
    found = few_rows.study("40 rows", 0)
    assert found["number"] == 900
    assert found["as held-out errors ask"]["held"] == 1.0 / (1.0 + (30.0 / 40.0) ** 2)
    assert found["`prssm`"]["held"] == 1.0
    assert seen == [(40, 16, 16), (40, 5, 8), (40, 5, 8)]
