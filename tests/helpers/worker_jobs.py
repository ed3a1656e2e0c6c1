"""Jobs for worker processes that import nothing, so that their tests start fast."""

import os
import signal
import time
from pathlib import Path


def square(number: int) -> int:
    return number * number


def die_on_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_late_on_three(number: int) -> int:
    if number == 3:
        time.sleep(0.5)  # by now the other process has done its job and waits
    return die_on_three(number)


def sleep_and_tell(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(600)


def threads(_: object) -> str | None:
    return os.environ.get("OMP_NUM_THREADS")


class Unloadable:
    """Work whose loading ends the process."""

    def __reduce__(self) -> tuple:
        return os._exit, (7,)

    def __call__(self, job: object) -> None: ...
