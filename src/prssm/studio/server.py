"""Serves a studio until Ctrl-C: finds a port, prints the address, opens the browser."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from prssm.foundation.errors import MissingExtraError, OptionError
from prssm.foundation.locks import alone
from prssm.studio.settings import StudioSettings, is_loopback

if TYPE_CHECKING:
    from prssm.studio.studio import Studio

LOCK = ".studio.lock"  # held by the one studio that has a project open
EXTRA = "the studio needs more packages: pip install 'prssm[studio]'"


def serve(settings: StudioSettings, *, browser: bool, say: Callable[[str], None]) -> None:
    """Run the server; returns after Ctrl-C or SIGTERM."""
    try:
        import bokeh  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"{EXTRA} ({error.name} is missing)") from None
    from prssm.studio.project.logs import check_word
    from prssm.studio.studio import Studio

    for word in settings.data:
        check_word(word)  # before anything is written
    with alone(settings.project / LOCK) as is_alone:
        if not is_alone:
            raise OptionError(f"--project: another studio has {str(settings.project)!r} open")
        _serve(Studio(settings), browser=browser, say=say)


def _serve(studio: Studio, *, browser: bool, say: Callable[[str], None]) -> None:
    import uvicorn

    from prssm.studio.app import make_app

    host = studio.settings.host
    listening = _listening(studio.settings)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(24)
    names = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
    app = make_app(studio, token=token, port=port, names=names)
    address = f"http://{_shown(host)}:{port}/?token={token}"
    say(f"studio: {address}")
    say(f"project: {studio.folder}; Ctrl-C ends the studio")
    if browser:
        threading.Timer(0.5, webbrowser.open, (address,)).start()
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)

    class Server(uvicorn.Server):
        """Ends the streams of open pages first: they would keep it waiting."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            studio.close()
            super().handle_exit(sig, frame)

    Server(config).run(sockets=[listening])


def _listening(settings: StudioSettings) -> socket.socket:
    """A socket at the wanted address, opened before anything is promised."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()  # who opens the address at once waits, and is not turned away
    except OSError as error:
        raise OptionError(
            f"--host and --port: cannot listen at {settings.host}:{settings.port}: "
            f"{error.strerror or error}"
        ) from None
    return opened


def _shown(host: str) -> str:
    """The host as a browser takes it."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
