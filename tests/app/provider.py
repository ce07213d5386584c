"""An OpenID Connect provider on loopback, for tests: it logs in whoever is clicked on."""

import json
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

USERS = ("ann", "bob", "eve")
CLIENT, SECRET = "vpp", "client-secret-of-the-tests"


class Provider(ThreadingHTTPServer):
    """Its address, its key, and the codes it has given out."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "k1", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, dict[str, Any]] = {}


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        pages = {
            "/.well-known/openid-configuration": self.describe,
            "/jwks": self.keys,
            "/authorize": self.choose,
            "/as": self.come_back,
        }
        pages.get(parts.path, self.nothing)(asked)

    def do_POST(self) -> None:
        """A token for a code, once, and for the client alone."""
        asked = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        given = b64decode(self.headers.get("authorization", "Basic ").split()[1]).decode()
        if given != f"{CLIENT}:{SECRET}":
            self.reply({"error": "invalid_client"}, 401)
            return
        claims = self.server.codes.pop(asked["code"][0])
        token = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.server.key)
        self.reply({"access_token": "access-0123", "token_type": "Bearer", "expires_in": 3600, "id_token": token})

    def describe(self, _: dict[str, str]) -> None:
        url = self.server.url
        self.reply(
            {
                "issuer": url,
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
                "jwks_uri": f"{url}/jwks",
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    def nothing(self, _: dict[str, str]) -> None:
        self.send(404, b"", "text/plain")

    def keys(self, _: dict[str, str]) -> None:
        self.reply({"keys": [self.server.key.as_dict(private=False)]})

    def choose(self, asked: dict[str, str]) -> None:
        kept = {name: asked[name] for name in ("redirect_uri", "state", "nonce")}
        links = "".join(f'<a href="/as?{urlencode({**kept, "who": who})}">{who}</a> ' for who in USERS)
        self.send(200, links.encode(), "text/html")

    def come_back(self, asked: dict[str, str]) -> None:
        who, now = asked["who"], int(time.time())
        code = f"code-{who}-{len(self.server.codes)}"
        self.server.codes[code] = {
            "iss": self.server.url,
            "sub": f"{who}/../../<b>",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": asked["nonce"],
            "email": f"{who}@{'evil.org' if who == 'eve' else 'lab.org'}",
            "email_verified": True,
            "name": f"{who.capitalize()} <i>of</i> **the lab**",
        }
        self.send_response(302)
        self.send_header("location", f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")
        self.end_headers()

    def reply(self, content: object, status: int = 200) -> None:
        self.send(status, json.dumps(content).encode(), "application/json")

    def send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@contextmanager
def providing() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
