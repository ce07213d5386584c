"""An endpoint's address and key, checked before anything is sent."""

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import urlsplit

from vpp.errors import InputError

NO_KEY = "EMPTY"
"""Sent if there is no key: the client refuses an empty one, and servers without keys ignore it."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
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


def is_loopback(address: str) -> bool:
    """Return whether the server runs on this machine, so that no proxy can reach it."""
    host = plain_host(urlsplit(address).hostname or "")
    spelled = literal(host)
    if spelled is not None:
        return spelled.is_loopback
    return host == "localhost" or host.endswith(".localhost")


def plain_host(host: str) -> str:
    """Return the canonical spelling of a host: lower case, no dot at its end, numbers as IP addresses."""
    plain = host.strip().lower().rstrip(".")
    address = literal(plain)
    return plain if address is None else str(address)


def literal(host: str) -> Address | None:
    """Return the IP address that a host spells out, also as one number, hexadecimal or octal; None for a name."""
    plain = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(plain)) if _NUMERIC.match(plain.lower()) else None
        except OSError:
            return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


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
        is_normal = unicodedata.is_normalized("NFKC", parts.netloc)  # otherwise it may resolve to another host
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        return is_place and is_normal and is_web
    except ValueError:
        return False
