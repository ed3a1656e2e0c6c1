"""Which engine runs a rollout: all of them compute the same trajectories and the same gradients.

`scan` is plain JAX, the oracle; `adjoint` is JAX with the gradient by hand; `native` is compiled
for the CPU, `cuda` for an NVIDIA GPU; with `-single` the compiled recursion is in single precision.
`auto` and `auto-single` are native or cuda where one of them applies, else adjoint. A new engine is
a `why_not`, a rollout, and a line in `COMPILED`.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from jaxtyping import Array, Float

from prssm.dynamics.engines.cuda import engine as cuda
from prssm.dynamics.engines.cuda import library as cuda_library
from prssm.dynamics.engines.cuda.recognition import Network, cuda_recognition
from prssm.dynamics.engines.cuda.whitener import cuda_white
from prssm.dynamics.engines.native import engine as native
from prssm.dynamics.engines.native import library as native_library
from prssm.dynamics.engines.native import network, trainer
from prssm.dynamics.engines.native.free_run import free_run
from prssm.dynamics.engines.platform import platform
from prssm.dynamics.rollout import adjoint_rollout, scan_rollout
from prssm.dynamics.transition import Dynamics, Transition
from prssm.foundation.errors import OptionError
from prssm.gp.kernels import Kernel, SquaredExponential
from prssm.gp.sparse import Whiten, white_of

# Whole iterations of training and free runs in compiled code; see `trainer_why_not`.
compiled_trainer = trainer
Offsets = trainer.Offsets
RecognitionNetwork = Network
native_free_run = free_run
compiled_network = network  # see `networks.equations`
worker_threads = native_library.threads

WINDOWS_AT_ONCE = 256  # of the compiled recognition network, at most

Engine = Literal[
    "auto", "auto-single", "native", "native-single", "cuda", "cuda-single", "adjoint", "scan"
]


class Compiled(NamedTuple):
    """A compiled engine: whether it can run here, its rollout, and what `prssm info` says of it.

    `why_not` gives the reason in one line where the engine cannot run, and None where it can.
    """

    why_not: Callable[[Dynamics], str | None]
    run: Callable[..., Array]
    description: Callable[[], str]


COMPILED = {
    "native": Compiled(native.why_not, native.native_rollout, native_library.description),
    "cuda": Compiled(cuda.why_not, cuda.cuda_rollout, cuda_library.description),
}


def rollout(
    dynamics: Dynamics,
    x1: Float[Array, "Dx B"],
    u: Float[Array, "T Du B"],
    eps: Float[Array, "T Dx B"],
    engine: Engine = "auto",
) -> Float[Array, "T Dx B"]:
    """Latent trajectories x_1..x_T, reparametrised by `eps`.

    The last row of `eps` is not used: nothing follows x_T. Another `engine` gives the same numbers
    up to rounding; one that cannot run here is refused.
    """
    kind, _, single = engine.partition("-")
    if kind == "auto":
        kind = next(
            (name for name, one in COMPILED.items() if one.why_not(dynamics) is None), "adjoint"
        )
    elif kind in COMPILED and (reason := COMPILED[kind].why_not(dynamics)):
        raise OptionError(
            f"option engine: expected one that can run here, got {engine!r}: {reason}"
        )
    if kind != "native":
        dynamics = dynamics.unshared()  # only the native engine makes use of what dimensions share
    if kind in COMPILED:
        return COMPILED[kind].run(dynamics, x1, u, eps=eps, single=bool(single))
    run = scan_rollout if kind == "scan" else adjoint_rollout
    return run(dynamics, x1, u, eps=eps.astype(x1.dtype))


def conditioned(transition: Transition) -> Dynamics:
    """The transition's dynamics, factored in the way that is fastest where JAX computes."""
    gp = transition.gp
    return transition.condition(whiten_here(gp.kernel, gp.zeta.shape[1]))


def whiten_here(kernel: Kernel, points: int) -> Whiten:
    """The way to factor covariances of so many points on the device that JAX computes on."""
    applies = platform() == "gpu" and type(kernel) is SquaredExponential
    return cuda_white if applies and cuda_library.can_whiten(points) else white_of


def recognition_here(windows: int) -> Callable[[Network, Array, int], tuple[Array, Array]] | None:
    """The compiled recognition network (network, samples, shown) -> means, log stds.

    None where there is none for the device that JAX computes on, or so many windows that matrix
    products are faster.
    """
    there = platform() == "gpu" and cuda_library.why_not() is None
    return cuda_recognition if there and windows <= WINDOWS_AT_ONCE else None


def trainer_why_not() -> str | None:
    """Why whole iterations of training cannot run in compiled code here, in one line.

    None where they can.
    """
    return native_library.why_not()


def descriptions() -> dict[str, str]:
    """For `prssm info`: every compiled engine, built by which compiler, or why it is not there."""
    return {name: one.description() for name, one in COMPILED.items()}
