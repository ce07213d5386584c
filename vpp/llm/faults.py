"""Why an attempt gave no answer: a kind to count by, plain words, and the mend.

Kinds are a fixed vocabulary, so that counting by them stays short whatever a server does.
"""

import errno
import re
import socket
import ssl
import zlib
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

MEND_DOWN = "check that the server is up and its address right"
MEND_SLOW = "give it more time, or ask it for less at once"
MEND_BUSY = "it is overloaded or failing: go on when it has recovered"
_REFUSED = re.compile(rf"Errno {errno.ECONNREFUSED}\b|Connection refused|Connect call failed")
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})


class BodyTooLarge(Exception):
    """A reply that is longer than any answer."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class Fault(NamedTuple):
    """What went wrong with one attempt."""

    kind: str
    """A few words out of a fixed vocabulary, to count by."""
    words: str
    """One line."""
    mend: str = MEND_DOWN


def http_fault(status: int, words: str) -> Fault:
    """A status that another attempt may mend. words: what the server says, one short line."""
    return Fault(f"HTTP {status}", f"HTTP {status} {words}".rstrip(), MEND_BUSY)


def slow_fault(timeout_s: float) -> Fault:
    """No whole answer in time, however much of one has come."""
    return Fault("no answer in time", f"no whole answer within {timeout_s:g} s", MEND_SLOW)


def transport_fault(error: BaseException, *, base_url: str) -> Fault:
    """What a connection's error means, in plain words; its own where none are known."""
    chain = list(chain_of(error))
    for one in chain:
        if fault := _known(one, base_url) or _by_name(one, base_url):
            return fault
    root = chain[0]
    words = f"{type(root).__name__}: {root}" if str(root) else type(root).__name__
    return Fault("connection failed", words)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, the last first: a transport's says more than the client's."""
    chain = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None and before not in chain:
        chain.append(before)
    yield from reversed(chain)


def _known(error: BaseException, base_url: str) -> Fault | None:
    """By the interpreter's own classes."""
    place, host = root_of(base_url), urlsplit(base_url).hostname
    if isinstance(error, BodyTooLarge):
        said = f"the reply is longer than {error.limit // 1024:,} KiB"
        return Fault("reply too long", said, "check that the address is a model's (/v1)")
    if isinstance(error, ssl.SSLError):
        mend = "write http:// where the server speaks no TLS, or trust its certificate on this machine (SSL_CERT_FILE)"
        said = error.reason.replace("_", " ").lower() if error.reason else "no secure connection"
        return Fault("TLS failed", f"TLS with {place} failed: {getattr(error, 'verify_message', '') or said}", mend)
    if isinstance(error, socket.gaierror):
        return Fault("name not found", f"no machine called {host} is known", "check how the address is spelled")
    if isinstance(error, OSError) and _REFUSED.search(str(error)):
        return Fault("nothing listens", f"nothing listens at {place}", "is the server up, and is its port right?")
    if isinstance(error, OSError) and error.errno in _NO_ROUTE:
        return Fault("no route", f"there is no way to {host} from this machine", "check the network and the address")
    if isinstance(error, zlib.error):
        return Fault("broken compression", "the reply's compression cannot be undone")
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return Fault("connection cut", "the connection was cut without an answer")
    return None


_NAMED = {
    "ClientConnectorDNSError": ("name not found", "no machine called {host} is known"),
    "DecodingError": ("broken compression", "the reply's compression cannot be undone"),
    "ContentEncodingError": ("broken compression", "the reply's compression cannot be undone"),
    "ClientPayloadError": ("reply stopped", "the reply stopped in its middle"),
    "ContentLengthError": ("reply stopped", "the reply stopped in its middle"),
    "TransferEncodingError": ("reply stopped", "the reply stopped in its middle"),
    "ServerDisconnectedError": ("connection cut", "the connection was cut without an answer"),
    "ClientConnectionResetError": ("connection cut", "the connection was cut without an answer"),
    "ConnectionTimeoutError": ("no connection in time", "{place} takes no connection"),
    "ConnectTimeout": ("no connection in time", "{place} takes no connection"),
    "BadStatusLine": ("not HTTP", "{place} does not speak HTTP"),
    "BadHttpMessage": ("not HTTP", "{place} does not speak HTTP"),
    "InvalidHeader": ("not HTTP", "{place} does not speak HTTP as it should"),
    "LineTooLong": ("not HTTP", "{place} does not speak HTTP as it should"),
}
"""By the name of the client's class."""


def _by_name(error: BaseException, base_url: str) -> Fault | None:
    named = _NAMED.get(type(error).__name__)
    if named is None:
        return None
    kind, words = named
    mend = "is it an https:// address?" if kind == "not HTTP" else MEND_DOWN
    return Fault(kind, words.format(host=urlsplit(base_url).hostname, place=root_of(base_url)), mend)


def root_of(base_url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}"
