"""An endpoint's address and key, checked before anything is sent."""

import ipaddress
import re
import socket
from contextlib import suppress
from urllib.parse import urlsplit

from vpp.errors import InputError

NO_KEY = "EMPTY"
"""Sent if there is no key: the client refuses an empty one, and servers without keys ignore it."""

_NUMERIC = re.compile(r"[0-9a-fx.]*[0-9][0-9a-fx.]*$")
_PLACE = re.compile(r"(\[[0-9a-fA-F:.]+(%[\w.-]+)?\]|[\w.-]+)(:\d*)?$")
"""Host and port, without characters that two parsers of an address may read differently."""
_HOST = re.compile(r"(?!https?:)[\w-]+(\.[\w-]+)*(:\d+)?(/[^\s@]*)?$")
"""An address without its scheme."""


def checked_address(base_url: str) -> str:
    """Return the address without a slash at its end. Raises InputError."""
    address = base_url.strip().rstrip("/")
    if not _is_complete(address):
        raise InputError(f"the endpoint's address {address[:200]!r} is incomplete: write it as {_example(address)}")
    if "@" in urlsplit(address).netloc:
        raise InputError("the endpoint's address holds a user name or password: give it as the API key instead")
    if {"?", "#"} & set(address):
        raise InputError("the endpoint's address holds a query: leave it out, and give a key as the API key")
    return address


def checked_key(api_key: str | None) -> str:
    """Return the key, empty if there is none. Raises InputError, without the key, if no header can carry it."""
    key = (api_key or "").strip()
    key = "" if key == NO_KEY else key
    if not (key.isascii() and key.isprintable()):
        raise InputError("the API key holds characters that no header can carry: paste it again")
    return key


def place_of(base_url: str) -> str:
    """Return scheme, host and port as they were written."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc[:200]}"


def exact(base_url: str) -> str:
    """Return the one spelling of an address: two are the same server and path if these are equal."""
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return base_url
    return f"{parts.scheme}://{plain_host(parts.hostname or '')}:{port}{parts.path.rstrip('/')}"


def is_loopback(address: str) -> bool:
    """Return whether the server runs on this machine, so that no proxy can reach it."""
    host = plain_host(urlsplit(address).hostname or "")
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def plain_host(host: str) -> str:
    """Return the one spelling of a host: lower case, no dot at its end, a number in any notation as IP address."""
    plain = host.strip("[]").partition("%")[0].lower().rstrip(".")
    with suppress(ValueError):
        address = ipaddress.ip_address(plain)
        return str(getattr(address, "ipv4_mapped", None) or address)
    with suppress(OSError):
        return socket.inet_ntoa(socket.inet_aton(plain)) if _NUMERIC.match(plain) else plain
    return plain


def _example(address: str) -> str:
    """Return the address with a scheme if only that is missing, else an example."""
    guess = f"http://{address}" if "/" in address else f"http://{address}/v1"
    return guess[:200] if _HOST.match(address) and _is_complete(guess) else "http://host:port/v1"


def _is_complete(address: str) -> bool:
    if not address.isprintable() or " " in address:
        return False  # urlsplit drops some of these silently, other parsers do not
    try:
        parts = urlsplit(address)
        is_place = bool(_PLACE.match(parts.netloc.rpartition("@")[2]))
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        return is_place and is_web
    except ValueError:
        return False
