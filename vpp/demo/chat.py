"""Chat protocol: parse a request's body, build the answer's. An answer depends on the body alone."""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

from vpp.demo import VERSION, learner, optimizer, prior
from vpp.demo.prompt import LearnerQuestion, PriorQuestion, read_prompt

MODEL = "demo"
CONTEXT_TOKENS = 32_768
_TOKENS_PER_WORD = 4 / 3


class BadRequest(Exception):
    """An invalid request, with the protocol's `status`, `message`, `param` and `code`."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code

    def body(self) -> dict[str, Any]:
        return error_body(self.message, "invalid_request_error", param=self.param, code=self.code)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Parts of a request that determine the answer."""

    prompt: str
    """Last user message with a question, else the first."""
    temperature: float
    seed: int
    max_tokens: int | None
    prompt_tokens: int
    top_logprobs: int = 0
    """Alternatives of the first token that are asked for."""


def error_body(message: str, kind: str, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


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
    return ChatRequest(
        prompt=_asked([text for role, text in texts if role == "user"]),
        temperature=_number(fields, "temperature", 1.0, 0.0, 2.0),
        seed=int(_number(fields, "seed", 0, -(2.0**63), 2.0**63)),
        max_tokens=_limit(fields),
        prompt_tokens=sum(count_tokens(text) for _, text in texts),
        top_logprobs=int(_number(fields, "top_logprobs", 0, 0, 20)) if fields.get("logprobs") is True else 0,
    )


def _asked(texts: list[str]) -> str:
    """Return the last question among user messages; the first message without one."""
    return next((text for text in reversed(texts) if read_prompt(text) is not None), texts[0])


def _limit(fields: dict[str, Any]) -> int | None:
    name = "max_completion_tokens" if fields.get("max_completion_tokens") is not None else "max_tokens"
    return None if fields.get(name) is None else int(_number(fields, name, 1, 1, 1e9))


def _number(fields: dict[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(f"`{name}` must be a number from {low:g} to {high:g}", param=name)
    return value


def _texts(messages: object) -> list[tuple[str, str]]:
    if not isinstance(messages, list) or not messages:
        raise BadRequest("`messages` must be a list of at least one message", param="messages")
    texts = [_text(message) for message in messages]
    if not any(role == "user" for role, _ in texts):
        raise BadRequest("`messages` holds no user message", param="messages")
    return texts


def _text(message: object) -> tuple[str, str]:
    role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    if not isinstance(role, str) or not isinstance(content, str):
        raise BadRequest("every message must have a `role` and a text `content`", param="messages")
    return role, content


def count_tokens(text: str) -> int:
    """Estimate tokens as four per three words."""
    return round(len(text.split()) * _TOKENS_PER_WORD)


def respond(request: ChatRequest) -> str:
    """Return the answer's text."""
    match read_prompt(request.prompt):
        case None:
            return "Explanation: I find no rule and input in this request that I can read.\nOutput: 0"
        case LearnerQuestion() as question:
            return learner.respond(question)
        case PriorQuestion() as question:
            return prior.propose(question, temperature=request.temperature, seed=request.seed)
        case question:
            return optimizer.propose(question, temperature=request.temperature, seed=request.seed)


def completion(request: ChatRequest, text: str) -> dict[str, Any]:
    cut, whole = _cut(text, request.max_tokens)
    tokens = count_tokens(cut)
    identity = hashlib.sha256(f"{request.seed} {request.temperature} {request.prompt}".encode(errors="replace"))
    return {
        "id": f"chatcmpl-{identity.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "system_fingerprint": f"demo-{VERSION}",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": cut},
                "logprobs": _logprobs(request),
                "finish_reason": "stop" if whole else "length",
            }
        ],
        "usage": {
            "prompt_tokens": request.prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": request.prompt_tokens + tokens,
        },
    }


def _logprobs(request: ChatRequest) -> dict[str, Any] | None:
    question = read_prompt(request.prompt) if request.top_logprobs else None
    if not isinstance(question, LearnerQuestion) or question.style != "letter":
        return None
    shares = sorted(learner.letter_shares(question).items(), key=lambda each: -each[1])
    listed = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in shares]
    return {"content": [{**listed[0], "top_logprobs": listed[: request.top_logprobs]}]}


def _cut(text: str, limit: int | None) -> tuple[str, bool]:
    if limit is None or count_tokens(text) <= limit:
        return text, True
    return " ".join(text.split(" ")[: int(limit / _TOKENS_PER_WORD)]), False


def models() -> dict[str, Any]:
    model = {
        "id": MODEL,
        "object": "model",
        "created": 0,
        "owned_by": "vpp",
        "max_model_len": CONTEXT_TOKENS,
        "version": VERSION,
    }
    return {"object": "list", "data": [model]}
