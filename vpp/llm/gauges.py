"""What a server tells of its own load on /metrics (Prometheus text): vLLM, SGLang, llama.cpp and TGI.

Few servers have the page, none needs a key for it, and nothing depends on it: what does not answer is left out.
"""

import http.client
import math
import re
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from vpp.errors import InputError
from vpp.llm.faults import root_of
from vpp.llm.gate import Gate

PAGE_LIMIT = 2 * 2**20
"""Bytes of a page that are read."""
TIMEOUT_S = 2.0
EVERY_S = 5.0
_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)")
_SUMMED = {
    "running": ("vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing",
                "tgi_batch_current_size"),
    "waiting": ("vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred", "tgi_queue_size"),
    "hits": ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total"),
    "queries": ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total"),
}  # fmt: skip
_LARGEST = {
    "kv_use": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
               "llamacpp:kv_cache_usage_ratio"),
    "hit_rate": ("sglang:cache_hit_rate",),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A server's load at one moment; None is what it does not tell."""

    running: int | None = None
    """Requests it works on."""
    waiting: int | None = None
    """Requests in its queue."""
    kv_use: float | None = None
    """Share of the KV cache in use, between 0 and 1, of its fullest engine."""
    prefix_hits: float | None = None
    """Share of prompt tokens found in the prefix cache since the server started."""


def read_load(page: str) -> Load | None:
    """The load of a metrics page, engines together; None where it tells nothing known."""
    found: dict[str, list[float]] = {}
    for line in page.splitlines():
        if match := _LINE.match(line):
            with suppress(ValueError):
                found.setdefault(match[1], []).append(float(match[2]))
    summed = {name: _first(found, of, sum) for name, of in _SUMMED.items()}
    largest = {name: _first(found, of, max) for name, of in _LARGEST.items()}
    hits, queries = summed["hits"], summed["queries"]
    load = Load(
        running=None if summed["running"] is None else int(summed["running"]),
        waiting=None if summed["waiting"] is None else int(summed["waiting"]),
        kv_use=largest["kv_use"],
        prefix_hits=min(hits / queries, 1.0) if hits is not None and queries else largest["hit_rate"],
    )
    return None if load == Load() else load


def _first(
    found: Mapping[str, list[float]], names: tuple[str, ...], of: Callable[[list[float]], float]
) -> float | None:
    """Of the first name that is told with sense: finite, not below 0."""
    for name in names:
        values = [value for value in found.get(name, ()) if math.isfinite(value) and value >= 0]
        if values:
            return of(values)
    return None


def load_words(load: Load) -> str:
    """A server's load in one line; what it does not tell is left out."""
    parts = [
        "" if load.running is None else f"{load.running:,} running",
        "" if load.waiting is None else f"{load.waiting:,} waiting",
        "" if load.kv_use is None else f"KV cache {100 * load.kv_use:.0f} % used",
        "" if load.prefix_hits is None else f"{100 * load.prefix_hits:.0f} % of prompt tokens from its prefix cache",
    ]
    return ", ".join(filter(None, parts))


def page_beside(base_url: str, path: str, gate: Gate) -> str | None:
    """A small page of the server at its root (/health, /version, /metrics), asked once without a key.

    None where it does not answer 200 within 2 s, or may not be asked; of a page that takes longer, what came.
    """
    try:
        gate.check(base_url)
        with _opener(base_url, gate).open(root_of(base_url) + path, timeout=TIMEOUT_S) as page:
            return str(page.read(PAGE_LIMIT).decode("utf-8", "replace")) if page.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException, InputError):
        return None


def _opener(base_url: str, gate: Gate) -> urllib.request.OpenerDirector:
    """Through a proxy of the environment where the gate trusts one; else straight, each address checked."""
    host = urlsplit(base_url).hostname or ""
    has_proxy = urlsplit(base_url).scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)
    make = None if has_proxy and gate.trusts_proxy(base_url) else gate.socket_factory(base_url)

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            if make:
                self.sock = _connected(self.host, self.port, make)
            else:
                super().connect()
            _shut_in_time(self.sock)

    class Tls(http.client.HTTPSConnection):
        def connect(self) -> None:
            if make:
                line = _connected(self.host, self.port, make)
                self.sock = ssl.create_default_context().wrap_socket(line, server_hostname=self.host)
            else:
                super().connect()
            _shut_in_time(self.sock)

    class OverPlain(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, req)

    class OverTls(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Tls, req)

    proxies = urllib.request.ProxyHandler({} if make else None)
    return urllib.request.build_opener(proxies, _NoRedirect(), OverPlain(), OverTls())


def _shut_in_time(connection: socket.socket) -> None:
    """Ends a connection after 2 s in all: a server that sends a byte now and then runs into no time-out."""

    def shut() -> None:
        with suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)

    timer = threading.Timer(TIMEOUT_S, shut)
    timer.daemon = True
    timer.start()


def _connected(host: str, port: int, make: Callable[[Any], socket.socket]) -> socket.socket:
    """A connection to the first of a name's addresses that takes one. Raises OSError."""
    failure = OSError(f"{host} has no address")
    for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        connection: socket.socket | None = None
        try:
            connection = make(found)
            connection.settimeout(TIMEOUT_S)
            connection.connect(found[4])
            return connection
        except OSError as error:
            failure = error
            if connection is not None:
                connection.close()
    raise failure


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Asks no other server than the one named."""

    def redirect_request(self, *_: object) -> None:
        return None


class Gauge:
    """The latest load of one server, read anew in a thread of its own at most every 5 s: looking never waits."""

    def __init__(self, base_url: str, *, gate: Gate | None = None, every_s: float = EVERY_S) -> None:
        self._base_url = base_url
        self._gate = gate or Gate()
        self._every_s = every_s
        self._load: Load | None = None
        self._asked_at = -math.inf
        self._lock = threading.Lock()

    def latest(self) -> Load | None:
        """What was last read; None before the first answer, and once the server has stopped answering."""
        with self._lock:
            if time.monotonic() - self._asked_at >= self._every_s:
                self._asked_at = time.monotonic()
                threading.Thread(target=self._read, name="vpp-gauge", daemon=True).start()
            return self._load

    def _read(self) -> None:
        page = page_beside(self._base_url, "/metrics", self._gate)
        self._load = read_load(page) if page else None
