"""Decides which requests may read and which may steer: a token for each start, sessions, and a second secret.

Only digests are kept: the memory of a finished request holds nothing to use. A cookie alone cannot steer,
because a browser sends it to every port of this machine, and an agent may listen on one of them. The second secret is
kept by the page, whose storage belongs to one port.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import deque
from hashlib import sha256

import msgspec

TOKEN_BYTES = 24
MOST_WRONG = 5
WINDOW_SECONDS = 30.0
"""After so many wrong tokens in this time, no token is looked at until the time is over."""
MOST_SESSIONS = 50


class LoggedIn(msgspec.Struct, frozen=True):
    cookie: str
    secret: str


class TooManyWrongTokens(Exception):  # noqa: N818 - it reads as a sentence
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Access:
    def __init__(self, *, read_only: bool = False) -> None:
        self.read_only = read_only
        self._token = b""
        self._sessions: dict[bytes, bytes] = {}
        """Digest of the cookie → digest of the second secret."""
        self._wrong: deque[float] = deque()
        self._lock = threading.Lock()
        self.refused = 0
        """Wrong tokens since the start."""

    def issue(self) -> str:
        """A new token; the one before it no longer counts."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._token = _digest(token)
        return token

    def log_in(self, token: str) -> LoggedIn | None:
        """None: the token is wrong. Raises TooManyWrongTokens."""
        with self._lock:
            self._refuse_haste()
            if not self._token or not hmac.compare_digest(_digest(token), self._token):
                self._wrong.append(time.monotonic())
                self.refused += 1
                return None
            session = LoggedIn(secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES))
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[_digest(session.cookie)] = _digest(session.secret)
            return session

    def may_look(self, cookie: str) -> bool:
        return _digest(cookie) in self._sessions

    def may_act(self, cookie: str, secret: str) -> bool:
        known = self._sessions.get(_digest(cookie))
        return known is not None and hmac.compare_digest(_digest(secret), known)

    def log_out(self, cookie: str) -> None:
        self._sessions.pop(_digest(cookie), None)

    def _refuse_haste(self) -> None:
        now = time.monotonic()
        while self._wrong and self._wrong[0] <= now - WINDOW_SECONDS:
            self._wrong.popleft()
        if len(self._wrong) >= MOST_WRONG:
            raise TooManyWrongTokens(self._wrong[0] + WINDOW_SECONDS - now)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
