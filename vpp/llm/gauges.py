"""Load that a server reports on /metrics (Prometheus text): vLLM, SGLang, llama.cpp and TGI.

Few servers have the page and none needs a key for it. Nothing depends on it: a page that does not answer is left out.
"""

import http.client
import math
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from vpp.errors import InputError
from vpp.llm.gate import Gate, check_connected

PAGE_LIMIT = 2 * 2**20
"""Bytes of a page that are read."""
TIMEOUT_S = 2.0
EVERY_S = 5.0
_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{.*\})?\s+(\S+)")
_FIGURES: dict[str, tuple[Callable[[list[float]], float], tuple[str, ...]]] = {
    "running": (sum, ("vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing",
                      "tgi_batch_current_size")),
    "waiting": (sum, ("vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred",
                      "tgi_queue_size")),
    "hits": (sum, ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total")),
    "queries": (sum, ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries",
                      "vllm:gpu_prefix_cache_queries_total")),
    "kv_use": (max, ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
                     "llamacpp:kv_cache_usage_ratio")),
    "hit_rate": (max, ("sglang:cache_hit_rate",)),
}  # fmt: skip
"""How each figure is added up over engines, and its names on the pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A server's load at one moment; None for figures that it does not report."""

    running: int | None = None
    """Requests in progress."""
    waiting: int | None = None
    """Queued requests."""
    kv_use: float | None = None
    """Share of the KV cache in use, between 0 and 1, of its fullest engine."""
    prefix_hits: float | None = None
    """Share of prompt tokens found in the prefix cache since the server started."""


def read_load(page: str) -> Load | None:
    """Read a metrics page, all engines together; None if it reports no known figure."""
    series: dict[str, list[float]] = {}
    for line in page.splitlines():
        if match := _LINE.match(line):
            with suppress(ValueError):
                series.setdefault(match[1], []).append(float(match[2]))
    valid = {name: [value for value in values if 0 <= value < math.inf] for name, values in series.items()}
    figures = {
        figure: total(values)
        for figure, (total, names) in _FIGURES.items()
        if (values := next(filter(None, map(valid.get, names)), None))
    }
    hits, queries = figures.get("hits"), figures.get("queries")
    load = Load(
        running=int(figures["running"]) if "running" in figures else None,
        waiting=int(figures["waiting"]) if "waiting" in figures else None,
        kv_use=figures.get("kv_use"),
        prefix_hits=min(hits / queries, 1.0) if hits is not None and queries else figures.get("hit_rate"),
    )
    return None if load == Load() else load


def load_words(load: Load) -> str:
    """Return a server's load in one line, without figures that it does not report."""
    parts = [
        "" if load.running is None else f"{load.running:,} running",
        "" if load.waiting is None else f"{load.waiting:,} waiting",
        "" if load.kv_use is None else f"KV cache {100 * load.kv_use:.0f} % used",
        "" if load.prefix_hits is None else f"{100 * load.prefix_hits:.0f} % of prompt tokens from its prefix cache",
    ]
    return ", ".join(filter(None, parts))


def page_beside(base_url: str, path: str, gate: Gate) -> str | None:
    """Return a small page at the server's root (/health, /version, /metrics), asked once, without a key or a proxy.

    None if it does not answer 200 within 2 s, or the gate forbids it. A page that takes longer is cut off.
    """
    parts = urlsplit(base_url)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    try:
        gate.check(base_url)
        connection = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
        with closing(connection(host, parts.port, timeout=TIMEOUT_S)) as asked:
            asked.connect()
            check_connected(asked.sock.getpeername()[0])
            timer = threading.Timer(TIMEOUT_S, _shut, [asked.sock])  # a byte now and then never hits the time-out
            timer.daemon = True
            timer.start()
            asked.request("GET", path)
            page = asked.getresponse()
            return page.read(PAGE_LIMIT).decode("utf-8", "replace") if page.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException, InputError):
        return None


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Gauge:
    """Latest load of one server, read by a thread of its own at most every 5 s, so that `latest` never waits."""

    def __init__(self, base_url: str, gate: Gate) -> None:
        self._base_url = base_url
        self._gate = gate
        self._load: Load | None = None
        self._asked_at = -math.inf
        self._lock = threading.Lock()

    def latest(self) -> Load | None:
        """Return the last load read; None before the first answer, and after the server stopped answering."""
        with self._lock:
            if time.monotonic() - self._asked_at >= EVERY_S:
                self._asked_at = time.monotonic()
                threading.Thread(target=self._read, name="vpp-gauge", daemon=True).start()
            return self._load

    def _read(self) -> None:
        page = page_beside(self._base_url, "/metrics", self._gate)
        self._load = read_load(page) if page else None
