"""The program `prssm`: from its first line on, Ctrl-C ends in one line.

It imports nothing slow before it can answer a signal.
"""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Run the command line of this process; the exit code is returned."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # what nohup, or `&` in a script, has set to be ignored stays so
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    from prssm.cli.main import main as run

    return run()


def _end(number: int, frame: FrameType | None) -> None:
    """Nothing has begun, or all is done: there is nothing to save."""
    os.write(2, b"prssm: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
