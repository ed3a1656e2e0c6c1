"""One of two processes that train together: a whole run, then one that loses process 1. Started by
test_processes.
"""

import os
import sys
from pathlib import Path

import numpy as np

import prssm
from prssm.foundation.errors import ProcessError
from prssm.training import optimise
from prssm.training.distributed import processes, store, watch

TINY = {
    "latent_dim": 2,
    "inducing": 3,
    "samples": 2,
    "batch": 2,
    "horizon": 10,
    "recognition_window": 3,
    "recognition_hidden": 4,
    "iterations": 20,
    "restarts": 1,
    # in double precision: in single, sums that are formed in another order differ
    "engine": "auto",
}
LOST_AT = 10


def log():
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, 60)
    return prssm.Record(u, np.convolve(u, [0.0, 0.5, 0.3])[:60] + 0.01 * rng.normal(size=60))


def main(folder: Path, port: str, process: int) -> None:
    processes.join(f"127.0.0.1:{port}", 2, process)
    told = processes.from_leader({"a": np.full(process + 2, 7 + process)})["a"]
    (folder / f"told{process}.txt").write_text(str(told.tolist()))
    model = prssm.PRSSM("paper", **TINY).fit(
        log(), checkpoint=folder / f"whole{process}.checkpoint"
    )
    if store.leads():
        model.save(folder / "whole.prssm")
    advance = optimise.advance

    def dies_halfway(objective, state, *rest, **named):
        if process == 1 and int(state["iteration"]) >= LOST_AT:
            os._exit(9)
        return advance(objective, state, *rest, **named)

    optimise.advance = dies_halfway
    try:
        prssm.PRSSM("paper", **TINY).fit(log(), checkpoint=folder / f"lost{process}.checkpoint")
    except ProcessError as error:
        watch.leave(str(error), 5)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
