"""The demo model behind the chat protocol: parser of prompts, learner, a small ASGI app, and its process.

An answer depends on the body of its request alone.
"""

import argparse
import asyncio
import hashlib
import math
import os
import random
import re
import resource
import socket
import sys
import threading
from contextlib import suppress
from functools import cached_property
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vpp.demo import VERSION, rules
from vpp.demo.optimizer import OptimizerQuestion, PriorQuestion, propose
from vpp.demo.reading import read_rule
from vpp.demo.rules import Column, Row, Rule, Value

# --- prompts -------------------------------------------------------------------------------------------------


class LearnerQuestion(NamedTuple):
    """Apply a rule to an input. Without labels the answer is a number, here and below."""

    rule: str
    input: str
    labels: tuple[str, ...]
    is_lettered: bool = False


class ProgramQuestion(NamedTuple):
    """Translate a rule into Python."""

    rule: str
    columns: tuple[Column, ...]
    labels: tuple[str, ...]


Question = LearnerQuestion | OptimizerQuestion | PriorQuestion | ProgramQuestion

_SECTION = re.compile(r"^([A-Z][\w ]+):\n<<<\n(.*?)\n?^>>>$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?ms)^\[(\d+)\]\s(.*?)(?=^\[\d+\]\s|\Z)")
_LABEL = re.compile(r"(?m)^- (.+)$")
_LETTER_FORM = "\nAnswer with the letter of the label and nothing else.\n"
_PROGRAM = re.compile(r"(?m)^Columns:\n((?:.+\n)+)Output: (?:one of:? (.+)|a number.*)\nRule: ((?s:.+))\Z")
_COLUMN = re.compile(
    r"(\w+)(?: \(“(.*)”\))?: (?:(number)|(?:a )?(text)|(?:a )?list of [\w ]+?)( or None)?(?:, (?:one of (.*)|.*))?"
)
"""Alias, name, kind, whether cells may be missing, and all texts; a number's values and unit are left unread."""


def read_prompt(text: str) -> Question | None:
    if match := _PROGRAM.search(text):
        lines = list(map(_COLUMN.fullmatch, match[1].strip().split("\n")))
        columns = tuple(_column(*line.groups()) for line in lines if line)
        return ProgramQuestion(match[3].strip(), columns, _texts(match[2])) if all(lines) else None
    sections = {name: section.strip("\n") for name, section in reversed(_SECTION.findall(text))}
    form = _SECTION.sub("", text)
    labels = tuple(label.strip() for label in _LABEL.findall(form))
    match sections:
        case {"What the rule is for": rule, "Columns": about}:
            lines, _, listed = about.partition("\n\nLabels:\n")
            named = (line.rpartition(": ") for line in lines.split("\n"))
            kinds = tuple((name.strip(), kind) for name, _, kind in named if name)
            return PriorQuestion(rule, kinds, tuple(_LABEL.findall(listed)))
        case {"Inputs": inputs, "Current rule": rule, "Correct outputs": outputs}:
            rows, targets = dict(_BLOCK.findall(inputs)), dict(_BLOCK.findall(outputs))
            keys = [key for key in rows if key in targets]
            some, wanted = (tuple(each[key].strip() for key in keys) for each in (rows, targets))
            return OptimizerQuestion(rule, some, wanted, labels) if keys else None
        case {"Rule": rule, "Input": cells} if _LETTER_FORM in form:
            return LearnerQuestion(rule, cells, tuple(label.partition(" = ")[2] for label in labels), True)
        case {"Rule": rule, "Input": cells}:
            return LearnerQuestion(rule, cells, labels)
    return None


def _column(alias: str, name: str | None, number: str | None, text: str | None, missing: str, values: str) -> Column:
    kind: rules.Kind = "number" if number else "text" if text else "numbers"
    return Column(alias, name or alias, kind, _texts(values) if text else (), bool(missing))


def _texts(listed: str | None) -> tuple[str, ...]:
    return tuple(listed.split(", ")) if listed else ()


# --- the learner ---------------------------------------------------------------------------------------------

SURE = 0.98
"""Probability of the label that a rule gives."""


class Answer(NamedTuple):
    explanation: str
    output: str
    shares: dict[str, float]
    """Probability of each label; equal ones for a guess."""


def apply_rule(question: LearnerQuestion) -> Answer:
    """Apply the rule to the input; make a constant guess, and say so, if the rule cannot be applied."""
    row, labels = rules.read_row(question.input), question.labels
    rule, _, unread = read_rule(question.rule, rules.columns_of([row]), labels)
    value = rule.answer(row) if rule else None
    why = _explanation(rule, row, value) if rule else "The rule says nothing that I can read."
    why += " Part of the rule I could not read." if rule and unread else ""
    if value is None:
        output = labels[0] if labels else "0"
        why = f"{why.removesuffix('.')}, so {output} is only a guess."
        return Answer(why, output, {label: 1 / len(labels) for label in labels})
    output = value if isinstance(value, str) else rules.say_number(float(f"{value:.10g}"))
    others = max(1, len(labels) - 1)
    return Answer(why, output, {label: SURE if label == output else (1 - SURE) / others for label in labels})


def _explanation(rule: Rule, row: Row, value: float | str | None) -> str:
    """Name the values that the deciding condition is about; without one, those of every condition."""
    conditions = [case.condition for case in rule.cases if case.condition]
    deciding = [condition for condition in conditions if condition.of(row)][:1] or conditions
    terms = dict.fromkeys(one.parts[0] for condition in deciding for one in rules.leaves(condition))
    facts = ", ".join([f"{term.words} = {_say(term.of(row))}" for term in terms][:4])
    start, outcome = f"Here {facts}, so the" if facts else "The", "nothing" if value is None else _say(value)
    return f"{start} rule gives {outcome}."


def _say(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(map(_say, value))
    return rules.say_number(float(f"{value:.6g}")) if isinstance(value, int | float) else str(value or "missing")[:80]


def write_program(question: ProgramQuestion) -> str:
    """Write the rule as a program; `no program` if a part of it cannot be read."""
    rule, _, unread = read_rule(question.rule, question.columns, question.labels)
    guess = rules.quoted(question.labels[0]) if question.labels else "0"
    return "no program" if rule is None or unread else rule.program(guess)


# --- the protocol --------------------------------------------------------------------------------------------

MODEL = "demo"
CONTEXT_TOKENS = 32_768


class Message(BaseModel):
    role: str
    content: str


class ChatRequest(BaseModel):
    """Fields of a request that determine the answer."""

    model: Literal["demo"]
    messages: list[Message] = Field(min_length=1)
    stream: Literal[False] = False
    temperature: float = Field(default=1.0, ge=0, le=2)
    seed: int = 0
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=20)

    @cached_property
    def question(self) -> Question | None:
        """The last question of the conversation."""
        questions = (read_prompt(message.content) for message in reversed(self.messages))
        return next((question for question in questions if question), None)


def respond(request: ChatRequest) -> str:
    match request.question:
        case None:
            return "Explanation: I find no rule and input in this request that I can read.\nOutput: 0"
        case ProgramQuestion() as question:
            return write_program(question)
        case OptimizerQuestion() | PriorQuestion() as question:
            return propose(question, temperature=request.temperature, seed=request.seed)
        case question:
            explanation, output, _ = apply_rule(question)
    if question.is_lettered:
        return ascii_uppercase[question.labels.index(output)]
    return f"Explanation: {explanation}\nOutput: {output}"


def _tokens(text: str) -> list[str]:
    return re.findall(r"\s*(?:[^\W\d_]+|\S)|\s+$", text)


def completion(request: ChatRequest) -> dict[str, Any]:
    whole, limit = _tokens(respond(request)), request.max_completion_tokens or request.max_tokens
    some, n_prompt = whole[:limit], sum(len(_tokens(message.content)) for message in request.messages)
    message = {"role": "assistant", "content": "".join(some)}
    reason = "stop" if some == whole else "length"
    identity = hashlib.sha256(repr(request).encode(errors="replace"))
    return {
        "id": f"chatcmpl-{identity.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": _logprobs(request), "finish_reason": reason}],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": len(some), "total_tokens": n_prompt + len(some)},
    }


def _logprobs(request: ChatRequest) -> dict[str, Any] | None:
    question = request.question if request.logprobs and request.top_logprobs else None
    if not isinstance(question, LearnerQuestion) or not question.is_lettered:
        return None
    shares = zip(ascii_uppercase, apply_rule(question).shares.values(), strict=False)
    ranked = sorted(shares, key=lambda pair: -pair[1])
    listed = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in ranked]
    return {"content": [{**listed[0], "top_logprobs": listed[: request.top_logprobs]}]}


def _refusal(error: ValidationError) -> JSONResponse:
    first = error.errors()[0]
    param = str(first["loc"][0]) if first["loc"] else None
    detail = {"message": f"{param or 'the body'}: {first['msg']}", "param": param, "code": first["type"]}
    return JSONResponse({"error": {"type": "invalid_request_error", **detail}}, 404 if param == "model" else 400)


def application(*, latency_ms: float = 0, jitter: float = 0) -> Starlette:
    """Return the ASGI app. jitter: fraction by which the latency of an answer varies."""

    async def complete(request: Request) -> JSONResponse:
        try:
            answer = completion(ChatRequest.model_validate_json(await request.body()))
        except ValidationError as error:
            return _refusal(error)
        if latency_ms:
            await asyncio.sleep(latency_ms / 1000 * random.uniform(1 - jitter, 1 + jitter))
        return JSONResponse(answer)

    def models(_: Request) -> JSONResponse:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "vpp", "max_model_len": CONTEXT_TOKENS}
        return JSONResponse({"object": "list", "data": [{**model, "version": VERSION}]})

    completions = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[completions, Route("/v1/models", models)])


def main() -> None:
    """Serve until interrupted; print the base URL once requests are accepted."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m vpp.demo", description="Serve the demo model at /v1.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900, help="0 chooses a free port")
    parser.add_argument("--latency-ms", type=float, default=0, help="mean time of an answer")
    parser.add_argument("--jitter", type=float, default=0, help="fraction by which the latency varies, from 0 to 1")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input closes")
    options = parser.parse_args()
    # A run may have thousands of calls in flight, each an open file.
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        listener = socket.create_server((options.host, options.port))
    except (OSError, OverflowError) as error:
        parser.error(f"{options.host}:{options.port} cannot be listened on ({error}): choose another --port")
    if options.exit_with_parent:
        threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    app = application(latency_ms=options.latency_ms, jitter=options.jitter)
    print("http://{}:{}/v1".format(*listener.getsockname()), flush=True)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", timeout_keep_alive=75)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _exit_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)
