"""An endpoint's address and key, checked before anything is sent."""

import re
from urllib.parse import urlsplit

from vpp.errors import InputError

NO_KEY = "EMPTY"
"""Sent where there is no key: the client refuses an empty one, and servers without keys ignore it."""

_HOST = re.compile(r"(?!https?:)[\w-]+(\.[\w-]+)*(:\d+)?(/[^\s@]*)?$")
"""How an address without its scheme begins."""


def checked_address(base_url: str) -> str:
    """The address without a slash at its end. Raises InputError."""
    address = base_url.strip().rstrip("/")
    if not _is_whole(address):
        raise InputError(f"the endpoint's address {address[:200]!r} is not whole: write it as {_whole(address)}")
    if "@" in urlsplit(address).netloc:
        raise InputError("the endpoint's address holds a user name or password: give it as the API key instead")
    if urlsplit(address).query or urlsplit(address).fragment:
        raise InputError("the endpoint's address holds a query: leave it out, and give a key as the API key")
    return address


def checked_key(api_key: str | None) -> str:
    """A key that a header can carry. Raises InputError, which does not repeat it."""
    key = (api_key or "").strip() or NO_KEY
    if not (key.isascii() and key.isprintable()):
        raise InputError("the API key holds characters that no header can carry: paste it again")
    return key


def is_loopback(address: str) -> bool:
    """Whether the server runs on this machine, so that no proxy can reach it."""
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def _whole(address: str) -> str:
    """What may have been meant, where only the scheme is missing; else the form of one."""
    guess = f"http://{address}" if "/" in address else f"http://{address}/v1"
    return guess[:200] if _HOST.match(address) and _is_whole(guess) else "http://host:port/v1"


def _is_whole(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
