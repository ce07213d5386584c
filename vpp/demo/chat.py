"""Chat protocol: parse a request's body, build the answer's. An answer depends on the body alone."""

import hashlib
import json
import math
from typing import Any

from pydantic import BaseModel, Field, ValidationError

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


class Message(BaseModel):
    role: str
    content: str


class ChatRequest(BaseModel):
    """Fields of a request that determine the answer."""

    model: str
    messages: list[Message] = Field(min_length=1)
    temperature: float = Field(default=1.0, ge=0, le=2)
    seed: int = 0
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=20)

    @property
    def prompt(self) -> str:
        """Last message of the user with a question, else the first one."""
        texts = [message.content for message in self.messages if message.role == "user"]
        return next((text for text in reversed(texts) if read_prompt(text) is not None), texts[0])


def read_request(body: bytes) -> ChatRequest:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not valid JSON") from None
    if not isinstance(fields, dict):
        raise BadRequest("the body must be a JSON object")
    if (model := fields.get("model")) != MODEL:
        message = f"the model {model!r} does not exist: this server has only {MODEL!r}"
        raise BadRequest(message, status=404, param="model", code="model_not_found")
    if fields.get("stream"):
        raise BadRequest("streaming is not supported: leave out `stream`", param="stream")
    try:
        request = ChatRequest(**{name: value for name, value in fields.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadRequest(f"`{first['loc'][0]}`: {first['msg']}", param=str(first["loc"][0])) from None
    if not any(message.role == "user" for message in request.messages):
        raise BadRequest("`messages`: one must have the role user", param="messages")
    return request


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
    limit, reason = request.max_completion_tokens or request.max_tokens, "stop"
    if limit is not None and count_tokens(text) > limit:
        text, reason = " ".join(text.split(" ")[: int(limit / _TOKENS_PER_WORD)]), "length"
    asked, tokens = sum(count_tokens(message.content) for message in request.messages), count_tokens(text)
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
    question = read_prompt(request.prompt) if request.logprobs and request.top_logprobs else None
    if not isinstance(question, LearnerQuestion) or question.style != "letter":
        return None
    shares = sorted(learner.letter_shares(question).items(), key=lambda each: -each[1])
    listed = [{"token": letter, "logprob": math.log(share), "bytes": None} for letter, share in shares]
    return {"content": [{**listed[0], "top_logprobs": listed[: request.top_logprobs]}]}


def models() -> dict[str, Any]:
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "vpp"}
    return {"object": "list", "data": [{**model, "max_model_len": CONTEXT_TOKENS, "version": VERSION}]}
