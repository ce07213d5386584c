"""Addresses and keys of endpoints, checked before anything is sent, and the servers that may be asked.

Any server may be; in a shared app only those whose exact addresses its owner lists.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from vpp.environment import Environment
from vpp.errors import InputError

NO_KEY = "EMPTY"
"""Sent if there is no key: the client refuses an empty one, and servers without keys ignore it."""
_ADDRESS = re.compile(
    r"(https?)://(\[[\da-f:.]+\]|\w[\w-]{0,62}(?:\.[\w-]{1,63})*\.?)(?::(\d{0,5}))?(/[^\s?#\\]*)?(\?api-version=[\w.-]+)?",
    re.ASCII | re.IGNORECASE,
)


def canonical(base_url: str) -> str:
    """Return the one spelling of an address: two are the same server and path if these are equal; empty if none is."""
    if not (parts := _ADDRESS.fullmatch(base_url.strip())):
        return ""
    scheme, host, port, path, query = (part or "" for part in parts.groups())
    with suppress(ValueError):
        number = int(port or {"http": 80, "https": 443}[scheme.lower()])
        if host.startswith("[") or not re.search("[a-z_-]", host, re.IGNORECASE):
            ip_address(host.strip("[]"))
        if 0 < number < 2**16:
            return f"{scheme}://{host.rstrip('.')}:{number}".lower() + path.rstrip("/") + query
    return ""


def checked_address(base_url: str) -> str:
    """Return the address without a slash at its end. Raises InputError."""
    address = base_url.strip().rstrip("/")
    plain = address.partition("?api-version=")[0]
    if "@" in plain.partition("//")[2].partition("/")[0] or {"?", "#"} & set(plain):
        raise InputError("the endpoint's address holds a user name or password, or a query: give it as the API key")
    if not canonical(address):
        complete = f"http://{address}" if "/" in address else f"http://{address}/v1"
        example = complete if canonical(complete) and "://" not in address else "http://host:port/v1"
        raise InputError(f"the endpoint's address {address[:200]!r} is incomplete: write it as {example[:200]}")
    return address


def sendable(name: str, text: str | None) -> str:
    """Return a key or the value of a header. Raises InputError, without it, if no header can carry it."""
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isprintable()):
        raise InputError(f"{name} holds characters that no header can carry: paste it again")
    return "" if plain == NO_KEY else plain


Headers = tuple[tuple[str, str], ...]
"""Names and values of headers that are sent with every request; the values are secret."""
OWN_FIELDS = frozenset(
    ("model", "messages", "stream", "n", "temperature", "seed", "max_tokens", "max_completion_tokens")
)
"""Fields of a request that a run decides."""


def headers_of(text: str) -> Headers:
    """Return the headers of lines `NAME=VALUE`. Raises InputError, without the value."""
    headers = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, value = (part.strip() for part in line.partition("="))
        if not value or not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name, re.ASCII):
            raise InputError("a header is not NAME=VALUE: give --header NAME=VALUE, or a line of VPP_HEADERS each")
        headers[name] = sendable(f"the header {name}", value)
    return tuple(headers.items())


def body_of(text: str) -> dict[str, Any]:
    """Return the further fields of a request's body, from a JSON object. Raises InputError."""
    try:
        body = json.loads(text or "{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError(f'body is {text[:80]!r}: give a JSON object, such as {{"provider": {{"sort": "price"}}}}')
    if own := sorted(OWN_FIELDS & body.keys()):
        raise InputError(f"body holds {', '.join(own)}, which the run decides: leave it out, or use its option")
    return body


def is_loopback(address: str) -> bool:
    """Return whether the server runs on this machine, so that no proxy can reach it."""
    host = urlsplit(address).hostname or ""
    return re.fullmatch(r"(.*\.)?localhost|127(\.\d{1,3}){3}|::1", host) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The servers and models that may be asked; by default any."""

    servers: tuple[str, ...] | None = None
    """The only base URLs that may be asked; None: any."""
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for base_url in self.servers or ():
            checked_address(base_url)

    @classmethod
    def of(cls, environment: Environment) -> "Gate":
        own = tuple(filter(None, (environment.base_url, environment.optimizer_base_url)))
        if environment.demo_only:
            return cls(servers=())
        if environment.endpoint_fixed:
            return cls(servers=own, models=tuple(filter(None, (environment.model, environment.optimizer_model))))
        return cls(servers=(*own, *environment.allowed_endpoints)) if environment.is_shared else cls()

    def check(self, base_url: str, model: str = "") -> None:
        """Raise InputError if the server or the model may not be asked."""
        address = checked_address(base_url)
        if self.servers is not None and canonical(address) not in map(canonical, self.servers):
            others = "one that its owner has listed" if self.servers else "the built-in demo model"
            raise InputError(
                f"{address[:200]} is not among the endpoints that may be asked here: take {others}, or ask the owner "
                "to list it (VPP_ALLOWED_ENDPOINTS)"
            )
        if model and self.models and model not in self.models:
            raise InputError(f"model {model[:80]!r} is not among those that may be asked here: take {self.models[0]!r}")
