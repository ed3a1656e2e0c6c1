"""`prssm.as_casadi(model)`: a fitted model as functions of CasADi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prssm.export.describing import describe
from prssm.foundation.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from prssm.export.casadi.functions import CasadiFunctions


def as_casadi(
    model: Any,
    *,
    samples: int = 0,
    seed: int = 0,
    horizon: int | None = None,
    widen: bool = False,
) -> CasadiFunctions:
    """`start`, `step` and, for so many steps, `horizon` of a fitted PRSSM or LinearSSM.

    A fixed set of `samples` trajectories carries the band; 0 gives means without deviations. With
    `widen` it is wider outside of the training data, as in `simulate`, but has kinks there, on
    which optimisers may not converge.
    """
    try:
        from prssm.export.casadi.functions import functions_of
    except ImportError:
        raise MissingExtraError("this needs CasADi: pip install 'prssm[casadi]'") from None
    if samples < 0:
        raise OptionError(f"samples: expected 0 (the mean alone) or at least 2, got {samples}")
    return functions_of(describe(model), samples=samples, seed=seed, horizon=horizon, widen=widen)
