"""Methods of fitted state-space models that need their functions in JAX: a mixin of `Estimator`.

A method that is a state-space model overrides `_jax_model`; all others refuse with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prssm.foundation.errors import OptionError

if TYPE_CHECKING:
    from prssm.models.functions.jax_model import JaxModel


class InJax:
    """What a user calls: `as_jax`."""

    name: ClassVar[str]

    def as_jax(self, *, samples: int = 0, seed: int = 0) -> JaxModel:
        """The fitted model as pure functions `start`, `step`, `simulate` for jit, vmap and grad.

        `samples` trajectories carry the band, those of `simulate` with the same seed; 0 is the mean
        alone, by one run without noise of each member of the mixture.
        """
        self._check_fitted()
        if samples < 0 or samples == 1:
            raise OptionError(f"samples: expected 0 or at least 2 trajectories, got {samples}")
        return self._jax_model(samples, seed)

    def _jax_model(self, samples: int, seed: int) -> JaxModel:
        raise OptionError(
            f"{self.name} has no state that its functions could carry; fit prssm or linear instead"
        )

    def _check_fitted(self) -> None:
        raise NotImplementedError
