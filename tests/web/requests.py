"""Requests to a page's server as any program can send them, with any header."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aotloop.web.server import ServerOptions, serving
from tests.patience import PATIENCE


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    port: int
    token: str
    cookie: str = ""
    secret: str = ""
    host: str = field(default="")

    def send(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        """A header that is None is not sent. Names are written with `_`."""
        host = self.host or f"127.0.0.1:{self.port}"
        content = json.dumps(body).encode() if body is not None else b""
        usual: dict[str, str | None] = {"host": host}
        if method == "POST":
            usual |= {"origin": f"http://{host}", "content-type": "application/json", "x-aot-secret": self.secret}
            usual |= {"content-length": str(len(content))}
        if self.cookie:
            usual["cookie"] = self.cookie
        usual |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in usual.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(content)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.send("GET", path, None, **headers)

    def post(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return self.send("POST", path, body if body is not None else {}, **headers)

    def log_in(self) -> Client:
        answer = self.post("/api/login", {"token": self.token})
        assert answer.status == 200, answer.body
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.secret = answer.data["secret"]
        return self

    @contextmanager
    def listening(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """A stream that is open meanwhile."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers={"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie})
            yield connection.getresponse()
        finally:
            connection.close()

    def stream(self, path: str, most: int, **headers: str) -> list[tuple[str, str, Any]]:
        """The first messages of a stream: kind, id, data."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            sent = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie, **headers}
            connection.request("GET", path, headers=sent)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            return list(_messages(response, most))
        finally:
            connection.close()


def _messages(response: http.client.HTTPResponse, most: int) -> Iterator[tuple[str, str, Any]]:
    kind = mark = ""
    while most:
        line = response.readline().decode().rstrip("\n")
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "id":
            mark = value
        elif name == "data":
            yield kind, mark, json.loads(value)
            kind = mark = ""
            most -= 1


@contextmanager
def a_server(**options: Any) -> Iterator[Client]:
    with serving(ServerOptions(**{"host": "127.0.0.1", **options})) as page:
        yield Client(int(page.url.rpartition(":")[2]), page.token)
