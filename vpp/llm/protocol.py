"""JSON of the chat protocol as servers speak it: answers, lists, errors in any shape, and requests' optional fields."""

import json
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    create_model,
    field_validator,
)
from pydantic_core.core_schema import ValidationInfo

from vpp.data.answers import cut_thinking
from vpp.llm.answers import FIELDS, ROUNDED_UP
from vpp.llm.gate import place_of

NO_API = "no OpenAI-compatible API at this address"
FIX_ADDRESS = "give the address of a model server, which often ends in /v1"
FIX_DOWN = "check that the server is up and its address right"
FIX_FILTER = "try another model, or rows without what it filters"
FIX_MODEL = "try another model"
FIX_THOUGHTS = (
    "allow more tokens (--limit learner=N, --limit optimizer=N) or switch the model's thinking off "
    "(--reasoning-effort none); on the page, under Server settings"
)
FIX_SLOW = "give it more time, or ask it for less at once"
FIX_BUSY = "it is overloaded or failing: go on when it has recovered"
LATE = "no answer in time"
TEXT_LIMIT = 200_000
"""Characters kept of an answer."""
REASONING_LIMIT = 20_000
"""Characters kept of a model's reasoning."""
REASON_LIMIT = 200
"""Characters shown of a server's message."""
WORDS_LIMIT = 20 * REASON_LIMIT
"""Characters read of a server's message."""
NESTING_LIMIT = 8
"""Nested objects that are searched for a server's message."""
RETRY_AFTER_LIMIT_S = 120.0
COUNT_LIMIT = 10**9
"""Largest plausible count of tokens."""
ID_LIMIT = 200
"""Characters kept of a model's name."""
MOST_TOKENS = 100
"""Most alternatives of a token that are read."""
SECRET_LENGTH = 8
"""Length from which a secret cannot be an ordinary word."""
Tokens = Annotated[int, Field(ge=0, le=COUNT_LIMIT)]
"""A count of tokens; 0 if the server does not say."""
Message = Mapping[str, str]
Messages = Sequence[Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model."""

    text: str
    finish_reason: str | None
    """`length` if the answer was cut off at its limit, else the server's word for its end."""
    prompt_tokens: Tokens
    completion_tokens: Tokens
    cached: bool = False
    reasoning: str | None = None
    """The model's reasoning, at most 20,000 characters; None if there is none."""
    first_tokens: tuple[tuple[str, float], ...] = ()
    """Alternatives of the first token with their natural log-probabilities; empty if not asked for."""

    @property
    def cut_off(self) -> bool:
        """True if the answer stops at its limit of tokens rather than at its end."""
        return self.finish_reason == "length"


class Fault(NamedTuple):
    """Failure of one attempt; another attempt may succeed."""

    kind: str
    """A few words from a fixed vocabulary, to count by."""
    words: str
    """One line."""
    fix: str = FIX_DOWN


class Complaint(NamedTuple):
    """A server's error, whatever its shape."""

    words: str = ""
    """Its message in one line, not yet cut."""
    codes: frozenset[str] = frozenset()
    """Its codes, types and statuses in lower case."""
    param: str = ""
    """The field of the request that it names."""
    is_of_protocol: bool = False
    """True if it has the form that servers of the protocol use."""

    @property
    def status(self) -> int:
        """The HTTP status among its codes; 0 if there is none."""
        return max((int(code) for code in self.codes if re.fullmatch("[45][0-9][0-9]", code)), default=0)


@dataclass(eq=False)
class OddReply(Exception):
    """A 200 without a usable answer; asking again may help."""

    fault: Fault
    completion: Completion | None = None
    """What there is of an answer."""
    complaint: Complaint | None = None
    """The error that stands in its place."""


# --- answers --------------------------------------------------------------------------------------------------------

REGULAR = frozenset({"", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"})
"""Finish reasons of a whole answer, in lower case: servers keep those of their models."""
CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
FILTERED = frozenset(
    ("content_filter", "safety", "recitation", "refusal", "blocklist", "prohibited_content", "spii", "sensitive")
)
TOOLS = frozenset({"tool_calls", "function_call", "tool_use"})
WITHHELD, TOOL_CALLED, NOTHING, CUT_BEFORE = "answer withheld", "tool called", "no content", "cut off before any answer"


class _Object(BaseModel):
    """Part of a reply. A field with another type than the protocol's counts as absent."""

    model_config = ConfigDict(strict=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _or_absent(cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return read(value)
        except ValidationError:
            return cls.model_fields[info.field_name or ""].get_default(call_default_factory=True)


class _Part(_Object):
    type: str = "text"
    text: str = ""
    thinking: "str | list[_Part]" = ""


class _Message(_Object):
    content: str | list[_Part] | None = None
    reasoning: str = ""
    reasoning_content: str = ""
    refusal: str = ""
    tool_calls: list[Any] = []
    function_call: Any = None

    @property
    def text(self) -> str:
        """The content, a text or the texts of its parts."""
        return _joined(self.content or "")

    @property
    def thoughts(self) -> str:
        """The reasoning that is sent apart from the text."""
        parts = self.content if isinstance(self.content, list) else []
        return self.reasoning or self.reasoning_content or "".join(_joined(part.thinking) for part in parts)


def _joined(content: str | list[_Part]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if part.type in ("text", "output_text"))


class _Token(_Object):
    token: str = ""
    bytes: list[Annotated[int, Field(ge=0, le=255)]] = []
    logprob: float = 1.0
    top_logprobs: "list[_Token]" = []

    @property
    def spelled(self) -> str:
        """The token as text: servers also send its number, or a vocabulary's mark in place of its blank."""
        text = bytes(self.bytes).decode("utf-8", "replace") or self.token
        return text.replace("Ġ", " ").replace("▁", " ")


class _Logprobs(_Object):
    """Log-probabilities as chats have them, a token each, or as older completions have them, in parallel lists."""

    content: list[_Token] = []
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float]] = []

    @property
    def first(self) -> tuple[tuple[str, float], ...]:
        """Alternatives of the first token, or it alone; what is no log-probability is left out."""
        if self.content:
            tokens = self.content[0].top_logprobs or self.content[:1]
        else:
            chosen = dict(zip(self.tokens[:1], self.token_logprobs, strict=False))
            pairs = (self.top_logprobs[0] if self.top_logprobs else chosen).items()
            tokens = [_Token(token=token, logprob=value) for token, value in pairs if value is not None]
        return tuple(
            (each.spelled, each.logprob)
            for each in tokens[:MOST_TOKENS]
            if each.token and -float("inf") < each.logprob <= ROUNDED_UP
        )


class _Choice(_Object):
    message: _Message = _Message()
    finish_reason: str = ""
    logprobs: _Logprobs = _Logprobs()
    error: Any = None


class _Usage(_Object):
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class _Reply(_Object):
    choices: list[_Choice] = []
    usage: _Usage = _Usage()
    error: Any = None
    detail: Any = None
    object: str = ""


def read_completion(body: bytes) -> Completion:
    """Return the answer in a 200's body, its reasoning apart. Raises OddReply."""
    read = _read_object(body)
    reply = _Reply.model_validate(read)
    is_error = reply.error or reply.detail or reply.object.casefold() == "error"
    if failed := reply.choices[0].error if reply.choices else read if is_error else None:
        complaint = complaint_of(failed)
        words = f"answered 200 with an error: {complaint.words}"
        raise OddReply(Fault("error under 200", words, FIX_ADDRESS), complaint=complaint)
    if not reply.choices:
        if "choices" not in read:
            raise _other(body)
        raise OddReply(Fault("no choices", "answered 200 without any choice", FIX_ADDRESS))
    message, finish = reply.choices[0].message, reply.choices[0].finish_reason
    content = message.text[:TEXT_LIMIT]
    text = cut_thinking(content)
    completion = Completion(
        text=text.lstrip("\n") if text != content else content,
        finish_reason="length" if finish.casefold() in CUT else finish[:ID_LIMIT] or None,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        reasoning=(message.thoughts or ("" if text == content else content.removesuffix(text)))[:REASONING_LIMIT]
        or None,
        first_tokens=reply.choices[0].logprobs.first,
    )
    is_answer = isinstance(message.content, str) and text == content
    if fault := _fault(completion, message, finish.casefold(), is_answer=is_answer):
        raise OddReply(fault, completion)
    return completion


def _fault(completion: Completion, message: _Message, finish: str, *, is_answer: bool) -> Fault | None:
    """Return the fault of a reply that is no whole answer. is_answer: the model wrote all of the text."""
    if finish in FILTERED or message.refusal:
        said = printable(message.refusal) or f"finish reason {completion.finish_reason}"
        return Fault(WITHHELD, f"content filter: {said}", FIX_FILTER)
    if finish in TOOLS or message.tool_calls or message.function_call:
        return Fault(TOOL_CALLED, "the model called a tool instead of answering", FIX_MODEL)
    if finish not in REGULAR | CUT:
        words = f"the answer stopped early (finish reason {completion.finish_reason})"
        return Fault("stopped early", words, FIX_MODEL)
    if completion.text.strip():
        return None
    if completion.cut_off:
        return Fault(CUT_BEFORE, "the answer is empty, cut off at its limit of tokens", FIX_THOUGHTS)
    words = f"the answer has no content (finish reason {finish or None})"
    return None if is_answer else Fault(NOTHING, words, FIX_MODEL)


class _Meta(_Object):
    n_ctx: Tokens = 0


class _Listed(_Object):
    id: str = ""
    max_model_len: Tokens = 0
    meta: _Meta = _Meta()


def read_models(body: bytes) -> dict[str, int]:
    """Return the models that a server lists, also as a bare array, by name, with their context in tokens, 0 if unknown.

    Raises OddReply.
    """
    reply = _read_json(body)
    if isinstance(reply, dict) and "data" in reply:
        reply = reply["data"] or []
    if not isinstance(reply, list):
        raise _other(body)
    entries = [_Listed.model_validate(each) for each in reply if isinstance(each, dict)]
    listed = {printable(each.id)[:ID_LIMIT]: each.max_model_len or each.meta.n_ctx for each in entries}
    return {name: length for name, length in listed.items() if name}


class _Props(_Object):
    total_slots: Tokens = 0


def read_slots(body: bytes) -> int:
    """Return the calls that a llama.cpp server answers at a time; 0 if it does not say. Raises OddReply."""
    return _Props.model_validate(_read_object(body)).total_slots


# --- any body -------------------------------------------------------------------------------------------------------

_OPENAI_KEY = re.compile(r"\S*\*{3}\S*|\bsk-\S+")
"""A key, or one that a server has masked."""
_NUMBER = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?")
_LONE_SURROGATE = re.compile(rb"\\ud[89a-f]", re.IGNORECASE)


def without(body: bytes, secrets: Iterable[str]) -> bytes:
    """Return a reply without the secrets that were sent with the request: a server may repeat them, and we store it."""
    for secret in secrets:
        if len(secret) >= SECRET_LENGTH:
            plain = json.dumps(secret)[1:-1]
            for written in (plain, plain.replace("/", "\\/"), secret):
                body = body.replace(written.encode(), b"[key]")
    return body


def _loads(body: bytes) -> Any:
    """Return the JSON value of a body, `?` in place of each half of a character that no file could store."""
    value = json.loads(body)
    if _LONE_SURROGATE.search(body):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def _read_json(body: bytes) -> Any:
    """Return the JSON value of a body. Raises OddReply."""
    try:
        return _loads(body)
    except (ValueError, RecursionError):
        pass
    if is_web_page(body):
        raise OddReply(Fault("web page", f"{NO_API}: found a web page", FIX_ADDRESS))
    if body[:1000].lstrip().startswith((b"data:", b"event:", b": ")):
        fix = "switch streaming off at the server or the proxy before it"
        raise OddReply(Fault("streamed", "answered as a stream, though none was asked for", fix))
    words = f"answered something that is not complete JSON: {_excerpt(body)}"
    raise OddReply(Fault("broken JSON", words, FIX_ADDRESS))


def _read_object(body: bytes) -> dict[str, Any]:
    reply = _read_json(body)
    if not isinstance(reply, dict):
        raise _other(body)
    return reply


def _other(body: bytes) -> OddReply:
    return OddReply(Fault("not the protocol", f"{NO_API}: found other JSON, {_excerpt(body)}", FIX_ADDRESS))


def _excerpt(body: bytes) -> str:
    """Return the beginning of a foreign body."""
    return printable(body[:WORDS_LIMIT].decode("utf-8", "replace"))[: 4 * REASON_LIMIT] or "nothing"


def is_web_page(body: bytes) -> bool:
    """Return whether a body is HTML or XML."""
    return body[:1000].lstrip().startswith(b"<")


def read_error(body: bytes) -> Complaint:
    """Return the error in a body, whatever its shape."""
    if is_web_page(body):
        return Complaint("with a web page")
    try:
        return complaint_of(_loads(body))
    except (ValueError, RecursionError):
        return Complaint(_excerpt(body) if body.strip() else "")


def complaint_of(value: Any) -> Complaint:
    """Return the error in a JSON value: an object, a text, or a list of them, however nested."""
    objects = list(_objects(value, NESTING_LIMIT))
    codes = (each.get(name) for each in objects for name in ("code", "type", "status", "reason", "error_type"))
    named = (each["param"] for each in objects if isinstance(each.get("param"), str))
    return Complaint(
        words=_message(value, NESTING_LIMIT),
        codes=frozenset(str(code).casefold() for code in codes if isinstance(code, str | int)),
        param=next((name for name in named if name not in ("None", "null")), ""),
        is_of_protocol=any("error" in each or str(each.get("object")).casefold() == "error" for each in objects),
    )


def _objects(value: Any, levels: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner if levels else ():
        yield from _objects(each, levels - 1)


def _message(value: Any, levels: int) -> str:
    """Read `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}`, FastAPI's `{"detail": […]}`, and lists of them.

    FastAPI's `input` is left out, as it repeats the prompt. A message may be JSON in a text.
    """
    if not levels or not isinstance(value, dict | list | str | int | float):
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, dict.fromkeys(_message(each, levels - 1) for each in value[:5])))
    if isinstance(value, dict) and "msg" in value:
        place = value.get("loc")
        return printable(f"{'.'.join(map(str, place)) if isinstance(place, list) else ''}: {value['msg']}")
    if isinstance(value, dict):
        inner = next((value[key] for key in ("error", "message", "detail") if value.get(key)), None)
        more = value.get("metadata")
        raw = more.get("raw") if isinstance(more, dict) else None
        return ": ".join(filter(None, (_message(inner, levels - 1), _message(raw, levels - 1))))
    text = str(value)[:WORDS_LIMIT]
    if text.lstrip().startswith(("{", "[{")):
        try:
            return _message(json.loads(text), levels - 1) or printable(text)
        except (ValueError, RecursionError):
            pass
    return printable(text)


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the seconds that the server asks to wait, at most 120; 0 if it names none, or a date."""
    value = headers.get("retry-after", "").strip()
    return min(float(value), RETRY_AFTER_LIMIT_S) if _NUMBER.fullmatch(value) else 0.0


def short_reason(words: str) -> str:
    """Shorten a server's message to one line of 200 characters, without keys."""
    line = _OPENAI_KEY.sub("[key]", printable(words[:WORDS_LIMIT])).rstrip(".")
    return line if len(line) <= REASON_LIMIT else line[:REASON_LIMIT].rstrip() + "…"


def printable(words: str) -> str:
    """Return the text as one line of printable characters, which no terminal takes for a command."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in words[:WORDS_LIMIT]).split())


# --- refusals and connections that fail ------------------------------------------------------------------------------

KEY_REFUSED = "key refused"
UNKNOWN_MODEL = "unknown model"
DOES_NOT_FIT = "the prompt does not fit"
PROMPT_FILTERED = "withheld by the server's filter"
NOT_ACCEPTED = "it did not accept the request"
OF_PROMPT = {DOES_NOT_FIT: "prompt too long", PROMPT_FILTERED: "prompt withheld", NOT_ACCEPTED: "prompt refused"}
"""Refusals of one prompt, and the kinds by which they are counted."""


class BodyTooLarge(Exception):
    """The reply is longer than any answer; its argument is the limit in bytes."""


def transport_fault(error: BaseException, *, base_url: str) -> Fault:
    """Explain a connection's error by its deepest cause; an unknown one is quoted."""
    place, host = place_of(base_url), urlsplit(base_url).hostname
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    said = str(error)
    if isinstance(error, BodyTooLarge):
        words = f"the reply is longer than {error.args[0] // 1024:,} KiB"
        return Fault("reply too long", words, "check that the address is a model's (/v1)")
    if isinstance(error, ssl.SSLError):
        fix = "write http:// where the server speaks no TLS, or trust its certificate on this machine (SSL_CERT_FILE)"
        reason = getattr(error, "verify_message", "") or (error.reason or "no secure connection").replace("_", " ")
        return Fault("TLS failed", f"TLS with {place} failed: {reason.lower()}", fix)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in said:
        return Fault("nothing listens", f"nothing listens at {place}", "is the server up, and is its port right?")
    if type(error).__name__ == "gaierror":
        return Fault("name not found", f"no machine called {host} is known", "check how the address is spelled")
    words = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Fault("connection failed", f"the connection with {place} failed ({words})", FIX_DOWN)


NO_CHAT = frozenset({405, 501})
"""Statuses of a server that takes no POST at this address."""
_AGAIN = frozenset({200, 408, 409, 429})
"""Statuses below 500 after which another attempt may succeed; 200: an error that stands in an answer's place."""
_OF_PROMPT = frozenset({200, 400, 403, 413, 422, 451, 500})
"""Statuses that may be about the prompt alone."""
_LENGTH_CODES = frozenset(("context_length_exceeded", "exceed_context_size_error", "string_above_max_length"))
_TOO_LONG = re.compile(
    r"context.{0,12}(length|window|size|limit|overflow)|too many (\w+ )?tokens|reduce the length|maximum.{0,20}tokens"
    r"|\b(messages?|request)\b.{0,20}too (long|large)"
    r"|\b(prompt|inputs?|sequence)\b.{0,40}(too (long|large)|longer than)"
    r"|\b(prompt|inputs?|tokens?)\b.{0,40}(exceed|must (be|have) (<|less|fewer))",
    re.IGNORECASE,
)
_NEVER_FITS = re.compile(r"request too large", re.IGNORECASE)
"""Words of a rate limit that the request alone exceeds."""
_FILTER_CODES = frozenset(
    ("content_filter", "responsibleaipolicyviolation", "content_policy_violation", "invalid_prompt")
)
_FILTER = re.compile(
    r"content.?(filter|polic|management|moderation)|moderat(ed|ion|or)|flagged|usage (polic|guideline)|safety"
    r"|blocked by|inappropriate content|sensitive|敏感|content exists risk",
    re.IGNORECASE,
)
_KEY_CODES = frozenset(("invalid_api_key", "api_key_invalid", "authentication_error"))
_UNKNOWN_KEY = re.compile(r"no connected db|api key not (valid|found)", re.IGNORECASE)
"""Answers under 400 to a key: of a LiteLLM proxy without a database, and of Gemini."""
_UNKNOWN_MODEL = re.compile(
    r"invalid model|unknown model|model\W.{0,120}(not found|not exist|not supported)|no such model", re.IGNORECASE
)


class Refusal(NamedTuple):
    """A server's final no: the same request would be refused again."""

    what: str
    fix: str

    @property
    def kind(self) -> str:
        """The kind of a refusal of one prompt; empty for a refusal of every prompt."""
        return OF_PROMPT.get(self.what, "")


def refusal_of(status: int, complaint: Complaint, *, body: bytes, location: str, has_key: bool) -> Refusal | None:
    """Explain a status that is no success; None if another attempt may succeed.

    location: target of a redirect. has_key: whether a key was sent.
    """
    words, codes = complaint.words, complaint.codes
    if status == 402 or (status in (403, 429) and "insufficient_quota" in codes):
        return Refusal("the account has no credit left", "add credit, or give the key of another account")
    if status in _OF_PROMPT or _NEVER_FITS.search(words):
        if status == 413 or codes & _LENGTH_CODES or _TOO_LONG.search(words):
            return Refusal(DOES_NOT_FIT, "show it less at once, or serve the model with a longer context")
        if codes & _FILTER_CODES or _FILTER.search(words):
            return Refusal(PROMPT_FILTERED, FIX_FILTER)
    if status in _AGAIN or (status >= 500 and status not in NO_CHAT):
        return None
    if status in (401, 403) or codes & _KEY_CODES or (status == 400 and _UNKNOWN_KEY.search(words)):
        if not has_key:
            return Refusal(f"{KEY_REFUSED}, as none was given", "set OPENAI_API_KEY, or type the key on the page")
        return Refusal(KEY_REFUSED, "give a key this server knows, by OPENAI_API_KEY or in the key field of the page")
    if status in (400, 404) and _UNKNOWN_MODEL.search(words):
        return Refusal(UNKNOWN_MODEL, "take one of those it lists")
    if status in NO_CHAT or (status == 404 and not complaint.is_of_protocol) or (status == 400 and is_web_page(body)):
        return Refusal(NO_API, FIX_ADDRESS)
    if status == 404:
        return Refusal(f"{UNKNOWN_MODEL} or address", f"check the model's name, or {FIX_ADDRESS}")
    if 300 <= status < 400:
        return Refusal("it redirects", f"give the address it redirects to: {_target(location)}")
    return Refusal(NOT_ACCEPTED, "change the option that it names, or try another model")


def _target(location: str) -> str:
    """Return the redirect's address as a base URL, without user name or query."""
    address = re.sub(r"//[^/@]*@", "//", printable(location[:300])).partition("?")[0]
    return re.sub(r"/(chat/completions|models)/*$", "", address)


# --- structured answers ---------------------------------------------------------------------------------------------
# A pydantic model's schema goes with the request (OpenAI, vLLM, llama.cpp, Ollama, LM Studio, SGLang, TGI). Servers
# ignore fields that they do not know, so every answer is read as if it were free text.

FIELD = "response_format"
"""The request's field that carries a structure."""
SCHEMA = "json_schema"
"""Name under which a run records that its server honours that field."""
Structure = type[BaseModel]
"""The model that an answer's JSON follows."""


def structure_of(**kinds: Any) -> Structure:
    """Return the model of an object with fields of these types, all required, and no others."""
    definitions: dict[str, Any] = {name: (kind, ...) for name, kind in kinds.items()}
    return create_model("answer", __config__=ConfigDict(strict=True, extra="forbid"), **definitions)


@lru_cache(maxsize=16)  # a schema costs as much processor time as the call that carries it
def request_options(structured: Structure | None) -> dict[str, Any]:
    """Return the request option that carries a structure."""
    if structured is None:
        return {}
    schema = {"name": "answer", "strict": True, "schema": structured.model_json_schema()}
    return {FIELD: {"type": SCHEMA, "json_schema": schema}}


def is_kept(structured: Structure, text: str) -> bool:
    """Return whether an answer has the requested structure."""
    try:
        structured.model_validate_json(text)
    except ValidationError:
        return False
    return True


# --- optional fields of a request -----------------------------------------------------------------------------------

_AS_IS = ("temperature", "seed", "response_format", "reasoning_effort", "chat_template_kwargs", *FIELDS)
NAMES = {"max_tokens": ("max_completion_tokens", "max_tokens"), **{name: (name,) for name in _AS_IS}}
"""Field names under which an option is sent; the second one if the first is refused."""
OPTIONAL = frozenset(name for names in NAMES.values() for name in names)
OVERRUN = 16
"""Tokens by which an answer may exceed its limit: servers count end marks differently."""
OTHER_WORDS = {
    "response_format": r"response.?format|json.?schema|structured|grammar",
    "reasoning_effort": r"reasoning|effort",
    "chat_template_kwargs": r"chat.?template|enable_thinking",
}
"""Words by which servers refer to a field without its name."""
BOUNDED = ("temperature", "top_logprobs", *NAMES["max_tokens"])
"""Fields whose value is lowered or raised to a range that a refusal gives."""
_NO_ROOM = re.compile(r"context|input.?(tokens|length)", re.IGNORECASE)
_OUT_OF_BOUNDS = re.compile(r"at most|too (high|long|big|many)|exceed|(greater|less|more) than", re.IGNORECASE)
_N = r"(-?\d{1,9}(?:\.\d{1,9})?)"
_RANGE = re.compile(rf"(?:between|range|in|from|\[|\() ?[\[(]?{_N} ?(?:,|and|to|-|–) ?{_N}|{_N} ?\.{{2,3}} ?{_N}")
_MOST = re.compile(
    r"(?:<=?|≤|at most|(?:less|lower|smaller) than or equal to|no (?:more|greater) than|exceed|up to"
    rf"|max(?:imum)? (?:of|is|allowed)):? ?{_N}",
    re.IGNORECASE,
)
Range = tuple[float, float]
Ranges = dict[str, Range | None]
"""Refused fields by name, with the range that the server allows; None: not at all."""


def range_in(words: str) -> Range | None:
    """Return the lowest and the highest value that a refusal allows: `0..1`, `between 0 and 1`, `at most 5`."""
    if bounds := _RANGE.search(words):
        low, high = (float(each) for each in bounds.groups() if each is not None)
        return (low, high) if low < high else None
    return (-float("inf"), float(most[1])) if (most := _MOST.search(words)) else None


def refused_fields(complaint: Complaint, sent: Mapping[str, Any]) -> Ranges:
    """Return the `sent` optional fields that a 400 or 422 is about.

    A limit of tokens without room in the context is not among them, nor one that is too high by an unknown amount:
    without a limit an answer could have any length.
    """
    if _NO_ROOM.search(f"{complaint.words} {complaint.param}"):
        return {}
    fields, words = [name for name in sent if name in OPTIONAL], complaint.param or complaint.words
    named = [name for name in fields if re.search(rf"\b{name.replace('_', '_?')}\b", words, re.IGNORECASE)]
    named = named or [name for name in fields if re.search(OTHER_WORDS.get(name, "(?!)"), words, re.IGNORECASE)][:1]
    if (bounds := range_in(complaint.words)) and "top_logprobs" in sent:  # `logprobs` is no number
        named = ["top_logprobs" if name == "logprobs" else name for name in named]
    refused: Ranges = {}
    for name in named:
        is_new = bounds is not None and name in BOUNDED and clamped(sent[name], bounds) != sent[name]
        if is_new or name not in NAMES["max_tokens"] or not _OUT_OF_BOUNDS.search(complaint.words):
            refused[name] = bounds if is_new else None
    return refused


def clamped(value: Any, within: Range) -> Any:
    """Return the value of the range that is nearest to a number, of the number's own type."""
    return type(value)(min(max(value, within[0]), within[1]))


class OptionalFields:
    """The optional fields that one server accepts, under which names and within which ranges; from its refusals."""

    def __init__(self) -> None:
        self.refused: Ranges = {}

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names that the server does not take at all."""
        return tuple(name for name, within in self.refused.items() if within is None)

    def spelled(self, options: dict[str, Any], refused: Ranges) -> dict[str, Any]:
        """Return the given options as this server accepts them, also after what it `refused` just now."""
        known, spelled = {**self.refused, **refused}, {}
        for option, value in options.items():
            name = next((name for name in NAMES[option] if known.get(name, ()) is not None), "")
            if name:
                within = known.get(name)
                spelled[name] = clamped(value, within) if within else value
        return spelled

    def learn(self, sent: Mapping[str, Any], refused: Ranges, answer_tokens: int) -> Iterator[str]:
        """Learn from an accepted request; yield in words what is refused from now on.

        sent: the request. refused: what the server refused before it accepted it.
        """
        new = {name: within for name, within in refused.items() if self.refused.get(name, ()) != within}
        limit = NAMES["max_tokens"][0]
        if limit in sent and answer_tokens > sent[limit] + OVERRUN and self.refused.get(limit, ()) is not None:
            new[limit] = None  # Ollama accepts the newer name and ignores it
        self.refused |= new
        for name, within in new.items():
            yield name if within is None else f"{name} beyond {within[1]:g}"
