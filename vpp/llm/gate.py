"""Allow-list of servers, against server-side request forgery.

Names are checked before a request is made, IP addresses when a connection is opened. An IP address is barred
(link-local, cloud metadata, or no host's), loopback, private or public.

- A barred address is allowed only if the owner names exactly that address.
- If others than the owner reach the app, loopback and private addresses are allowed only if the owner names them.
- If the owner gives a list, only servers on it are allowed.

`*.domain` covers names that others may create, so it allows public addresses only.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

from vpp.environment import Environment
from vpp.errors import InputError
from vpp.llm.address import Address, is_loopback, literal, place_of, plain_host

Kind = Literal["barred", "loopback", "private", "public"]
METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "metadata", "instance-data"})
"""Names of clouds' metadata services: barred whatever they resolve to, so that no proxy is asked for them."""
_BARRED = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"),
            *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"),  # metadata of Alibaba, Azure and Oracle
            *("::/128", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128"),
            "64:ff9b:1::/48",  # local NAT64: only that network knows which IPv4 address it stands for
        ),
    )
)
_EMBEDDINGS = (
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
"""IPv6 networks that embed IPv4 addresses, and by how many bits these are shifted."""
_PLAIN = re.compile(r"[A-Za-z0-9._~!$&'()*+,=:@-]+")
"""A path segment that every server parses alike: no escape (%2f, %2e, %25), no backslash, no parameter (;)."""
_PORTS = {"http": 80, "https": 443}
_WHY: dict[Kind, str] = {
    "barred": "a link-local or metadata address",
    "loopback": "an address of the server's own machine",
    "private": "an address of a private network",
}


class AddressRefused(OSError):
    """The gate forbids a connection, which was not opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An entry of the owner's list."""

    host: str
    """Canonical host; `*.` before a domain covers every name below it."""
    scheme: str = ""
    """Empty: any."""
    port: int | None = None
    """None: any."""
    path: str = ""
    """Prefix of the address's path, in complete segments."""

    @property
    def is_wild(self) -> bool:
        """Return whether it covers the names below a domain."""
        return self.host.startswith("*.")

    def covers(self, base_url: str) -> bool:
        """Return whether it allows this address."""
        parts = urlsplit(base_url)
        host = plain_host(parts.hostname or "")
        below = host.isascii() and host.endswith(self.host[1:]) and len(host) >= len(self.host)
        same = below if self.is_wild else host == self.host
        return (
            same
            and self.scheme in ("", parts.scheme)
            and self.port in (None, parts.port or _PORTS.get(parts.scheme))
            and "@" not in parts.netloc
            and not ({"?", "#"} & set(base_url))
            and _is_below(parts.path, self.path)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The servers that may be asked. By default every address that is not barred, for an app with one user."""

    named: tuple[str, ...] = ()
    """Base URLs, host[:port] or *.domain."""
    is_list: bool = False
    """True if only named servers are allowed."""
    is_shared: bool = False
    """True if others than the owner reach the app."""
    models: tuple[str, ...] = ()
    """Allowed models; empty: any."""

    def __post_init__(self) -> None:
        """Raise InputError for an invalid name."""
        for name in self.named:
            named(name)

    @classmethod
    def of(cls, environment: Environment) -> "Gate":
        """Return the gate that the owner's environment variables describe."""
        if environment.demo_only:
            return cls(is_list=True, is_shared=True)
        own = tuple(filter(None, (environment.base_url, environment.optimizer_base_url)))
        if environment.endpoint_fixed:
            models = tuple(filter(None, (environment.model, environment.optimizer_model)))
            return cls(named=own, is_list=True, is_shared=environment.is_shared, models=models)
        listed = environment.allowed_endpoints
        return cls(named=(*own, *listed), is_list=bool(listed), is_shared=environment.is_shared)

    def check(self, base_url: str, model: str = "") -> None:
        """Raise InputError if the server or the model is not allowed. Looks up no name."""
        place, host = place_of(base_url), plain_host(urlsplit(base_url).hostname or "")
        if self.is_list and not self._names(base_url):
            raise InputError(f"{place} is not among the endpoints that may be asked here: take {self._offered()}")
        if model and self.models and model not in self.models:
            raise InputError(f"model {model[:80]!r} is not among those that may be asked here: take {self.models[0]!r}")
        if host in METADATA_NAMES and not self._opens(base_url):
            raise InputError(f"{place} is {_WHY['barred']}: {self._fix(host)}")
        address = literal(host)
        if address is not None and (why := self.refusal(base_url, host)):
            raise InputError(why)

    def refusal(self, base_url: str, address: str) -> str:
        """Return why a server's IP address is not allowed, in one line; empty if it is."""
        parsed = literal(address)
        kind: Kind = "barred" if parsed is None else kind_of(parsed)
        if kind == "public":
            return ""
        if kind == "barred":
            is_open = parsed is not None and any(named(name).host == plain_host(address) for name in self.named)
        else:
            is_open = not self.is_shared or self._opens(base_url)
        host = plain_host(urlsplit(base_url).hostname or "")
        leads = "" if host == plain_host(address) else f"leads to {address}, which "
        return "" if is_open else f"{place_of(base_url)} {leads}is {_WHY[kind]}: {self._fix(plain_host(address))}"

    def trusts_proxy(self, base_url: str) -> bool:
        """Return whether a proxy of the environment may be used: the gate cannot check what a proxy connects to."""
        return not is_loopback(base_url) and (not self.is_shared or self._names(base_url))

    def socket_factory(self, base_url: str) -> Callable[[Any], socket.socket]:
        """Return a maker of sockets for a server; it raises AddressRefused for an IP address that is not allowed."""

        def make(address_info: Any) -> socket.socket:
            family, kind, protocol, _, where = address_info
            if why := self.refusal(base_url, str(where[0])):
                raise AddressRefused(why)
            return socket.socket(family, kind, protocol)

        return make

    def _names(self, base_url: str) -> bool:
        return any(named(name).covers(base_url) for name in self.named)

    def _opens(self, base_url: str) -> bool:
        """Return whether an entry covers it that is no wildcard: others may add names to a domain."""
        return any(one.covers(base_url) and not one.is_wild for one in map(named, self.named))

    def _offered(self) -> str:
        """Return the allowed servers in words; the list is not shown to other users."""
        if not self.named:
            return "the built-in demo model, the only one allowed here (VPP_DEMO_ONLY)"
        if self.is_shared:
            return "one that the owner has named (VPP_ALLOWED_ENDPOINTS)"
        more = "" if self.models else ", or name it in VPP_ALLOWED_ENDPOINTS"
        return f"{', '.join(self.named[:5])}{more}"

    def _fix(self, address: str) -> str:
        if address in ("0.0.0.0", "::"):
            return "that is where a server listens; to ask one on this machine write 127.0.0.1"
        return f"its owner can name it (VPP_ALLOWED_ENDPOINTS={address})"


@cache
def named(text: str) -> Named:
    """Parse an entry of the owner's list: base URL, host, host:port or *.domain. Raises InputError."""
    wrong = InputError(
        f"{text[:200]!r} names no endpoint: write https://host[:port]/path, host, host:port or *.domain, with commas "
        "between them (VPP_ALLOWED_ENDPOINTS)"
    )
    name = text.strip()
    has_scheme = "://" in name
    if not has_scheme and name.count(":") > 1 and "[" not in name:
        name = f"[{name}]"
    try:
        parts = urlsplit(name if has_scheme else f"//{name}")
        host, port = plain_host(parts.hostname or ""), parts.port
    except ValueError:
        raise wrong from None
    domain = host.removeprefix("*.")
    is_odd = "@" in parts.netloc or parts.query or parts.fragment or (parts.path.strip("/") and not has_scheme)
    if is_odd or not domain or "*" in domain or (has_scheme and parts.scheme not in _PORTS):
        raise wrong
    port = port or _PORTS.get(parts.scheme)
    return Named(host=host, scheme=parts.scheme, port=port, path=parts.path.rstrip("/"))


def _is_below(path: str, top: str) -> bool:
    """Return whether a path is `top` or below it, even for a server that resolves dots and escapes in it.

    An empty `top` allows every path of the server.
    """
    trimmed = path.rstrip("/")
    if not top or trimmed == top:
        return True
    below = trimmed.removeprefix(f"{top}/").split("/")
    return trimmed.startswith(f"{top}/") and all(part not in (".", "..") and _PLAIN.fullmatch(part) for part in below)


def kind_of(address: Address) -> Kind:
    """Classify an IP address; an IPv6 address that embeds an IPv4 one is classified as that."""
    if address.is_loopback:
        return "loopback"
    for network, shift in _EMBEDDINGS:
        if address in network:
            return kind_of(ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF))
    if any(address in network for network in _BARRED):
        return "barred"
    return "public" if address.is_global else "private"
