"""Connections that fail, and certificates that the client trusts."""

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.llm.asking import ask
from tests.llm.stub import endpoint_at
from vpp.errors import EndpointUnreachable
from vpp.llm.client import proxy_for
from vpp.llm.protocol import connection_failure

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
URL = "http://model.example:8000/v1"


async def failure(talk: Talk, *, scheme: str = "http", timeout_s: float = 20.0) -> tuple[str, dict[str, int]]:
    """The message about a server that talks like that, and the kinds of fault counted."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    endpoint = endpoint_at(url, max_attempts=1, timeout_s=timeout_s)
    with pytest.raises(EndpointUnreachable) as caught:
        await ask(endpoint)
    await endpoint.aclose()
    server.close()
    return str(caught.value), endpoint.counters.snapshot().faults


async def asked(reader: asyncio.StreamReader) -> None:
    await reader.readuntil(b"\r\n\r\n")


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte of a long answer now and then, for ever."""
    await asked(reader)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


def saying(reply: bytes) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(reply)
        await writer.drain()

    return talk


async def at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A plain server's answer to a client's hello."""
    await reader.read(10)
    writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


TALKS: tuple[tuple[Talk, dict[str, Any], str, str], ...] = (
    (saying(b"220 mail.example ESMTP\r\n"), {}, "failed (BadStatusLine", "connection failed"),
    (drip, {"timeout_s": 0.2}, "no complete answer within 0.2 s: give it more time", "no answer in time"),
    (at_once, {"scheme": "https"}, "write http:// where the server speaks no TLS", "TLS failed"),
)


async def test_a_server_that_talks_nonsense_is_explained() -> None:
    for talk, options, words, kind in TALKS:
        message, faults = await failure(talk, **options)
        assert words in message
        assert faults == {kind: 1}


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
