"""scikit-learn's manners beyond fit and get_params: tags, the number of features, fittedness.

scikit-learn is not needed: its classes are imported when scikit-learn itself asks.
"""

from typing import Any

from prssm.foundation.errors import NotFittedError


class SklearnManners:
    """What scikit-learn's tools ask for: `clone`, `cross_val_score`, `GridSearchCV`, `Pipeline`."""

    input_names_: tuple[str, ...]

    def __sklearn_tags__(self) -> Any:
        """A regressor of sequences: rows are in order, outputs may be several or missing."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(
                required=True, one_d_labels=False, two_d_labels=False, multi_output=True
            ),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=RegressorTags(),
            input_tags=InputTags(allow_nan=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scaler_")

    @property
    def n_features_in_(self) -> int:
        """How many inputs the model was fitted with."""
        self._check_fitted()
        return len(self.input_names_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "scaler_"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call fit(data) first"
            )
