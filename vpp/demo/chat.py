"""Chat protocol: parse a request's body, build the answer's. An answer depends on the body alone."""

import hashlib
import json
import math
from contextlib import suppress
from typing import Any, NamedTuple

from vpp.demo import VERSION, learner, optimizer
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion, read_prompt

MODEL = "demo"
CONTEXT_TOKENS = 32_768
_TOKENS_PER_WORD = 4 / 3


class BadRequest(Exception):
    """An invalid request, with the `body` of the answer in the protocol's shape."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


class ChatRequest(NamedTuple):
    """Parts of a request that determine the answer."""

    prompt: str
    """Last user message with a question, else the first."""
    temperature: float
    seed: int
    max_tokens: int | None
    prompt_tokens: int
    top_logprobs: int = 0
    """Alternatives of the first token that are asked for."""


def read_request(body: bytes) -> ChatRequest:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not valid JSON") from None
    if not isinstance(fields, dict):
        raise BadRequest("the body must be a JSON object")
    if fields.get("model") != MODEL:
        raise BadRequest(
            f"the model {fields.get('model')!r} does not exist: this server has only {MODEL!r}",
            status=404, param="model", code="model_not_found",
        )  # fmt: skip
    if fields.get("stream"):
        raise BadRequest("streaming is not supported: leave out `stream`", param="stream")
    texts = _texts(fields.get("messages"))
    user_texts = [text for role, text in texts if role == "user"]
    limit = "max_tokens" if fields.get("max_completion_tokens") is None else "max_completion_tokens"
    return ChatRequest(
        prompt=next((text for text in reversed(user_texts) if read_prompt(text) is not None), user_texts[0]),
        temperature=_number(fields, "temperature", 1.0, 0.0, 2.0),
        seed=int(_number(fields, "seed", 0, -(2.0**63), 2.0**63)),
        max_tokens=None if fields.get(limit) is None else int(_number(fields, limit, 1, 1, 1e9)),
        prompt_tokens=sum(count_tokens(text) for _, text in texts),
        top_logprobs=int(_number(fields, "top_logprobs", 0, 0, 20)) if fields.get("logprobs") is True else 0,
    )


def _number(fields: dict[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"`{name}` must be a number from {low:g} to {high:g}", param=name)
    return value


def _texts(messages: Any) -> list[tuple[str, str]]:
    with suppress(TypeError, KeyError):
        texts = [(one["role"], one["content"]) for one in messages]
        if "user" in dict(texts) and all(isinstance(part, str) for pair in texts for part in pair):
            return texts
    raise BadRequest("`messages` must each have a `role` and a text `content`, one the role user", param="messages")


def count_tokens(text: str) -> int:
    return round(len(text.split()) * _TOKENS_PER_WORD)


def respond(request: ChatRequest) -> str:
    match read_prompt(request.prompt):
        case None:
            return "Explanation: I find no rule and input in this request that I can read.\nOutput: 0"
        case LearnerQuestion() as question:
            return learner.respond(question)
        case ProgramQuestion() as question:
            return learner.write_program(question)
        case question:
            return optimizer.propose(question, temperature=request.temperature, seed=request.seed)


def completion(request: ChatRequest, text: str) -> dict[str, Any]:
    limit, reason = request.max_tokens, "stop"
    if limit is not None and count_tokens(text) > limit:
        text, reason = " ".join(text.split(" ")[: int(limit / _TOKENS_PER_WORD)]), "length"
    asked, tokens = request.prompt_tokens, count_tokens(text)
    identity = hashlib.sha256(f"{request.seed} {request.temperature} {request.prompt}".encode(errors="replace"))
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-{identity.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "system_fingerprint": f"demo-{VERSION}",
        "choices": [{"index": 0, "message": message, "logprobs": _logprobs(request), "finish_reason": reason}],
        "usage": {"prompt_tokens": asked, "completion_tokens": tokens, "total_tokens": asked + tokens},
    }


def _logprobs(request: ChatRequest) -> dict[str, Any] | None:
    question = read_prompt(request.prompt) if request.top_logprobs else None
    if not isinstance(question, LearnerQuestion) or question.style != "letter":
        return None
    shares = sorted(learner.letter_shares(question).items(), key=lambda each: -each[1])
    listed = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in shares]
    return {"content": [{**listed[0], "top_logprobs": listed[: request.top_logprobs]}]}


def models() -> dict[str, Any]:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "vpp"}
    return {"object": "list", "data": [{**model, "max_model_len": CONTEXT_TOKENS, "version": VERSION}]}
