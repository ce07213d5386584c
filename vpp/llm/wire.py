"""The chat protocol's JSON: what is asked, and what a reply really says (openai, vLLM, LiteLLM, transformers, Ollama).

OddReply    a 200 that holds no usable answer; asking again may help
NoAnswer    one of a server in order, whose model gave no text: cut off while it thought, filtered, a tool called
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from vpp.data.answers import cut_thinking

TEXT_LIMIT = 200_000
"""Characters of an answer that are kept."""
REASONING_LIMIT = 20_000
"""Characters of a thinking model's thoughts that are kept."""
REASON_LIMIT = 200
"""Characters of a server's words that are repeated to a user."""
WORDS_LEVELS = 8
"""Objects within one another that are searched for a server's words."""
RETRY_AFTER_LIMIT_S = 120.0
COUNT_LIMIT = 10**9
"""Tokens above which a server's count is none."""
ID_LIMIT = 200
"""Characters of a model's name that are kept."""
SECRET_LENGTH = 8
"""Characters from which on a key, or how it begins, is no word."""
_NUMBER = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")
_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])|\\/")

Message = Mapping[str, str]
Messages = Sequence[Message]


MEND_ADDRESS = "check that the address is an OpenAI-compatible one (/v1)"
MEND_THOUGHTS = (
    "allow more tokens (--learner-max-tokens, --optimizer-max-tokens) or switch the model's thinking off "
    "(--reasoning-effort none); on the page, under How it is asked"
)


class OddReply(Exception):
    """A reply that is not what was asked for; its text says what it is instead."""

    def __init__(self, kind: str, reason: str, *, mend: str = MEND_ADDRESS) -> None:
        """`kind` is out of a fixed vocabulary, to count by."""
        super().__init__(reason)
        self.kind = kind
        self.mend = mend


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model."""

    text: str
    finish_reason: str | None
    """`stop`, or `length` where it was cut off at its limit."""
    prompt_tokens: int
    """0 where the server does not say."""
    completion_tokens: int
    cached: bool = False
    reasoning: str | None = None
    """The first 20,000 characters of what a thinking model thought; None where nothing shows that it did."""

    @property
    def cut_off(self) -> bool:
        """Whether the answer stops at its limit of tokens rather than at its end."""
        return self.finish_reason == "length"


class NoAnswer(OddReply):
    """A reply in order without any text; `completion` is what it holds."""

    def __init__(self, kind: str, reason: str, *, mend: str, completion: Completion) -> None:
        super().__init__(kind, reason, mend=mend)
        self.completion = completion


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A line of /v1/models."""

    id: str
    max_model_len: int | None
    """Tokens of prompt and answer together, where the server says."""


def read_completion(body: bytes, *, secret: str = "") -> Completion:
    """The answer in a 200's body without the key, what was thought apart from it. Raises OddReply."""
    reply = _read_object(body, secret)
    choice = _first_choice(reply)
    message = _object(choice.get("message"))
    said, thought = (withheld(words, secret) for words in _said(message))
    text = cut_thinking(said)
    usage = _object(reply.get("usage"))
    completion = Completion(
        text=text.lstrip("\n") if text != said else said,
        finish_reason=withheld(_text(choice.get("finish_reason")) or "", secret)[:ID_LIMIT] or None,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning=(thought or ("" if text == said else said.removesuffix(text)))[:REASONING_LIMIT] or None,
    )
    if not completion.text.strip():
        _refuse_empty(completion, message, is_told=isinstance(message.get("content"), str) and text == said)
    return completion


def _said(message: dict[str, Any]) -> tuple[str, str]:
    """The content, a text or a list of parts, and the thoughts kept beside it."""
    content = message.get("content")
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    texts = [_text(part.get("text")) or "" for part in parts if part.get("type", "text") in ("text", "output_text")]
    thoughts = _text(message.get("reasoning")) or _text(message.get("reasoning_content"))
    return _text("".join(texts) if parts else content) or "", thoughts or ""


def _refuse_empty(completion: Completion, message: dict[str, Any], *, is_told: bool) -> None:
    """Raises NoAnswer, which says why there is no text; an empty one that the model ended itself is an answer."""
    finish = completion.finish_reason
    if finish == "length":
        kind, reason, mend = "cut off before any answer", "the answer is empty, cut off at its limit of tokens", ""
    elif finish == "content_filter" or message.get("refusal"):
        said = _one_line(_text(message.get("refusal")) or "")
        kind, reason = "answer withheld", f"the server withheld the answer (content filter) {said}".rstrip()
        mend = "try another model, or rows without what it filters"
    elif message.get("tool_calls") or message.get("function_call"):
        kind, reason, mend = "tool called", "the model called a tool instead of answering", "try another model"
    elif is_told:
        return
    else:
        kind, reason = "no content", f"the answer has no content (finish reason {finish})"
        mend = "try another model"
    raise NoAnswer(kind, reason, mend=mend or MEND_THOUGHTS, completion=completion)


def _read_json(body: bytes, secret: str) -> Any:
    try:
        return _without(json.loads(body), secret)
    except (ValueError, RecursionError):
        raise _not_json(body, secret) from None


def _without(value: Any, secret: str) -> Any:
    """A JSON value whose texts do not hold the key: it goes before anything is cut, since a half of it is not known."""
    return _replaced(value, secret) if secret else value


def _replaced(value: Any, secret: str) -> Any:
    if isinstance(value, str):
        return value.replace(secret, "[key]")
    if isinstance(value, list):
        return [_replaced(each, secret) for each in value]
    return {name: _replaced(each, secret) for name, each in value.items()} if isinstance(value, dict) else value


def _read_object(body: bytes, secret: str) -> dict[str, Any]:
    reply = _read_json(body, secret)
    if not isinstance(reply, dict):
        raise OddReply("not the protocol", f"answered JSON that is not an object: {_excerpt(body, secret)}")
    return reply


def _not_json(body: bytes, secret: str) -> OddReply:
    """What a body that is not JSON looks like."""
    head = body[:1000].lstrip()
    if head.startswith(b"<"):
        mend = "check how the address ends (often /v1), and that it is the model's and no page's"
        return OddReply("web page", f"answered a web page, not JSON: {_excerpt(body, secret)}", mend=mend)
    if head.startswith((b"data:", b"event:", b": ")):
        mend = "switch streaming off at the server or the proxy before it"
        return OddReply("streamed", "answered as a stream, though none was asked for", mend=mend)
    return OddReply("broken JSON", f"answered something that is not whole JSON: {_excerpt(body, secret)}")


def _first_choice(reply: dict[str, Any]) -> dict[str, Any]:
    choices = reply.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    if reply.get("error"):
        raise OddReply("error under 200", f"answered 200 with an error: {_words(reply)}")
    raise OddReply("no choices", "answered 200 without any choice")


def read_models(body: bytes, *, secret: str = "") -> list[ServedModel]:
    """The models a server lists, also as a bare array; entries without an id are left out. Raises OddReply."""
    reply = _read_json(body, secret)
    listed = reply if isinstance(reply, list) else _read_object(body, secret).get("data")
    entries = [_object(entry) for entry in listed] if isinstance(listed, list) else []
    return [
        ServedModel(id=name, max_model_len=_count(entry.get("max_model_len")) or None)
        for entry in entries
        if (name := withheld(printable(_text(entry.get("id")) or ""), secret)[:ID_LIMIT])
    ]


def server_words(body: bytes, *, secret: str = "") -> str:
    """What an error's body says without the key, in one line and not yet cut; '' where it says nothing."""
    try:
        return _words(_without(json.loads(body), secret))
    except (ValueError, RecursionError):
        return _excerpt(body, secret) if body.strip() else ""


def _words(reply: Any, *, levels: int = WORDS_LEVELS) -> str:
    """Knows `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}` and FastAPI's `{"detail": […]}`."""
    if isinstance(reply, dict):
        said = next((reply[key] for key in ("error", "message", "detail") if reply.get(key)), "")
        return _words(said, levels=levels - 1) if levels else ""
    if isinstance(reply, list):
        return "; ".join(_fault(_object(entry)) for entry in reply[:5])
    return _one_line(str(reply)) if isinstance(reply, str | int | float) else ""


def _fault(entry: dict[str, Any]) -> str:
    """One of FastAPI's faults, without its `input`, which repeats the prompt."""
    place = entry.get("loc")
    path = ".".join(str(part) for part in place) if isinstance(place, list) else ""
    return _one_line(f"{path}: {entry.get('msg', '')}")


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds the server asks to wait, at most 120; None where it does not say, or says no sense."""
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = float(value) if _NUMBER.fullmatch(value.strip()) else _until(value, now)
    return None if seconds is None else min(max(seconds, 0.0), RETRY_AFTER_LIMIT_S)


def _until(value: str, now: datetime | None) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (aware - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, OverflowError):
        return None


def withheld(words: str, secret: str) -> str:
    """Words without the key, which a server can repeat to have it written down, and without its beginning at their end.

    secret: the key; empty: none.
    """
    kept = words.replace(secret, "[key]") if secret else words
    cut = next((n for n in range(len(secret) - 1, SECRET_LENGTH - 1, -1) if kept.endswith(secret[:n])), 0)
    return f"{kept[:-cut]}[key]" if cut else kept


def short_reason(words: str, *, secret: str) -> str:
    """A server's words fit for a user: one short line, without the key, whole or masked."""
    line = withheld(_one_line(withheld(words, secret)), secret).rstrip(".")
    masked = re.sub(r"\S*\*{3}\S*|\bsk-\S+", "[key]", line)
    return masked if len(masked) <= REASON_LIMIT else masked[:REASON_LIMIT].rstrip() + "…"


def _one_line(words: str) -> str:
    return printable(words[: 20 * REASON_LIMIT])


def printable(words: str) -> str:
    """Foreign words as one line that a terminal only prints: what is no sign at all becomes a space."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())


def _excerpt(body: bytes, secret: str) -> str:
    """How a body begins that is not the protocol's; JSON's escapes of signs that a key has are undone."""
    said = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "/", body.decode("utf-8", "replace"))
    return _one_line(withheld(said, secret)[: 4 * REASON_LIMIT]) or "nothing"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    """Capped, and without lone surrogates, which no file or request could carry."""
    return value[:TEXT_LIMIT].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _count(value: Any) -> int:
    """0 for what is no count of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= COUNT_LIMIT else 0
