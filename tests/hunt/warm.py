"""Starts the program again and again from a process that has imported everything already.

A start of Python and JAX takes seconds, in which nothing happens that a kill could hurt. For each
line of JSON on standard input a fork runs the command; it is sent a signal after so many seconds,
and one line of JSON says how it ended.
"""

import importlib
import json
import os
import signal
import sys
import time
from typing import NoReturn

_IMPORTED = (
    *("prssm.cli.main", "prssm.evaluation.tasks.fit", "prssm.evaluation.tasks.search"),
    *("prssm.evaluation.tasks.benchmark", "prssm.report.tables", "prssm.models.prssm.estimator"),
    *("prssm.models.narx.gp_narx", "optax", "scipy.optimize", "matplotlib.figure"),
)
_ANSWERED = (signal.SIGINT, signal.SIGTERM)
_LONGEST = 300.0  # seconds after which a command counts as hanging


def serve() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_ended(json.loads(line))), flush=True)


def _ended(asked: dict) -> dict:
    begun = time.monotonic()
    signal.pthread_sigmask(signal.SIG_BLOCK, _ANSWERED)  # until the new process can answer
    process = os.fork()
    if not process:
        _become(asked)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ANSWERED)
    sent = None
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        now = time.monotonic()
        if found:
            code = os.waitstatus_to_exitcode(status)
            took = now - (sent or begun)
            return {"code": code, "seconds": now - begun, "after": took, "sent": sent is not None}
        if asked.get("signal") and sent is None and now - begun > asked["moment"]:
            os.kill(process, asked["signal"])
            sent = now
        if now - begun > _LONGEST:
            os.kill(process, 9)
        time.sleep(0.005)


def _become(asked: dict) -> NoReturn:
    """This process is the command from here on."""
    os.chdir(asked["folder"])
    os.dup2(os.open(asked.get("said", "said.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    from prssm.cli import entry

    if "joins_within" in asked:  # seconds; the usual patience is minutes
        from prssm.training.distributed import processes

        processes.START_SECONDS = asked["joins_within"]
    for number in _ANSWERED:
        signal.signal(number, entry._end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ANSWERED)
    sys.argv = ["prssm", *asked["words"]]
    code = 1
    try:
        code = entry.main()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
