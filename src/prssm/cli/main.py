"""`prssm`: the commands, and the one place where an error becomes a line and an exit code.

Exit codes: 0 done, 2 something the user can mend, 1 a bug of ours, 130 stopped by Ctrl-C, 143
stopped by SIGTERM.
"""

import os
import sys
import traceback
from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError

from prssm.cli import compiled_code
from prssm.cli.commands.benchmark import benchmark
from prssm.cli.commands.convert import convert
from prssm.cli.commands.demo import demo
from prssm.cli.commands.export import export
from prssm.cli.commands.facts.datasets import datasets
from prssm.cli.commands.facts.info import info
from prssm.cli.commands.facts.methods import methods
from prssm.cli.commands.facts.show import show
from prssm.cli.commands.filter import filter_
from prssm.cli.commands.fit import fit
from prssm.cli.commands.predict import predict
from prssm.cli.commands.saved_models import compare, report
from prssm.cli.commands.score import score
from prssm.cli.commands.search import search
from prssm.cli.commands.simulate import simulate
from prssm.cli.commands.studio import studio
from prssm.cli.signals import (
    SIGTERM_CODE,
    end,
    sigterm_interrupts,
    stoppable_program,
    terminated,
)
from prssm.cli.terminal import explained, note, warnings_as_notes
from prssm.foundation.errors import PrssmError, shortened
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
COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "fit": fit,
    "convert": convert,
    "simulate": simulate,
    "filter": filter_,
    "predict": predict,
    "score": score,
    "compare": compare,
    "report": report,
    "export": export,
    "search": search,
    "datasets": datasets,
    "methods": methods,
    "benchmark": benchmark,
    "demo": demo,
    "studio": studio,
    "info": info,
}
for name, command in COMMANDS.items():
    app.command(command, name=name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code is returned.

    Errors become one line on standard error, unless --debug.
    """
    is_program = argv is None  # whoever passes words keeps their environment and their Ctrl-C
    if is_program:
        compiled_code.keep()
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        stops = stoppable_program() if is_program else sigterm_interrupts()
        with stops, warnings_as_notes():
            app(words, exit_on_error=False, print_error=False, result_action="return_value")
            sys.stdout.flush()
        return 0
    except BrokenPipeError:  # the reader of our output (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            traceback.print_exc()
        line, code = outcome(error, words)
        line = shortened(line)
        if (watch := sys.modules.get("prssm.training.distributed.watch")) is not None:
            # one of several processes ends at once, and the others hear why
            watch.leave(line, code)
        if is_program and isinstance(error, KeyboardInterrupt):
            sys.stdout.flush()
            end(line, code)
        note(line)
        return code


def outcome(error: BaseException, words: Sequence[str] = ()) -> tuple[str, int]:
    """What to say about an error of a command line of these words, and the exit code."""
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "interrupted", SIGTERM_CODE if terminated(error) else INTERRUPTED
    if isinstance(error, CycloptsError):
        return explained(error, words), USER_ERROR
    if isinstance(error, PrssmError):
        return str(error), USER_ERROR
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file or stream'}: {error.strerror}", USER_ERROR
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; try fewer rows or samples", USER_ERROR
    return (
        f"this is a bug, please report it: {type(error).__name__}: {error}; --debug shows where it "
        "arose",
        BUG,
    )


if __name__ == "__main__":
    from prssm.cli.entry import main as program

    sys.exit(program())
