"""sysidentpy: polynomial NARX by FROLS, as in its README.

The number of terms is chosen by Akaike's criterion, as there (from up to 20 terms). The README's
example knows its lags and its degree; here lags 2, 4, 8 and degrees 1, 2, 3 compete on the tail.
"""

import warnings

import adapter
import numpy as np
from sysidentpy.basis_function import Polynomial
from sysidentpy.model_structure_selection import FROLS
from sysidentpy.parameter_estimation import LeastSquares

DEGREES = (1, 2, 3)
LAGS = (2, 4, 8)
MOST_TERMS = 20


def train(choice, u, y):
    degree, lags = choice
    scale = [(part.mean(axis=0), part.std(axis=0)) for part in (u, y)]
    terms = number_of_terms(degree, lags * (u.shape[1] + y.shape[1]))
    model = FROLS(
        order_selection=True,
        n_info_values=min(MOST_TERMS, terms),
        ylag=lags,
        xlag=lags if u.shape[1] == 1 else [list(range(1, lags + 1))] * u.shape[1],
        info_criteria="aic",
        estimator=LeastSquares(),
        err_tol=None,
        basis_function=Polynomial(degree=degree),
    )
    (u_mean, u_std), (y_mean, y_std) = scale
    model.fit(X=(u - u_mean) / u_std, y=(y - y_mean) / y_std)
    return model, scale


def number_of_terms(degree, variables):
    """Monomials up to a degree."""
    count = 1
    for d in range(1, degree + 1):
        count = count * (variables + d) // d
    return count


def simulate(found, u, y_start):
    model, ((u_mean, u_std), (y_mean, y_std)) = found
    y = (y_start[-model.max_lag :] - y_mean) / y_std
    later = (u[len(y_start) - model.max_lag :] - u_mean) / u_std
    run = np.asarray(model.predict(X=later, y=y)).reshape(len(later), -1)
    whole = np.concatenate([(y_start - y_mean) / y_std, run[model.max_lag :]])
    return whole * y_std + y_mean


def fit(task):
    warnings.filterwarnings("ignore")
    choices = [(degree, lags) for degree in DEGREES for lags in LAGS]
    choice = adapter.best_of(task, choices, train, simulate)
    return train(choice, task.u, task.y), f"degree {choice[0]}, lags {choice[1]}"


if __name__ == "__main__":
    adapter.main(fit, simulate)
