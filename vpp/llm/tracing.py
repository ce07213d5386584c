"""OpenTelemetry spans of requests to models, by its conventions for generative AI (version 1.37). Off by default.

OTEL_TRACES_EXPORTER=otlp sends them over HTTP where OpenTelemetry's other variables say (OTEL_EXPORTER_OTLP_ENDPOINT
and so on); `console` prints them. If the program has its own tracer provider, spans go there. A span holds no prompt
and no answer unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says so. No trouble with traces ends a run.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic_core import to_json

from vpp import __version__
from vpp.llm.protocol import Completion
from vpp.llm.transport import AttemptFailed

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

EXPORTER = "OTEL_TRACES_EXPORTER"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CAPTURED = ("true", "span_only", "span_and_event")
REQUEST_ATTRIBUTES = {
    "model": "gen_ai.request.model",
    "temperature": "gen_ai.request.temperature",
    "seed": "gen_ai.request.seed",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
}
"""Recorded fields of a request, and their span attributes."""
FINISH_REASONS = ("stop", "length", "content_filter", "tool_calls")
"""Those that are recorded: a server can write anything there."""
Note = Callable[[Completion], None]
_SETTING_UP = Lock()
log = logging.getLogger("vpp.tracing")


def request_span(base_url: str, body: dict[str, Any], *, run: str) -> AbstractContextManager[Note]:
    """Record a span for one request; yield a function that adds the answer to it.

    run: the run's id; empty outside a run.
    """
    tracer = _tracer()
    return nullcontext(_nothing) if tracer is None else _recorded(tracer, base_url, body, run)


def _nothing(_: Completion) -> None:
    pass


def _tracer() -> "Tracer | None":
    """Return the tracer; None if tracing is off."""
    if os.environ.get(EXPORTER):
        with _SETTING_UP:
            _export()
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    provider = trace.get_tracer_provider()
    return None if isinstance(provider, trace.ProxyTracerProvider) else _tracer_of(provider)


@cache
def _tracer_of(provider: "TracerProvider") -> "Tracer":
    return provider.get_tracer("vpp", __version__)


@cache
def _export() -> None:
    """Set up the exporter once in a process: a thread sends spans, the last ones at exit."""
    wanted = {name.strip() for name in os.environ[EXPORTER].split(",")} - {"", "none"}
    try:
        exporters = [_exporter(name) for name in ("otlp", "console") if name in wanted]
        if exporters:
            _provide(exporters)
        elif wanted:
            log.warning("%s names no exporter that vpp has (otlp, console): no spans are sent", EXPORTER)
    except ImportError:
        log.warning("no spans are sent: pip install opentelemetry-exporter-otlp-proto-http, or unset %s", EXPORTER)


def _exporter(name: str) -> Any:
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _provide(exporters: list[Any]) -> None:
    """Set a tracer provider with these exporters, unless the program has its own."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {SERVICE_NAME: "vpp"}))
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)


@contextmanager
def _recorded(tracer: "Tracer", base_url: str, body: dict[str, Any], run: str) -> Iterator[Note]:
    from opentelemetry.trace import SpanKind, StatusCode

    spanning = tracer.start_as_current_span(
        f"chat {body['model']}",
        kind=SpanKind.CLIENT,
        attributes=_request_attributes(base_url, body, run),
        record_exception=False,  # an exception's text can quote a prompt
        set_status_on_exception=False,
    )
    has_texts = os.environ.get(CAPTURE, "").lower() in CAPTURED
    with spanning as span:
        if has_texts:
            messages = [_message(each["role"], each["content"]) for each in body["messages"]]
            span.set_attribute("gen_ai.input.messages", to_json(messages).decode())
        try:
            yield lambda completion: _note(span, completion, has_texts=has_texts)
        except Exception as error:  # a cancelled request is no error: its answer is no longer needed
            if isinstance(error, AttemptFailed) and error.empty:
                _note(span, error.empty, has_texts=has_texts)
            span.set_attribute("error.type", _error_type(error))
            span.set_status(StatusCode.ERROR)
            raise


def _request_attributes(base_url: str, body: dict[str, Any], run: str) -> dict[str, Any]:
    place = urlsplit(base_url)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the protocol that is spoken; the model's maker is not known
        "server.address": place.hostname or "",
        "server.port": place.port or {"http": 80, "https": 443}[place.scheme],
        **{REQUEST_ATTRIBUTES[name]: value for name, value in body.items() if name in REQUEST_ATTRIBUTES},
        **({"vpp.run.id": run} if run else {}),
    }


def _note(span: "Span", completion: Completion, *, has_texts: bool) -> None:
    """Add what is known of the answer; a count of 0 tokens is not known."""
    if completion.finish_reason in FINISH_REASONS:
        span.set_attribute("gen_ai.response.finish_reasons", [completion.finish_reason])
    if completion.prompt_tokens:
        span.set_attribute("gen_ai.usage.input_tokens", completion.prompt_tokens)
    if completion.completion_tokens:
        span.set_attribute("gen_ai.usage.output_tokens", completion.completion_tokens)
    if has_texts:
        answer = {**_message("assistant", completion.text), "finish_reason": completion.finish_reason or "unknown"}
        span.set_attribute("gen_ai.output.messages", to_json([answer]).decode())


def _error_type(error: BaseException) -> str:
    """Return `503`, `timeout`, `connection_cut`, or the name of a class."""
    if not isinstance(error, AttemptFailed):
        return type(error).__name__
    return "timeout" if error.late else error.fault.kind.removeprefix("HTTP ").replace(" ", "_")


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}
