"""Connections that fail, and certificates that the client trusts."""

import asyncio
import errno
import os
import socket
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from tests.llm.asking import ask
from tests.llm.stub import endpoint_at
from vpp.errors import EndpointUnreachable
from vpp.llm.client import proxy_for
from vpp.llm.protocol import connection_failure

URL = "http://model.example:8000/v1"


async def failure(base_url: str, **options: Any) -> tuple[str, dict[str, int]]:
    """Return the message about a server, and the kinds of fault counted."""
    endpoint = endpoint_at(base_url, max_attempts=1, **options)
    with pytest.raises(EndpointUnreachable) as caught:
        await ask(endpoint)
    await endpoint.aclose()
    return str(caught.value), endpoint.counters.snapshot().faults


async def test_a_server_that_answers_too_late_or_without_http_or_tls_is_explained() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.close()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, words: bytes) -> None:
        await reader.read(2**16)
        writer.write(words)
        await writer.drain()
        writer.close()

    greet = partial(speak, words=b"220 mail.example ESMTP\r\n")
    answer_plainly = partial(speak, words=b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    for talk, scheme, expected, kind in (
        (drip, "http", "no complete answer within 0.2 s: give it more time", "no answer in time"),
        (greet, "http", "failed (BadStatusLine", "connection failed"),
        (answer_plainly, "https", "write http:// where the server speaks no TLS", "TLS failed"),
    ):
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        port, timeout_s = server.sockets[0].getsockname()[1], 0.2 if talk is drip else 20.0
        words, faults = await failure(f"{scheme}://127.0.0.1:{port}/v1", timeout_s=timeout_s)
        assert expected in words
        assert faults == {kind: 1}
        server.close()


ERRORS: tuple[tuple[Exception, str, str], ...] = (
    (
        socket.gaierror(-2, "Name or service not known"),
        "name not found",
        "no machine is known at http://model.example:8000",
    ),
    (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "nothing listens", "at http://model.example:8000"),
    (OSError("Multiple exceptions: [Errno 111] Connect call failed"), "nothing listens", "nothing listens at"),
    (OSError(errno.EHOSTUNREACH, "No route"), "connection failed", "No route"),
    (ConnectionResetError(), "connection failed", "with http://model.example:8000 failed (ConnectionResetError)"),
    (RuntimeError("odd"), "connection failed", "RuntimeError: odd"),
    (RuntimeError(), "connection failed", "RuntimeError"),
)


def test_a_connection_error_is_explained_however_deep() -> None:
    for error, kind, words in ERRORS:
        outer = RuntimeError("Connection error.")
        outer.__cause__ = error
        fault = connection_failure(outer, base_url=URL)
        assert (fault.kind, words in fault.words) == (kind, True), fault.words
    behind = connection_failure(ConnectionRefusedError(), base_url=URL, proxy="socks5://me:secret@127.0.0.1:7891")
    assert behind.words == f"nothing listens at {URL.removesuffix('/v1')} through the proxy socks5://127.0.0.1:7891"
    assert "HTTPS_PROXY" in behind.fix


PROXY = "http://proxy.test:3128"
ROUTES = (("https://a.test/v1", PROXY), ("http://127.0.0.1:8000/v1", None), ("HTTP://b.test/v1", None))


def test_the_environments_proxy_is_used_but_for_this_machine_and_for_what_it_excepts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    assert [proxy_for(base_url) for base_url, _ in ROUTES] == [None, None, None]
    monkeypatch.setenv("no_proxy", "b.test")
    monkeypatch.setenv("all_proxy", PROXY)
    assert [proxy_for(base_url) for base_url, _ in ROUTES] == [proxy for _, proxy in ROUTES]
