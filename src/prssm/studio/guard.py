"""Who may talk to the server: only a page that was opened with the secret word in its address.

Every request passes `Guard` before anything else sees it. It refuses hosts that are not ours (a
foreign name that was made to point here), requests that another site's page sends, and requests
without the secret word. The word comes once in the address; then a cookie holds it that scripts
cannot read.
"""

import hmac
from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_HEADERS = {
    # no script but our own files; styles may be set by Bokeh, which draws with them
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAME = ("same-origin", "none")  # values of Sec-Fetch-Site of our own page, or of a typed address


class Guard:
    """Middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, names: Iterable[str] = ()) -> None:
        self._app = app
        self._token = token
        self._port = port
        self._names = {"localhost", *names}

    @property
    def cookie(self) -> str:
        """The cookie's name; ports share cookies, so each studio has its own."""
        return f"prssm_studio_{self._port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks another protocol
        headers = Headers(scope=scope)
        fresh = self._word_in_address(scope)
        refusal = self._refusal(scope, headers, fresh)
        told = self._with_headers(send, set_cookie=fresh and refusal is None)
        if refusal is not None:
            await refusal(scope, receive, told)
            return
        await self._app(scope, receive, told)

    def _refusal(self, scope: Scope, headers: Headers, fresh: bool) -> PlainTextResponse | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            return PlainTextResponse("This is not the address of the studio.", 421)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("The studio answers no other site.", 403)
        site = headers.get("sec-fetch-site", "none")
        if site not in _SAME and not (fresh and scope["method"] == "GET"):
            return PlainTextResponse("The studio answers no other site.", 403)
        if scope["method"] not in ("GET", "HEAD") and origin is None:
            return PlainTextResponse("A change needs to say which page it comes from.", 403)
        if not fresh and not self._has_cookie(headers):
            return PlainTextResponse(
                "Open the address that `prssm studio` has printed: it holds a secret word. "
                "If the studio was started again, it has printed a new one.",
                403,
            )
        return None

    def _is_ours(self, host: str) -> bool:
        """A name that we were told, or a plain address, which nobody can make point elsewhere."""
        name, _, port = host.rpartition(":")
        if port != str(self._port):
            return False
        if name in self._names:
            return True
        try:
            ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _word_in_address(self, scope: Scope) -> bool:
        """Whether this is the first visit, with the right word in the address of the page."""
        if scope["path"] != "/":
            return False
        words = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return any(self._matches(word) for word in words)

    def _has_cookie(self, headers: Headers) -> bool:
        found = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        return self._matches(found)

    def _matches(self, word: str) -> bool:
        return hmac.compare_digest(word.encode(), self._token.encode())

    def _with_headers(self, send: Send, *, set_cookie: bool) -> Send:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers.setdefault(name, value)
                if set_cookie:
                    rules = "HttpOnly; SameSite=Strict; Path=/"
                    headers.append("Set-Cookie", f"{self.cookie}={self._token}; {rules}")
            await send(message)

        return told
