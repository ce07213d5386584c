"""A server outside the app: it hears who fetches from it, and answers as an OpenAI-compatible one that means harm."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.hostile.payload import MARK, harm, short

REFUSED = "refused"
"""A model that is answered with an error."""


@contextmanager
def listener() -> Iterator[tuple[str, list[str]]]:
    """The server's address, and what a hostile text made anyone fetch: the paths that hold MARK."""
    heard: list[str] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith("/models"):
                self._send(200, {"data": [{"id": short("listed", self._leak())}, {"id": REFUSED}]})
                return
            if MARK in self.path:
                heard.append(self.path)
            self._send(404, {})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if asked["model"] == REFUSED:
                self._send(
                    404, {"error": {"message": harm("error", self._leak()), "code": short("code", self._leak())}}
                )
                return
            said = f"Explanation: {harm('said', self._leak())}\nOutput: {short('label-yes', self._leak())}"
            message = {"role": "assistant", "content": said, "reasoning": harm("mused", self._leak())}
            self._send(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

        def _leak(self) -> str:
            return f"http://127.0.0.1:{self.server.server_address[1]}"

        def _send(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listening)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
