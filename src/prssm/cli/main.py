"""`prssm`: the commands, and the one place where an error becomes a line and an exit code.

Exit codes: 0 done, 2 something the user can mend, 1 a bug of ours, 130 stopped by Ctrl-C, 143
stopped by SIGTERM.
"""

import os
import sys
import traceback
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from prssm.cli import compiled_code
from prssm.cli.commands.benchmark import benchmark
from prssm.cli.commands.convert import convert
from prssm.cli.commands.datasets import datasets
from prssm.cli.commands.demo import demo
from prssm.cli.commands.fit import fit
from prssm.cli.commands.info import info
from prssm.cli.commands.methods import methods
from prssm.cli.commands.saved_models import compare, report
from prssm.cli.commands.score import score
from prssm.cli.commands.search import search
from prssm.cli.commands.show import show
from prssm.cli.commands.simulate import simulate
from prssm.cli.signals import SIGTERM_CODE, sigterm_interrupts, terminated
from prssm.cli.terminal import explained, note, warnings_as_notes
from prssm.foundation.errors import PrssmError
from prssm.foundation.version import __version__

USER_ERROR = 2
BUG = 1
INTERRUPTED = 130

app = App(
    name="prssm",
    help="Learn a simulator with honest error bars from the logs of a dynamical system.",
    help_epilogue="prssm COMMAND --help explains a command. With --debug, anywhere, an error shows "
    "where it arose.",
    help_format="plaintext",
    version=__version__,
    suppress_keyboard_interrupt=False,
)
for command in (
    show,
    fit,
    convert,
    simulate,
    score,
    compare,
    report,
    search,
    datasets,
    methods,
    benchmark,
    demo,
    info,
):
    app.command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code is returned.

    Errors become one line on standard error, unless --debug.
    """
    if argv is None:  # a process of its own: whoever passes words keeps their environment
        compiled_code.keep()
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        with sigterm_interrupts(), warnings_as_notes():
            app(words, exit_on_error=False, print_error=False, result_action="return_value")
            sys.stdout.flush()
        return 0
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            traceback.print_exc()
        line, code = outcome(error)
        if (watch := sys.modules.get("prssm.training.distributed.watch")) is not None:
            # one of several processes ends at once, and the others hear why
            watch.leave(line, code)
        note(line)
        return code


def outcome(error: BaseException) -> tuple[str, int]:
    """What to say about an error, and the exit code."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "interrupted", SIGTERM_CODE if terminated(error) else INTERRUPTED
    if isinstance(error, CycloptsError):
        return explained(error), USER_ERROR
    if isinstance(error, PrssmError):
        return str(error), USER_ERROR
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}", USER_ERROR
    return (
        f"this is a bug, please report it: {type(error).__name__}: {error}; --debug shows where it "
        "arose",
        BUG,
    )


if __name__ == "__main__":
    sys.exit(main())
