"""The choice of linear models where a fit has a budget of time, or goes on with one that had."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from prssm.data.record import Record
from prssm.foundation.options import Options
from prssm.linear.system import LinearSystem
from prssm.models.prssm.starts.linear_start import Limits, LinearOrders
from prssm.training.checkpoint import Checkpoint, fingerprint
from prssm.training.distributed import processes, store
from prssm.training.session import FOR_MODELS, FOR_ORDERS, Session

_NOTHING = LinearOrders((), 0)  # was chosen yet


def choice_file(checkpoint: Path) -> Path:
    """Where the choice is kept for a fit that is resumed."""
    return checkpoint.with_name(f"{checkpoint.name}.linear")


class BudgetedChoice:
    """Chooses as `LinearOrders.choose` does, until a share of the budget is used.

    From then on nothing more is begun. What a clock has decided cannot be found again: it is kept
    in a file beside the checkpoint, for a fit that is resumed, until `forget`. Without a budget
    there is no such file.
    """

    def __init__(self, session: Session, options: Options) -> None:
        self.session = session
        self.options = options
        self.path = None if session.checkpoint is None else choice_file(session.checkpoint)

    def __call__(
        self, records: Sequence[Record], latent_dim: int, window: int, *, order: int | None
    ) -> LinearOrders:
        data = [part for record in records for part in (record.u, record.y)]
        file = Checkpoint(self.path, fingerprint(self.options, data))
        found = self._kept(file, records[0].output_dim) if self.session.resume else _NOTHING
        if found.limits:
            return found
        self.forget()  # of a run that was given up
        if self.session.deadline is None:
            return LinearOrders.choose(records, latent_dim, window, order=order)
        enough = self._agreed(self.session.after(FOR_ORDERS))
        found = LinearOrders.choose(records, latent_dim, window, order=order, enough=enough)
        file.save(_packed(found))
        return found

    def hurry(self) -> Callable[[], bool]:
        """Says whether models of what was chosen are to be made in a hurry; never at once."""
        return self._agreed(self.session.after(FOR_MODELS))

    def _agreed(self, used: Callable[[], bool]) -> Callable[[], bool]:
        """The same in all processes: the first one's clock counts. Without a budget never."""
        if self.session.deadline is None:
            return lambda: False
        return lambda: bool(processes.from_leader(np.asarray(used())))

    def _kept(self, file: Checkpoint, outputs: int) -> LinearOrders:
        """What an earlier run has chosen; nothing where there is no file."""
        return _unpacked(processes.from_leader(file.load(_packed(_NOTHING))), outputs)

    def forget(self) -> None:
        """Remove what was only needed to go on with."""
        if self.path is not None and store.leads():
            self.path.unlink(missing_ok=True)


def _packed(orders: LinearOrders) -> dict[str, np.ndarray]:
    """Orders as arrays; of the models nearby poles and output maps, where a search begins."""
    limits = orders.limits
    near = [system for one in limits for system in one.near]
    empty = np.zeros(0)
    return {
        "iteration": np.asarray(0),
        "together": np.asarray(orders.together),
        "order": np.array([one.order for one in limits], dtype=int),
        "max_radius": np.array([one.max_radius for one in limits], dtype=float),
        "near": np.array([len(one.near) for one in limits], dtype=int),
        "A": np.concatenate([empty, *(system.A.ravel() for system in near)]),
        "C": np.concatenate([empty, *(system.C.ravel() for system in near)]),
    }


def _unpacked(state: dict[str, np.ndarray], outputs: int) -> LinearOrders:
    found = []
    A = np.asarray(state["A"])
    C = np.asarray(state["C"])
    for order, radius, count in zip(
        state["order"], state["max_radius"], state["near"], strict=True
    ):
        n = int(order)
        near = []
        for _ in range(int(count)):
            near.append(_system(A[: n * n].reshape(n, n), C[: outputs * n].reshape(outputs, n)))
            A = A[n * n :]
            C = C[outputs * n :]
        found.append(Limits(n, float(radius), tuple(near)))
    return LinearOrders(tuple(found), int(state["together"]))


def _system(A: np.ndarray, C: np.ndarray) -> LinearSystem:
    """A system to begin a search from, which reads no more of it than these."""
    outputs = len(C)
    return LinearSystem(
        A, np.zeros((len(A), 0)), C, D=np.zeros((outputs, 0)), offset=np.zeros(outputs)
    )
