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
                self._send(200, {"data": [{"id": short("listed", leak)}, {"id": REFUSED}]})
                return
            if MARK in self.path:
                heard.append(self.path)
            self._send(404, {})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if request["model"] == REFUSED:
                self._send(404, {"error": {"message": harm("error", leak), "code": short("code", leak)}})
                return
            content = f"Explanation: {harm('said', leak)}\nOutput: {short('label-yes', leak)}"
            message = {"role": "assistant", "content": content, "reasoning": harm("mused", leak)}
            self._send(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

        def _send(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listening) as server:
        leak = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield leak, heard
        server.shutdown()
        thread.join()
