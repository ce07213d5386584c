"""An OpenID Connect provider on loopback, for tests: it logs in whoever is clicked on."""

import socket
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route

USERS = ("ann", "bob", "eve")
CLIENT, SECRET = "vpp", "client-secret-of-the-tests"
KEY = RSAKey.generate_key(2048, parameters={"kid": "k1", "use": "sig", "alg": "RS256"})
CODES: dict[str, dict[str, Any]] = {}
"""Claims by the codes that were given out."""


def describe(request: Request) -> JSONResponse:
    url = str(request.base_url).rstrip("/")
    ways = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
    about = {"response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["RS256"]}
    return JSONResponse({"issuer": url, **{name: f"{url}/{path}" for name, path in ways.items()}, **about})


def keys(_: Request) -> JSONResponse:
    return JSONResponse({"keys": [KEY.as_dict(private=False)]})


def choose(request: Request) -> HTMLResponse:
    kept = {name: request.query_params[name] for name in ("redirect_uri", "state", "nonce")}
    return HTMLResponse("".join(f'<a href="/as?{urlencode({**kept, "who": who})}">{who}</a> ' for who in USERS))


def come_back(request: Request) -> RedirectResponse:
    asked, now = request.query_params, int(time.time())
    who, code = asked["who"], f"code-{asked['who']}-{len(CODES)}"
    CODES[code] = {
        "iss": str(request.base_url).rstrip("/"),
        "sub": f"{who}/../../<b>",
        "aud": CLIENT,
        "iat": now,
        "exp": now + 600,
        "nonce": asked["nonce"],
        "email": f"{who}@{'evil.org' if who == 'eve' else 'lab.org'}",
        "email_verified": True,
        "name": f"{who.capitalize()} <i>of</i> **the lab**",
    }
    return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}", 302)


async def token(request: Request) -> JSONResponse:
    """A token for a code, once, and for the client alone."""
    asked = parse_qs((await request.body()).decode())
    if b64decode(request.headers.get("authorization", "Basic ").split()[1]).decode() != f"{CLIENT}:{SECRET}":
        return JSONResponse({"error": "invalid_client"}, 401)
    made = jwt.encode({"alg": "RS256", "kid": "k1"}, CODES.pop(asked["code"][0]), KEY)
    return JSONResponse({"access_token": "access-0123", "token_type": "Bearer", "expires_in": 3600, "id_token": made})


PAGES = {"/.well-known/openid-configuration": describe, "/jwks": keys, "/authorize": choose, "/as": come_back}


@contextmanager
def provider() -> Iterator[str]:
    routes = [*(Route(path, page) for path, page in PAGES.items()), Route("/token", token, methods=["POST"])]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning", lifespan="off", ws="none"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
