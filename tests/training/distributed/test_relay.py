"""The relay passes everything on, and tells the loss of process 0 from an end of our own."""

import socket
import threading

from prssm.training.distributed.relay import relay_to

SECONDS = 10.0


def connected(lost) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection through a relay: ours, and that of process 0."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = relay_to(f"127.0.0.1:{listening.getsockname()[1]}", lost)
        host, _, port = address.partition(":")
        near = socket.create_connection((host, int(port)), SECONDS)
        far, _ = listening.accept()
        far.settimeout(SECONDS)
    return near, far


def test_everything_is_passed_on_both_ways():
    near, far = connected(lambda: None)
    for one, other in ((near, far), (far, near)):
        one.sendall(b"x" * 300_000)
        found = b""
        while len(found) < 300_000:
            found += other.recv(100_000)
        assert found == b"x" * 300_000
    near.close()
    far.close()


def test_the_end_of_process_0_is_told_and_our_side_stays_open():
    told = threading.Event()
    held = threading.Event()

    def lost() -> None:
        told.set()
        held.wait(SECONDS)

    near, far = connected(lost)
    far.close()
    assert told.wait(SECONDS)
    near.setblocking(False)
    try:
        near.recv(1)
        raise AssertionError("our side was closed")
    except BlockingIOError:
        pass  # open, and nothing to read
    held.set()
    near.close()


def test_an_end_of_our_own_is_no_loss():
    told = threading.Event()
    near, far = connected(told.set)
    near.close()
    assert far.recv(1) == b""
    far.close()
    assert not told.wait(0.2)


def test_where_nobody_listens_the_connection_ends_and_can_be_tried_again():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    told = threading.Event()
    address = relay_to(f"127.0.0.1:{port}", told.set)
    near = socket.create_connection(("127.0.0.1", int(address.partition(":")[2])), SECONDS)
    assert near.recv(1) == b""
    near.close()
    assert not told.is_set()
