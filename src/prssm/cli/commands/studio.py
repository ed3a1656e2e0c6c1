"""`prssm studio`: identify a system in the browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from prssm.cli.whole import Whole


def studio(
    *data: Annotated[str, Parameter(help="Logs to begin with: files, or names of data sets.")],
    project: Annotated[
        Path, Parameter(help="The folder that keeps logs, models, jobs and reports.")
    ] = Path("prssm-project"),
    port: Annotated[Whole, Parameter(help="Where it listens; 0: any free port.")] = 0,
    no_browser: Annotated[
        bool, Parameter(negative="", help="Only print the address, open no browser.")
    ] = False,
    host: Annotated[str, Parameter(help="The address that it listens at.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool,
        Parameter(negative="", help="Needed for a --host that other machines can reach."),
    ] = False,
    upload: Annotated[
        float, Parameter(help="The largest file that the page may send, in megabytes.")
    ] = 500.0,
    at_once: Annotated[Whole, Parameter(help="How many models are trained at the same time.")] = 1,
) -> None:
    """Identify a system in the browser: load a log, train, compare, take away.

    It listens on this machine only and prints an address with a secret word in it. Everything is
    kept in the project folder. Ctrl-C ends it; models that are being trained are saved.
    """
    from prssm.studio.server import serve
    from prssm.studio.settings import StudioSettings

    settings = StudioSettings(
        data=data,
        project=project,
        host=host,
        port=port,
        allow_remote=allow_remote,
        upload=upload,
        at_once=at_once,
    )
    serve(settings, browser=not no_browser, say=_say)


def _say(line: str) -> None:
    print(line, flush=True)
