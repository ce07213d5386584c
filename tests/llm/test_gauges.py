import asyncio
import threading

import pytest

from vpp.llm.gate import Gate
from vpp.llm.gauges import Gauge, Load, page_beside, read_load

from .stub import Reply, refusal, script, serving

VLLM = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 12.0
vllm:num_requests_running{engine="1",model_name="tiny"} 8.0
vllm:num_requests_waiting{engine="0",model_name="tiny"} 3.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0
vllm:kv_cache_usage_perc{engine="0",model_name="a {odd} name"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="tiny"} 0.5
vllm:prefix_cache_queries_total{engine="0"} 1000.0
vllm:prefix_cache_hits_total{engine="0"} 900.0
"""
SGLANG = Load(running=4, waiting=2, prefix_hits=0.1)
TEXT = {"content-type": "text/plain"}


PAGES: dict[str, Load | None] = {
    VLLM: Load(running=20, waiting=3, kv_use=0.5, prefix_hits=0.9),
    "vllm:prefix_cache_queries_total 0\nvllm:prefix_cache_hits_total 0\nvllm:num_requests_running 0": Load(running=0),
    "sglang:num_running_reqs 4\nsglang:num_queue_reqs 2\nsglang:cache_hit_rate 0.1": SGLANG,
    "llamacpp:requests_processing 1\nllamacpp:requests_deferred 7\n": Load(running=1, waiting=7),
    "tgi_batch_current_size 5\ntgi_queue_size 6\n": Load(running=5, waiting=6),
    "vllm:num_requests_running NaN\nvllm:num_requests_waiting -1\n": None,
    "vllm:num_requests_running many\nprocess_cpu_seconds_total 3\n": None,
    "<html><body>Not found</body></html>": None,
    "": None,
}


def test_a_metrics_page_is_read_by_the_names_of_each_server() -> None:
    for page, load in PAGES.items():
        assert read_load(page) == load, page


async def test_a_page_beside_the_api_is_asked_once_without_a_key() -> None:
    elsewhere = Reply(b"", status=302, headers={"location": "http://127.0.0.1:9/"})
    for reply, page in ((Reply(b"0.32", headers=TEXT), "0.32"), (None, None), (refusal(404), None), (elsewhere, None)):
        async with serving(script(reply)) as stub:
            assert await asyncio.to_thread(page_beside, stub.base_url, "/version", Gate()) == page
            assert [request.path for request in stub.requests] == ["/version"]
            assert "authorization" not in stub.requests[0].headers


def test_a_gauge_never_waits_and_has_the_load_once_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, free, read = threading.Event(), threading.Event(), threading.Event()

    def slow(base_url: str, path: str, gate: Gate) -> str:
        asked.set()
        free.wait()
        return VLLM

    monkeypatch.setattr("vpp.llm.gauges.page_beside", slow)
    gauge = Gauge("http://127.0.0.1:9/v1", Gate())
    real = gauge._read
    monkeypatch.setattr(gauge, "_read", lambda: (real(), read.set()))
    assert gauge.latest() is None
    asked.wait()
    free.set()
    read.wait()
    asked.clear()
    assert gauge.latest() == Load(running=20, waiting=3, kv_use=0.5, prefix_hits=0.9)
    assert not asked.is_set()
