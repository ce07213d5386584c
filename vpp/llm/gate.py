"""Addresses and keys of endpoints, checked before anything is sent, and the servers that may be asked.

Any server may be, but clouds' metadata services; in a shared app only those that its owner lists.
"""

import ipaddress
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from vpp.environment import Environment
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


# --- the servers that may be asked ----------------------------------------------------------------------------------

METADATA = (
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("fd00:ec2::254", "fd20:ce::254", "metadata.google.internal", "metadata.goog", "metadata", "instance-data"),
)
"""Metadata services of clouds: they give credentials of the machine to whoever asks from it."""


class AddressRefused(OSError):
    """A name leads to a metadata service; no connection was opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The servers and models that may be asked; by default any server but METADATA, and any model."""

    servers: tuple[str, ...] | None = None
    """The only base URLs that may be asked, each in any spelling; None: any but METADATA."""
    models: tuple[str, ...] = ()
    """The only models; empty: any."""

    def __post_init__(self) -> None:
        """Raise InputError for a listed address that is none."""
        for base_url in self.servers or ():
            checked_address(base_url)

    @classmethod
    def of(cls, environment: Environment) -> "Gate":
        """Return the gate that the owner's environment variables describe."""
        own = tuple(filter(None, (environment.base_url, environment.optimizer_base_url)))
        if environment.demo_only:
            return cls(servers=())
        if environment.endpoint_fixed:
            return cls(servers=own, models=tuple(filter(None, (environment.model, environment.optimizer_model))))
        return cls(servers=(*own, *environment.allowed_endpoints)) if environment.is_shared else cls()

    def check(self, base_url: str, model: str = "") -> None:
        """Raise InputError if the server or the model may not be asked. Looks up no name."""
        address = checked_address(base_url)
        if plain_host(urlsplit(address).hostname or "") in METADATA:
            raise InputError(f"{address[:200]} is a cloud's metadata service: give the address of a model's server")
        if self.servers is not None and exact(address) not in map(exact, self.servers):
            others = "one that its owner has listed" if self.servers else "the built-in demo model"
            raise InputError(
                f"{address[:200]} is not among the endpoints that may be asked here: take {others}, or ask the owner "
                "to list it (VPP_ALLOWED_ENDPOINTS)"
            )
        if model and self.models and model not in self.models:
            raise InputError(f"model {model[:80]!r} is not among those that may be asked here: take {self.models[0]!r}")


def socket_for(address_info: Any) -> socket.socket:
    """Make the socket of a connection. Raises AddressRefused for an address of a metadata service."""
    family, kind, protocol, _, where = address_info
    if plain_host(host := str(where[0])) in METADATA:
        raise AddressRefused(f"its name leads to {host}, a cloud's metadata service: give another address")
    return socket.socket(family, kind, protocol)
