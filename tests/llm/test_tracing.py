"""Spans of requests: what they hold, and whole runs that send them to a collector over HTTP."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.processes import PENGUINS, ROOT, SMALL, TARGET, free_port
from vpp.errors import EndpointRefused
from vpp.llm import tracing
from vpp.llm.cache import ResponseCache

from .asking import ask
from .stub import Held, chat, endpoint_of, refusal, script


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Spans of this test, kept by a provider of its own."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("vpp"))
    return kept


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


async def test_a_request_is_a_span_by_the_conventions_and_holds_no_text(spans: InMemorySpanExporter) -> None:
    async with endpoint_of(script(chat()), run="run-1") as (endpoint, stub):
        await ask(endpoint)
    span = only(spans)
    assert span.name == "chat tiny"
    assert span.kind == SpanKind.CLIENT
    assert span.status.status_code == StatusCode.UNSET
    assert span.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "tiny",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.seed": 5,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "server.address": "127.0.0.1",
        "server.port": int(stub.base_url.rpartition(":")[2].partition("/")[0]),
        "vpp.run.id": "run-1",
    }


async def test_texts_are_recorded_where_they_are_asked_for(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tracing.CAPTURE, "SPAN_ONLY")
    async with endpoint_of(script(chat())) as (endpoint, _):
        await ask(endpoint)
    recorded = only(spans).attributes or {}
    assert json.loads(str(recorded["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": "hello"}]}
    ]
    assert json.loads(str(recorded["gen_ai.output.messages"])) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Output: 1"}], "finish_reason": "stop"}
    ]


async def test_each_attempt_is_a_span_with_its_kind_of_error_and_no_words_of_the_server(
    spans: InMemorySpanExporter,
) -> None:
    async with endpoint_of(script(refusal(503, "secret row 17"), chat())) as (endpoint, _):
        await ask(endpoint)
    failed, answered = spans.get_finished_spans()
    assert (failed.attributes or {})["error.type"] == "503"
    assert failed.status.status_code == StatusCode.ERROR
    assert answered.status.status_code == StatusCode.UNSET
    assert "row 17" not in failed.to_json()


async def test_a_refusal_is_an_error_and_a_cancelled_request_is_none(spans: InMemorySpanExporter) -> None:
    async with endpoint_of(script(refusal(401, "no"))) as (endpoint, _):
        with pytest.raises(EndpointRefused):
            await ask(endpoint)
    held = Held()
    async with endpoint_of(held) as (endpoint, _):
        asking = asyncio.ensure_future(ask(endpoint))
        await held.arrived.get()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    refused, cancelled = spans.get_finished_spans()
    assert (refused.attributes or {})["error.type"] == "EndpointRefused"
    assert cancelled.status.status_code == StatusCode.UNSET
    assert "error.type" not in (cancelled.attributes or {})


async def test_what_a_server_writes_as_the_reason_of_its_end_is_recorded_only_if_it_is_a_known_word(
    spans: InMemorySpanExporter,
) -> None:
    async with endpoint_of(script(chat(finish="row 17 says Gentoo"))) as (endpoint, _):
        await ask(endpoint)
    assert "Gentoo" not in only(spans).to_json()


async def test_an_empty_answer_that_is_paid_for_has_its_tokens(spans: InMemorySpanExporter) -> None:
    async with endpoint_of(script(chat("", finish="length"), chat())) as (endpoint, _):
        await ask(endpoint)
    first, *_ = spans.get_finished_spans()
    assert (first.attributes or {})["gen_ai.usage.output_tokens"] == 3
    assert first.status.status_code == StatusCode.ERROR


async def test_a_cached_answer_is_no_request(spans: InMemorySpanExporter, tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    async with endpoint_of(script(chat()), cache=cache) as (endpoint, _):
        for _ in range(2):
            await ask(endpoint)
    await cache.aclose()
    only(spans)


@pytest.mark.parametrize("wanted", ["", "none", "jaeger", "zipkin,none"])
def test_nothing_is_traced_unless_an_exporter_is_asked_for(tmp_path: Path, wanted: str) -> None:
    code = """
import sys
from vpp.llm.tracing import request_span
with request_span("http://127.0.0.1/v1", {"model": "m", "messages": []}, run=""):
    assert "opentelemetry" not in sys.modules
"""
    done = python(code, OTEL_TRACES_EXPORTER=wanted)
    assert ("names no exporter that vpp has" in done) == (wanted not in ("", "none"))


def test_without_the_exporters_package_the_run_goes_on_untraced(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["opentelemetry.exporter"] = None
from vpp.llm.tracing import request_span
for _ in range(2):
    with request_span("http://127.0.0.1/v1", {"model": "m", "messages": []}, run=""):
        pass
"""
    assert python(code, OTEL_TRACES_EXPORTER="otlp").count("pip install opentelemetry-exporter-otlp-proto-http") == 1


def test_spans_go_to_the_programs_own_provider() -> None:
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
from vpp.llm.tracing import request_span
with request_span("http://127.0.0.1/v1", {"model": "m", "messages": []}, run=""):
    pass
assert [span.name for span in kept.get_finished_spans()] == ["chat m"]
"""
    python(code)


def python(code: str, **variables: str) -> str:
    """Run a program; return what it writes on standard error. Raises CalledProcessError."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, **variables}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stderr


class Collector(HTTPServer):
    """Records the trace requests that it receives."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def worked(folder: Path, **variables: str) -> dict[str, Any]:
    """Work on a small run in a process of its own; return its result."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("VPP_", "OTEL_", "OPENAI_"))}
    words = ("run", PENGUINS, *TARGET, *SMALL, "--demo", "--no-cache", "--run-dir", folder / "run", "--json", "--quiet")
    done = subprocess.run(
        [sys.executable, "-m", "vpp", *map(str, words)],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_whole_run_sends_a_span_for_each_request_and_no_cell_of_its_table(
    tmp_path: Path, collector: Collector
) -> None:
    result = worked(tmp_path, OTEL_TRACES_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address)
    resources = [each for request in collector.requests for each in request.resource_spans]
    services = {
        kept.value.string_value for each in resources for kept in each.resource.attributes if kept.key == "service.name"
    }
    assert services == {"vpp"}
    sent = [span for each in resources for scope in each.scope_spans for span in scope.spans]
    assert len(sent) == result["spent"]["requests"]
    found = [{kept.key: kept.value for kept in span.attributes} for span in sent]
    assert {each["vpp.run.id"].string_value for each in found} == {result["run"]}
    assert sum(each["gen_ai.usage.input_tokens"].int_value for each in found) == result["tokens"]["prompt"]
    whole = b"".join(request.SerializeToString() for request in collector.requests)
    assert b"Gentoo" not in whole
    assert b"bill_length" not in whole


def test_a_lost_collector_changes_no_result(tmp_path: Path) -> None:
    for name in ("plain", "traced"):
        (tmp_path / name).mkdir()
    nowhere = f"http://127.0.0.1:{free_port()}"
    plain = worked(tmp_path / "plain")
    traced = worked(tmp_path / "traced", OTEL_TRACES_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=nowhere)
    for changing in ("run", "dir", "wall_s"):
        del plain[changing], traced[changing]
    assert plain == traced
