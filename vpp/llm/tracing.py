"""OpenTelemetry spans of requests to models, by its conventions for generative AI (version 1.37). Off by default.

OTEL_TRACES_EXPORTER=otlp sends them where OpenTelemetry's other variables say (OTEL_EXPORTER_OTLP_ENDPOINT and so on);
`console` prints them. If the program has its own tracer provider, spans go there. A span holds no prompt and no answer
unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says so.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic_core import to_json

from vpp import __version__
from vpp.errors import InputError
from vpp.llm.protocol import Completion
from vpp.llm.transport import AttemptFailed

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

EXPORTER = "OTEL_TRACES_EXPORTER"
EXPORTERS = ("otlp", "console")
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CAPTURED = ("true", "span_only", "span_and_event")
HOW_TO_GET = "OpenTelemetry is not installed: pip install opentelemetry-exporter-otlp-proto-http"
SENT = {
    "model": "gen_ai.request.model",
    "temperature": "gen_ai.request.temperature",
    "seed": "gen_ai.request.seed",
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
}
"""Recorded fields of a request, and their span attributes."""
Note = Callable[[Completion], None]


def request_span(base_url: str, body: dict[str, Any], *, run: str) -> AbstractContextManager[Note]:
    """Record a span for one request; yield a function that adds the answer to it.

    run: the run's id; empty outside a run. Raises InputError for an unknown exporter, or without OpenTelemetry.
    """
    tracer = _tracer()
    return nullcontext(_nothing) if tracer is None else _recorded(tracer, base_url, body, run)


def _nothing(_: Completion) -> None:
    pass


def _tracer() -> "Tracer | None":
    """Return the tracer; None if tracing is off."""
    if os.environ.get(EXPORTER, "none") not in ("", "none"):
        _export()
    trace = sys.modules.get("opentelemetry.trace")
    return trace.get_tracer("vpp", __version__) if trace else None


@cache
def _export() -> None:
    """Set up the exporter once in a process: a thread sends spans, the last ones at exit. Raises InputError."""
    wanted = os.environ[EXPORTER]
    if wanted not in EXPORTERS:
        raise InputError(f"{EXPORTER} is {wanted[:80]!r}: choose one of {', '.join(EXPORTERS)}, none")
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise InputError(f"{EXPORTER} is {wanted}, and {HOW_TO_GET}")
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return  # the program has its own
    named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {SERVICE_NAME: "vpp"}))
    provider.add_span_processor(BatchSpanProcessor(_exporter()))
    trace.set_tracer_provider(provider)


def _exporter() -> Any:
    if os.environ[EXPORTER] == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


@contextmanager
def _recorded(tracer: "Tracer", base_url: str, body: dict[str, Any], run: str) -> Iterator[Note]:
    from opentelemetry.trace import SpanKind, StatusCode

    is_text_recorded = os.environ.get(CAPTURE, "").lower() in CAPTURED
    spanning = tracer.start_as_current_span(
        f"chat {body['model']}",
        kind=SpanKind.CLIENT,
        attributes=_asked(base_url, body, run),
        record_exception=False,  # an exception's text can quote a prompt
        set_status_on_exception=False,
    )
    with spanning as span:

        def note(completion: Completion) -> None:
            span.set_attribute("gen_ai.response.finish_reasons", [completion.finish_reason or "unknown"])
            span.set_attribute("gen_ai.usage.input_tokens", completion.prompt_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", completion.completion_tokens)
            if is_text_recorded:
                reason = completion.finish_reason or "unknown"
                answer = {**_message("assistant", completion.text), "finish_reason": reason}
                span.set_attribute("gen_ai.output.messages", to_json([answer]).decode())

        if is_text_recorded:
            messages = [_message(each["role"], each["content"]) for each in body["messages"]]
            span.set_attribute("gen_ai.input.messages", to_json(messages).decode())
        try:
            yield note
        except BaseException as error:
            kind = error.fault.kind if isinstance(error, AttemptFailed) else type(error).__name__
            span.set_attribute("error.type", kind)
            span.set_status(StatusCode.ERROR)
            raise


def _asked(base_url: str, body: dict[str, Any], run: str) -> dict[str, Any]:
    """Return the attributes known before the answer."""
    place = urlsplit(base_url)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the protocol that is spoken; the model's maker is not known
        "server.address": place.hostname or "",
        "server.port": place.port or {"http": 80, "https": 443}[place.scheme],
        **{SENT[name]: value for name, value in body.items() if name in SENT},
        **({"vpp.run.id": run} if run else {}),
    }


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}
