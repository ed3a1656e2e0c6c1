"""scikit-learn's own checks, on the mean, and its tools, on a linear model."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import prssm

# what cannot hold for models of sequences, or for ours, and why
CANNOT_APPLY = {
    "check_methods_sample_order_invariance": "rows are a sequence: their order is the data",
    "check_methods_subset_invariance": "what follows depends on what was before",
    "check_no_attributes_set_in_init": "options live in one frozen object, checked at once",
    "check_do_not_raise_errors_in_init_or_set_params": "a wrong option is refused when it is given",
    "check_estimators_unfitted": "our NotFittedError is no class of scikit-learn",
    "check_n_features_in_after_fitting": "our message says which inputs were expected",
    "check_complex_data": "see the tests of records",
    "check_dtype_object": "what is no number is a DataError, which is a ValueError",
    "check_estimators_empty_data_messages": "a system without inputs is a system",
    "check_fit2d_1sample": "our message says how many rows are needed",
    "check_fit1d": "one array is one input",
    "check_fit2d_predict1d": "one array is one input; our message says how many were expected",
    "check_requires_y_none": "a Record or a frame brings its own outputs",
    "check_array_api_input": "needs an environment variable of SciPy's",
}


class Mean(prssm.Constant):
    """The quickest model there is: the checks are about manners, not about errors."""

    name = "constant"

    def predict(self, X: Any) -> np.ndarray:
        return np.squeeze(self.simulate(X).mean)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def linear() -> prssm.LinearSSM:
    return prssm.LinearSSM(order=1)


def name_of(check: Callable[..., None]) -> str:
    return str(getattr(check, "func", check).__name__)


def all_checks() -> list[Callable[..., None]]:
    with warnings.catch_warnings():  # scikit-learn wants its own base class
        warnings.simplefilter("ignore", UserWarning)
        return [check for _, check in estimator_checks_generator(Mean())]


CHECKS = [
    pytest.param(check, id=f"{i} {name_of(check)}")
    for i, check in enumerate(all_checks())
    if name_of(check) not in CANNOT_APPLY
]


@pytest.mark.filterwarnings("ignore:.*delay parameter validation")
@pytest.mark.parametrize("check", CHECKS)
def test_a_check_of_scikit_learn(check) -> None:
    check(Mean())


def test_every_exception_is_a_check_that_exists() -> None:
    names = {name_of(check) for check in all_checks()}
    assert set(CANNOT_APPLY) <= names
    assert len(CHECKS) >= 30


def system(rows: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    u = rng.normal(size=rows)
    y = np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.8 * y[t - 1] + 0.2 * u[t - 1]
    return u[:, None], y


def test_the_score_is_r_squared() -> None:
    u, y = system()
    model = prssm.Constant().fit(u, y)
    assert model.score(u, y) == pytest.approx(0.0, abs=1e-12)  # the mean of what was measured
    shifted = y + 1.0
    expected = 1.0 - np.sum((shifted - y.mean()) ** 2) / np.sum((y - y.mean()) ** 2)
    assert model.score(u, shifted) == pytest.approx(expected)
    assert linear().fit(u, y).score(u, y) > 0.99


def test_cross_validation_goes_forward_in_time() -> None:
    u, y = system()
    scores = cross_val_score(linear(), u, y, cv=prssm.TimeSplit(3))
    assert scores.shape == (3,)
    assert (scores > 0.98).all()
    for train, test in prssm.TimeSplit(3).split(u):
        np.testing.assert_array_equal(np.concatenate([train, test]), np.arange(test[-1] + 1))
    assert [len(test) for _, test in prssm.TimeSplit(3).split(u)] == [30, 30, 30]


def test_whole_records_are_held_out() -> None:
    records = [prssm.Record(*system(60)) for _ in range(4)]
    scores = cross_val_score(prssm.Constant(), records, cv=prssm.TimeSplit(3))
    np.testing.assert_allclose(scores, np.zeros(3), atol=1e-12)  # all records are the same one


@pytest.mark.parametrize(("rows", "splits"), [(40, 4), (10, 1)])
def test_too_few_rows_are_named(rows, splits) -> None:
    with pytest.raises(prssm.DataError, match=f"{rows} rows are too few for {splits} splits"):
        list(prssm.TimeSplit(splits).split(np.zeros(rows)))


def test_a_grid_search_and_a_pipeline() -> None:
    u, y = system()
    search = GridSearchCV(prssm.LinearSSM(), {"order": [1, 2]}, cv=prssm.TimeSplit(2))
    assert search.fit(u, y).best_params_["order"] in (1, 2)
    assert make_pipeline(StandardScaler(), linear()).fit(u, y).score(u, y) > 0.99


def test_frames_and_series_keep_their_names_and_their_time() -> None:
    u, y = system()
    index = pandas.date_range("2024-05-31", periods=120, freq="2s", name="when")
    inputs = pandas.DataFrame({"valve": u[:, 0]}, index=index)
    model = linear().fit(inputs, pandas.Series(y, index=index, name="flow"))
    assert (model.input_names_, model.output_names_) == (("valve",), ("flow",))
    assert model.dt_ == 2.0
    assert model.domain_.time == "when"
    scores = cross_val_score(linear(), inputs, pandas.Series(y, name="flow"), cv=prssm.TimeSplit(2))
    assert (scores > 0.98).all()
    assert model.score(inputs, y) > 0.99
