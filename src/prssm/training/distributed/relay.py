"""The way to process 0, on which its loss is noticed before JAX notices it.

JAX ends a process that has lost process 0 with a crash, so the others reach it through a relay of
their own: `address = relay_to("host:port", lost)` is a local address that stands for it. When
process 0's side of a connection ends, the relay keeps JAX's side open and calls `lost`.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

_BYTES = 1 << 16  # taken at a time
_CONNECTS_WITHIN = 10.0  # seconds; JAX tries again


def relay_to(address: str, lost: Callable[[], None]) -> str:
    """A local address that leads to another one; `lost` is called when that one goes away.

    Nothing is listened for on a network, only on this machine.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_serve, args=(listening, address, lost), daemon=True).start()
    return f"127.0.0.1:{listening.getsockname()[1]}"


def _serve(listening: socket.socket, address: str, lost: Callable[[], None]) -> None:
    """Each connection from this side gets one to the other side."""
    host, _, port = address.rpartition(":")
    while True:
        near, _ = listening.accept()
        try:
            far = socket.create_connection((host.strip("[]"), int(port)), _CONNECTS_WITHIN)
        except OSError:
            near.close()  # process 0 is not there yet: JAX tries again
            continue
        far.settimeout(None)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        left = threading.Event()  # this side has ended the connection itself
        threading.Thread(target=_outwards, args=(near, far, left), daemon=True).start()
        threading.Thread(target=_inwards, args=(near, far, left, lost), daemon=True).start()


def _outwards(near: socket.socket, far: socket.socket, left: threading.Event) -> None:
    with suppress(OSError):  # of the far side; `_inwards` hears of its end too
        for content in _contents(near):
            far.sendall(content)
        left.set()
        far.shutdown(socket.SHUT_RDWR)


def _inwards(
    near: socket.socket, far: socket.socket, left: threading.Event, lost: Callable[[], None]
) -> None:
    with suppress(OSError):  # of the near side, which has gone
        for content in _contents(far):
            near.sendall(content)
    if not left.is_set():
        lost()
    for end in (near, far):
        end.close()


def _contents(source: socket.socket) -> Iterator[bytes]:
    """All that comes, until the connection ends or breaks."""
    with suppress(OSError):
        while content := source.recv(_BYTES):
            yield content
