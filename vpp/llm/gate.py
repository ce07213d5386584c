"""The servers that may be asked: any but clouds' metadata services, or in a shared app those that its owner lists."""

import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from vpp.environment import Environment
from vpp.errors import InputError
from vpp.llm.address import checked_address, exact, plain_host

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


def check_connected(host: str) -> None:
    """Raise AddressRefused for an IP address of a metadata service, whatever name led to it."""
    if plain_host(host) in METADATA:
        raise AddressRefused(f"its name leads to {host}, a cloud's metadata service: give another address")


def socket_for(address_info: Any) -> socket.socket:
    """Make the socket of a connection. Raises AddressRefused."""
    family, kind, protocol, _, where = address_info
    check_connected(str(where[0]))
    return socket.socket(family, kind, protocol)
