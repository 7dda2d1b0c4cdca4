"""A server on loopback that answers like an OpenAI-compatible one, with text that is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

MODEL = "recorded"


@contextmanager
def served(answer: Callable[[str], str]) -> Iterator[str]:
    """Its base URL. `answer` gets the last message of each request, one request at a time."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(answer: Callable[[str], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [{"id": MODEL, "object": "model"}]}))

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = answer(asked["messages"][-1]["content"])
            self._send("text/event-stream", "".join(f"data: {one}\n\n" for one in _events(said)))

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _events(said: str) -> Iterator[str]:
    def chunk(**facts: Any) -> str:
        return json.dumps({"id": "1", "object": "chat.completion.chunk", "created": 0, "model": MODEL, **facts})

    yield chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": said}, "finish_reason": None}])
    yield chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    yield "[DONE]"
