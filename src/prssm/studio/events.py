"""What the server tells open pages by itself: server-sent events.

Anything may call `tell` from any thread; every open page hears it. An event only says that there is
news: the page then asks for all it shows, so that a page that reads slowly may miss some of many.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

_WAITING = 100  # events that one page may leave unread
_STILL = 15.0  # seconds after which a line is sent that says nothing, to keep the way open


class Events:
    """The open pages, and the way to tell them something."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may close what its own thread is telling
        self._pages: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self._closed = False

    def tell(self, kind: str, **more: Any) -> None:
        """Say to all pages that something has changed: 'logs', 'jobs', 'model', ..."""
        text = json.dumps({"kind": kind, **more})
        with self._lock:
            pages = list(self._pages.items())
        for queue, loop in pages:
            loop.call_soon_threadsafe(_put, queue, text)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        with self._lock:
            self._closed = True
            pages = list(self._pages.items())
        for queue, loop in pages:
            loop.call_soon_threadsafe(_put, queue, None)

    async def stream(self) -> AsyncIterator[str]:
        """The lines of one page, until it goes away."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        with self._lock:
            if self._closed:
                return
            self._pages[queue] = asyncio.get_running_loop()
        try:
            yield 'data: {"kind": "hello"}\n\n'
            while True:
                try:
                    text = await asyncio.wait_for(queue.get(), _STILL)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if text is None:
                    return
                yield f"data: {text}\n\n"
        finally:
            with self._lock:
                self._pages.pop(queue, None)


def _put(queue: "asyncio.Queue[str | None]", text: str | None) -> None:
    if text is not None and queue.qsize() > _WAITING:
        return  # the page asks for everything once it reads those before
    queue.put_nowait(text)
