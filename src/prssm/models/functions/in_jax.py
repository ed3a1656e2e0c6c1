"""Methods of fitted state-space models that need their functions in JAX: a mixin of `Estimator`.

A method that is a state-space model overrides `_jax_model`; all others refuse with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from prssm.foundation.errors import DataError, OptionError, warn

if TYPE_CHECKING:
    from prssm.data.domain import Domain
    from prssm.data.preprocessing.pipeline import Preprocessing
    from prssm.models.functions.jax_model import JaxModel
    from prssm.models.functions.linearise import Linearised
    from prssm.models.functions.plausible import Plausible
    from prssm.models.functions.slices import TransitionSlices
    from prssm.models.functions.steady import StaticCurve, SteadyState
    from prssm.prediction.prediction import Prediction

SYSTEMS = 64  # plausible systems behind a band, unless told


class InJax:
    """What a user calls: `as_jax`, `linearise`, `static_curve`, `steady_state`, slices."""

    name: ClassVar[str]
    preprocessing_: Preprocessing
    domain_: Domain

    def as_jax(self, *, samples: int = 0, seed: int = 0) -> JaxModel:
        """The fitted model as pure functions `start`, `step`, `simulate` for jit, vmap and grad.

        `samples` trajectories carry the band, those of `simulate` with the same seed; 0 is the mean
        alone, by one run without noise of each member of the mixture.
        """
        self._check_fitted()
        self.preprocessing_.check_row_by_row("as_jax")
        if samples < 0 or samples == 1:
            raise OptionError(f"samples: expected 0 or at least 2 trajectories, got {samples}")
        return self._jax_model(samples, seed)

    def linearise(
        self, *, state: Any = None, input: Any = None, samples: int = SYSTEMS, seed: int = 0
    ) -> Linearised:
        """A, B, C, D with their spread, poles and responses with bands, at a point.

        At a state of the best model and an input, or at the equilibrium of the input; the mean of
        the training inputs if none is given. Bands come from `samples` plausible systems.
        """
        from prssm.models.functions.linearise import linearised

        found = linearised(*self._plausible(samples, seed), state=state, input=input)
        self._warn_of_guess("linearise", input)
        return found

    def static_curve(
        self, inputs: Any = None, *, samples: int = SYSTEMS, seed: int = 0
    ) -> StaticCurve:
        """The outputs at rest for constant inputs (G, Du), with a band."""
        from prssm.models.functions.steady import static_curve

        return static_curve(*self._plausible(samples, seed), inputs)

    def steady_state(
        self, *, input: Any = None, output: Any = None, samples: int = SYSTEMS, seed: int = 0
    ) -> SteadyState:
        """Where the model rests under an input, or the input that holds an output, with bands."""
        from prssm.models.functions.steady import steady_state

        found = steady_state(*self._plausible(samples, seed), input=input, output=output)
        self._warn_of_guess("steady_state", input)
        return found

    def transition_slices(
        self, run: Prediction, *, samples: int = SYSTEMS, seed: int = 0
    ) -> TransitionSlices:
        """The next states over one state or input at a time, through a point that a run visited."""
        from prssm.models.functions.slices import transition_slices

        functions, systems = self._plausible(samples, seed)
        states = run.state_mean
        inputs = run.inputs
        if states is None or inputs is None or states.shape[1] != systems.shape[2]:
            raise DataError(
                f"transition_slices: expected a run of this model with its {systems.shape[2]} "
                f"states and its inputs, got {run!r}"
            )
        return transition_slices(functions, systems, states, inputs)

    def _warn_of_guess(self, what: str, input: Any) -> None:
        """An input beyond what training saw is answered, but by a guess; it was checked before.

        A model of prepared data knows their range only.
        """
        if input is None or self.preprocessing_.model_steps:
            return
        given = np.asarray(input, dtype=np.float64).reshape(1, -1)
        if self.domain_.inputs_beyond(given).any():
            warn(
                f"{what}: input {given[0]} is beyond what training saw; what the model says there "
                "is a guess"
            )

    def _plausible(self, samples: int, seed: int) -> tuple[JaxModel, Plausible]:
        from prssm.models.functions.plausible import Plausible

        if samples < 0:
            raise OptionError(f"samples: expected at least 0 systems, got {samples}")
        self._check_fitted()
        functions = self._jax_model(0, 0)
        return functions, Plausible.of(functions, samples, seed)

    def _jax_model(self, samples: int, seed: int) -> JaxModel:
        raise OptionError(
            f"{self.name} has no state that its functions could carry; fit prssm or linear instead"
        )

    def _check_fitted(self) -> None:
        raise NotImplementedError
