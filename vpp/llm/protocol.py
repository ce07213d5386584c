"""JSON of the chat protocol as servers speak it (OpenAI, vLLM, LiteLLM, transformers, Ollama): fields and replies."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from vpp.data.answers import cut_thinking
from vpp.llm.answers import FIELDS, read_first_tokens

# --- replies of servers without this protocol -----------------------------------------------------------------------

NO_API = "no OpenAI-compatible API at this address"
FIX_ADDRESS = "give the address of a model server, which often ends in /v1"


def is_web_page(body: bytes) -> bool:
    """Return whether a body is HTML or XML."""
    return body[:1000].lstrip().startswith(b"<")


def is_error(body: bytes) -> bool:
    """Return whether a body is an error as servers of the protocol write it."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and ("error" in reply or reply.get("object") == "error")


# --- the protocol ---------------------------------------------------------------------------------------------------

TEXT_LIMIT = 200_000
"""Characters kept of an answer."""
REASONING_LIMIT = 20_000
"""Characters kept of a model's reasoning."""
REASON_LIMIT = 200
"""Characters shown of a server's message."""
NESTING_LIMIT = 8
"""Nested objects that are searched for a server's message."""
RETRY_AFTER_LIMIT_S = 120.0
COUNT_LIMIT = 10**9
"""Largest plausible count of tokens."""
Tokens = Annotated[int, Field(ge=0, le=COUNT_LIMIT)]
"""A count of tokens; 0 if the server does not say."""
ID_LIMIT = 200
"""Characters kept of a model's name."""
SECRET_LENGTH = 8
"""Length from which a key, or its beginning, cannot be an ordinary word."""
_NUMBER = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")
_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\/")
_OPENAI_KEY = re.compile(r"\bsk-\S+")
_AS_IS = ("temperature", "seed", "response_format", "reasoning_effort", "chat_template_kwargs", *FIELDS)
NAMES = {"max_tokens": ("max_completion_tokens", "max_tokens"), **{name: (name,) for name in _AS_IS}}
"""Field names under which an option is sent; the second one if the first is refused."""
OVERRUN = 16
"""Tokens by which an answer may exceed its limit: servers count end marks differently."""
OPTIONAL = frozenset(name for names in NAMES.values() for name in names)
_NO_ROOM = re.compile(r"context.{0,10}(length|window)|too large", re.IGNORECASE)
_OUT_OF_BOUNDS = re.compile(r"at most|too (high|long|big|many)|exceed|(greater|less|more) than", re.IGNORECASE)
OTHER_WORDS = {
    "response_format": r"response.?format|json.?schema|structured|grammar",
    "reasoning_effort": r"reasoning|effort",
    "chat_template_kwargs": r"chat.?template|enable_thinking",
}
"""Words by which servers refer to a field without its name."""

Message = Mapping[str, str]
Messages = Sequence[Message]

FIX_THOUGHTS = (
    "allow more tokens (--limit learner=N, --limit optimizer=N) or switch the model's thinking off "
    "(--reasoning-effort none); on the page, under Server settings"
)


class OddReply(Exception):
    """A 200 without a usable answer; the message says what it is instead, and asking again may help."""

    def __init__(
        self, kind: str, reason: str, *, fix: str = FIX_ADDRESS, completion: "Completion | None" = None
    ) -> None:
        """kind: a word from a fixed vocabulary, to count by. completion: of a valid reply without a text."""
        super().__init__(reason)
        self.kind = kind
        self.fix = fix
        self.completion = completion


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model."""

    text: str
    finish_reason: str | None
    """`stop`, or `length` if it was cut off at its limit."""
    prompt_tokens: Tokens
    completion_tokens: Tokens
    cached: bool = False
    reasoning: str | None = None
    """The model's reasoning, at most 20,000 characters; None if there is none."""
    first_tokens: tuple[tuple[str, float], ...] = ()
    """Alternatives of the first token with their natural log-probabilities; empty if not asked for."""

    @property
    def cut_off(self) -> bool:
        """Return whether the answer stops at its limit of tokens rather than at its end."""
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A line of /v1/models."""

    id: str
    max_model_len: int | None
    """Tokens of prompt and answer together; None if the server does not say."""


def read_completion(body: bytes, *, secret: str = "") -> Completion:
    """Return the answer in a 200's body, its reasoning apart and without the key (`secret`). Raises OddReply."""
    reply = _read_object(body, secret)
    choice = _first_choice(reply, body, secret)
    message = _object(choice.get("message"))
    content, thoughts = (withheld(words, secret) for words in _content(message))
    text = cut_thinking(content)
    usage = _object(reply.get("usage"))
    completion = Completion(
        text=text.lstrip("\n") if text != content else content,
        finish_reason=withheld(_text(choice.get("finish_reason")) or "", secret)[:ID_LIMIT] or None,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning=(thoughts or ("" if text == content else content.removesuffix(text)))[:REASONING_LIMIT] or None,
        first_tokens=read_first_tokens(choice),
    )
    if not completion.text.strip():
        _refuse_empty(completion, message, is_answer=isinstance(message.get("content"), str) and text == content)
    return completion


def _content(message: dict[str, Any]) -> tuple[str, str]:
    """Return the content, a text or a list of parts, and the reasoning sent in a field of its own."""
    content = message.get("content")
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    texts = [_text(part.get("text")) or "" for part in parts if part.get("type", "text") in ("text", "output_text")]
    thoughts = _text(message.get("reasoning")) or _text(message.get("reasoning_content"))
    return _text("".join(texts) if parts else content) or "", thoughts or ""


def _refuse_empty(completion: Completion, message: dict[str, Any], *, is_answer: bool) -> None:
    """Raise OddReply with the reason why there is no text. is_answer: whether the model itself ended an empty text."""
    finish = completion.finish_reason
    if finish == "length":
        kind, reason, fix = "cut off before any answer", "the answer is empty, cut off at its limit of tokens", ""
    elif finish == "content_filter" or message.get("refusal"):
        refusal = _one_line(_text(message.get("refusal")) or "")
        kind, reason = "answer withheld", f"the server withheld the answer (content filter) {refusal}".rstrip()
        fix = "try another model, or rows without what it filters"
    elif message.get("tool_calls") or message.get("function_call"):
        kind, reason, fix = "tool called", "the model called a tool instead of answering", "try another model"
    elif is_answer:
        return
    else:
        kind, reason = "no content", f"the answer has no content (finish reason {finish})"
        fix = "try another model"
    raise OddReply(kind, reason, fix=fix or FIX_THOUGHTS, completion=completion)


def _read_json(body: bytes, secret: str) -> Any:
    """Return the JSON value of a body. Raises OddReply."""
    try:
        return _redacted(json.loads(body), secret)
    except (ValueError, RecursionError):
        pass
    if is_web_page(body):
        raise OddReply("web page", f"{NO_API}: found a web page")
    if body[:1000].lstrip().startswith((b"data:", b"event:", b": ")):
        fix = "switch streaming off at the server or the proxy before it"
        raise OddReply("streamed", "answered as a stream, though none was asked for", fix=fix)
    raise OddReply("broken JSON", f"answered something that is not complete JSON: {_excerpt(body, secret)}")


def _redacted(value: Any, secret: str) -> Any:
    """Return a JSON value without the key, removed before any text is cut: half a key would not be recognised."""
    if not secret:
        return value
    if isinstance(value, str):
        return value.replace(secret, "[key]")
    if isinstance(value, list):
        return [_redacted(each, secret) for each in value]
    return {name: _redacted(each, secret) for name, each in value.items()} if isinstance(value, dict) else value


def _read_object(body: bytes, secret: str) -> dict[str, Any]:
    reply = _read_json(body, secret)
    if not isinstance(reply, dict):
        raise _other_json(body, secret)
    return reply


def _other_json(body: bytes, secret: str) -> OddReply:
    return OddReply("not the protocol", f"{NO_API}: found other JSON, {_excerpt(body, secret)}")


def _first_choice(reply: dict[str, Any], body: bytes, secret: str) -> dict[str, Any]:
    choices = reply.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if reply.get("error"):
        raise OddReply("error under 200", f"answered 200 with an error: {_message(reply)}")
    if "choices" not in reply:
        raise _other_json(body, secret)
    raise OddReply("no choices", "answered 200 without any choice")


def read_models(body: bytes, *, secret: str = "") -> list[ServedModel]:
    """Return the models that a server lists, also as a bare array, except entries without an id. Raises OddReply."""
    reply = _read_json(body, secret)
    if isinstance(reply, dict) and "data" not in reply:
        raise _other_json(body, secret)
    listed = reply if isinstance(reply, list) else _read_object(body, secret).get("data")
    entries = [_object(entry) for entry in listed] if isinstance(listed, list) else []
    return [
        ServedModel(id=name, max_model_len=_count(entry.get("max_model_len")) or None)
        for entry in entries
        if (name := withheld(printable(_text(entry.get("id")) or ""), secret)[:ID_LIMIT])
    ]


def read_token_count(body: bytes, *, secret: str = "") -> int | None:
    """Return the number of tokens that a tokenizer counts or lists; None if it does neither. Raises OddReply."""
    reply = _read_object(body, secret)
    tokens = reply.get("tokens")
    return _count(reply.get("count")) or (len(tokens) if isinstance(tokens, list) else 0) or None


def server_words(body: bytes, *, secret: str = "") -> str:
    """Return an error's message without the key, in one line, not yet cut; empty if there is none."""
    if is_web_page(body):
        return "with a web page"
    try:
        return _message(_redacted(json.loads(body), secret))
    except (ValueError, RecursionError):
        return _excerpt(body, secret) if body.strip() else ""


def _message(reply: Any, *, levels: int = NESTING_LIMIT) -> str:
    """Read the message of `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}` and FastAPI's `{"detail": […]}`."""
    if isinstance(reply, dict):
        inner = next((reply[key] for key in ("error", "message", "detail") if reply.get(key)), "")
        return _message(inner, levels=levels - 1) if levels else ""
    if isinstance(reply, list):
        return "; ".join(_invalid_field(_object(entry)) for entry in reply[:5])
    return _one_line(str(reply)) if isinstance(reply, str | int | float) else ""


def _invalid_field(entry: dict[str, Any]) -> str:
    """Return one of FastAPI's validation errors without its `input`, which repeats the prompt."""
    place = entry.get("loc")
    path = ".".join(str(part) for part in place) if isinstance(place, list) else ""
    return _one_line(f"{path}: {entry.get('msg', '')}")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, at most 120; None if it names none, or a date."""
    value = headers.get("retry-after", "").strip()
    return min(float(value), RETRY_AFTER_LIMIT_S) if _NUMBER.fullmatch(value) else None


def withheld(words: str, secret: str) -> str:
    """Return the words without the key (`secret`, may be empty), and without a cut key at their end.

    A server may repeat the key, and answers are stored.
    """
    clean = words.replace(secret, "[key]") if secret else words
    cut = next((n for n in range(len(secret) - 1, SECRET_LENGTH - 1, -1) if clean.endswith(secret[:n])), 0)
    return f"{clean[:-cut]}[key]" if cut else clean


def short_reason(words: str, *, secret: str) -> str:
    """Shorten a server's message to one line of 200 characters without the key, complete or masked."""
    line = withheld(_one_line(withheld(words, secret)), secret).rstrip(".")
    masked = " ".join("[key]" if "***" in word else _OPENAI_KEY.sub("[key]", word) for word in line.split(" "))
    return masked if len(masked) <= REASON_LIMIT else masked[:REASON_LIMIT].rstrip() + "…"


def _one_line(words: str) -> str:
    return printable(words[: 20 * REASON_LIMIT])


def printable(words: str) -> str:
    """Return the text as one line of printable characters, which no terminal takes for a command."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())


def _excerpt(body: bytes, secret: str) -> str:
    """Return the beginning of a foreign body. JSON escapes are undone first, so that an escaped key is recognised."""
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else "/", body.decode("utf-8", "replace"))
    return _one_line(withheld(text, secret)[: 4 * REASON_LIMIT]) or "nothing"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    """Return a text, capped and without lone surrogates, which cannot be encoded; None for another value."""
    return value[:TEXT_LIMIT].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _count(value: Any) -> int:
    """Return a count of tokens; 0 for another value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= COUNT_LIMIT else 0


class OptionalFields:
    """The optional fields that one server accepts, and under which names; learned from its refusals."""

    def __init__(self) -> None:
        self.dropped: tuple[str, ...] = ()
        """Names that the server refused, in that order."""

    def spelled(self, options: dict[str, Any], refused: Collection[str] = ()) -> dict[str, Any]:
        """Return the given options under names that this server accepts, except those `refused` just now."""
        gone = {*self.dropped, *refused}
        named = ((next((n for n in NAMES[option] if n not in gone), None), value) for option, value in options.items())
        return {name: value for name, value in named if name and value is not None}

    def learn(self, sent: Mapping[str, Any], refused: Iterable[str], answer_tokens: int) -> tuple[str, ...]:
        """Learn from an accepted request; return the names that are dropped from now on.

        sent: the request. refused: names that the server refused before it accepted the request without them.
        """
        new = [name for name in refused if name not in self.dropped]
        limit = NAMES["max_tokens"][0]
        if limit in sent and limit not in self.dropped and answer_tokens > sent[limit] + OVERRUN:
            new.append(limit)  # Ollama accepts the newer name and ignores it
        self.dropped += tuple(new)
        return tuple(new)


def named_fields(refusal: bytes, sent: Iterable[str]) -> list[str]:
    """Return the `sent` optional fields that a 400 or 422 complains about, by its `param` or else its message.

    A limit of tokens that is too high is not among them: without a limit an answer could have any length.
    """
    message, param = server_words(refusal), _param(refusal)
    if _NO_ROOM.search(message) or _NO_ROOM.search(param or ""):
        return []
    required = NAMES["max_tokens"] if _OUT_OF_BOUNDS.search(message) else ()
    fields, words = [field for field in sent if field in OPTIONAL.difference(required)], param or message
    named = [field for field in fields if re.search(rf"\b{re.escape(field)}\b", words)]
    return named or [name for name in fields if name in OTHER_WORDS and re.search(OTHER_WORDS[name], words, re.I)][:1]


def _param(refusal: bytes) -> str | None:
    try:
        param = json.loads(refusal)["error"]["param"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    return param if isinstance(param, str) and param not in ("None", "null") else None
