"""Chat protocol: parse a request's body, build the answer's. An answer depends on the body alone."""

import hashlib
import math
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from vpp.demo import VERSION, learner, optimizer
from vpp.demo.prompt import LearnerQuestion, ProgramQuestion, read_prompt

MODEL = "demo"
CONTEXT_TOKENS = 32_768
_TOKENS_PER_WORD = 4 / 3


class Message(BaseModel):
    role: str
    content: str


class ChatRequest(BaseModel):
    """Fields of a request that determine the answer."""

    model: Literal["demo"]
    messages: list[Message]
    stream: Literal[False] = False
    temperature: float = Field(default=1.0, ge=0, le=2)
    seed: int = 0
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=20)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, fields: Any) -> Any:
        return {name: one for name, one in fields.items() if one is not None} if isinstance(fields, dict) else fields

    @field_validator("messages")
    @classmethod
    def _need_a_user(cls, messages: list[Message]) -> list[Message]:
        if not any(message.role == "user" for message in messages):
            raise ValueError("one must have the role user")
        return messages

    @property
    def prompt(self) -> str:
        """Last message of the user with a question, else the first one."""
        texts = [message.content for message in self.messages if message.role == "user"]
        return next((text for text in reversed(texts) if read_prompt(text) is not None), texts[0])


def refusal(error: ValidationError) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of the answer to an invalid request."""
    first = error.errors()[0]
    param = str(first["loc"][0]) if first["loc"] else None
    message = f"{param or 'the body'}: {first['msg']}"
    body = {"message": message, "type": "invalid_request_error", "param": param, "code": first["type"]}
    return 404 if param == "model" else 400, {"error": body}


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


def completion(request: ChatRequest) -> dict[str, Any]:
    text, limit, reason = respond(request), request.max_completion_tokens or request.max_tokens, "stop"
    if limit is not None and count_tokens(text) > limit:
        text, reason = " ".join(text.split(" ")[: int(limit / _TOKENS_PER_WORD)]), "length"
    n_prompt, n_text = sum(count_tokens(message.content) for message in request.messages), count_tokens(text)
    identity = hashlib.sha256(f"{request.seed} {request.temperature} {request.prompt}".encode(errors="replace"))
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-{identity.hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "system_fingerprint": f"demo-{VERSION}",
        "choices": [{"index": 0, "message": message, "logprobs": _logprobs(request), "finish_reason": reason}],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_text, "total_tokens": n_prompt + n_text},
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
