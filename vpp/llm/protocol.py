"""JSON of the chat protocol as servers speak it: answers, lists, failures of any shape, optional fields of requests."""

import json
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import pydantic
from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json
from pydantic_core.core_schema import ValidationInfo

from vpp.answers import WORDS_LIMIT, cut_thinking, printable

NO_API = "no OpenAI-compatible API at this address"
FIX_ADDRESS = "give the address of a model server, which often ends in /v1"
FIX_DOWN = "check that the server is up and its address right"
FIX_FILTER = "try another model, or rows without what it filters"
FIX_MODEL = "try another model"
FIX_THOUGHTS = (
    "allow more tokens (--limit learner=N, --limit optimizer=N) or switch the model's thinking off "
    "(--reasoning-effort none); on the page, under Server settings"
)
FIX_LONG = "serve the model with a longer context, or give its context by --limit context=N, so that it is shown less"
FIX_BLOCKED = "check address and key; if others are answered, a firewall forbids a word of this prompt"
FIX_KEY = "give a key this server knows, by OPENAI_API_KEY or in the key field of the page"
FIX_BUSY = "it is overloaded or failing: go on when it has recovered"
LATE, STOPPED = "no answer in time", "stopped early"
OVERLOADED = ("HTTP 429", "HTTP 503")
TEXT_LIMIT, REASONING_LIMIT = 200_000, 20_000
"""Characters kept of an answer, and of a model's reasoning."""
REASON_LIMIT, ID_LIMIT = 200, 200
"""Characters shown of a server's message, and kept of a model's name."""
RETRY_AFTER_LIMIT_S = 120.0
COUNT_LIMIT = 10**9
"""Largest plausible count of tokens."""
Tokens = Annotated[int, Field(ge=0, le=COUNT_LIMIT)]
"""A count of tokens; 0 if the server does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    text: str
    """Empty if the model gave none, or was cut off in its thoughts."""
    cut_off: bool = False
    """Whether it ends at its limit of tokens."""
    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0
    refusal: str = ""
    """Words of a server that refused this prompt, so that there is no answer."""
    reasoning: str | None = None
    """The model's reasoning, at most 20,000 characters; None if there is none."""
    first_tokens: tuple[tuple[str, float], ...] = ()
    """Alternatives of the first token with their natural log-probabilities; empty if not asked for."""


@dataclass(eq=False, slots=True)
class Failure(Exception):
    """A request without a usable answer."""

    kind: str
    """A few words from a fixed vocabulary, to count by."""
    words: str
    fix: str = FIX_DOWN
    refuses: Literal["", "prompt", "server"] = ""
    """What the server would refuse again: this prompt, or every one; empty if another attempt may succeed."""
    wait_s: float = 0.0
    """Seconds to wait, as the server asks (Retry-After)."""
    completion: Completion | None = None
    fields: dict[str, float | None] = field(default_factory=dict)
    """Optional fields that the server refuses, with a value that it may accept; None: it may accept others alone."""


# --- answers --------------------------------------------------------------------------------------------------------

REGULAR = frozenset({"", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"})
"""Finish reasons of a whole answer, in lower case: servers keep those of their models."""
CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
FILTERED = frozenset(
    ("content_filter", "safety", "recitation", "refusal", "blocklist", "prohibited_content", "spii", "sensitive")
)
TOOLS = frozenset({"tool_calls", "function_call", "tool_use"})


class _Object(BaseModel):
    """Part of a reply. A field with another type than the protocol's counts as absent."""

    model_config = ConfigDict(strict=True)

    @pydantic.field_validator("*", mode="wrap")
    @classmethod
    def _or_absent(cls, value: Any, read: pydantic.ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return read(value)
        except ValidationError:
            return cls.model_fields[info.field_name or ""].get_default(call_default_factory=True)


class _Part(_Object):
    type: str = "text"
    text: str = ""
    thinking: "str | list[_Part]" = ""


class _Token(_Object):
    token: str = ""
    bytes: list[Annotated[int, Field(ge=0, le=255)]] = []
    logprob: Annotated[float, Field(le=1e-3)] = -inf  # servers round to just above 0
    top_logprobs: "list[_Token]" = []

    @property
    def text(self) -> str:
        """What the token stands for: its bytes, as `token` may be a number or a vocabulary's own spelling."""
        return bytearray(self.bytes).decode("utf-8", "replace") or self.token


def _at(*path: str | int) -> Any:
    return AliasPath("choices", 0, *path)


class _Reply(_Object):
    """A chat's reply. Absent lists and objects are None: pydantic copies any other default for each reply."""

    choices: list[dict[str, Any]] = []
    content: Annotated[str | list[_Part], Field(validation_alias=_at("message", "content"))] = ""
    reasoning: Annotated[str, Field(validation_alias=_at("message", "reasoning"))] = ""
    reasoning_content: Annotated[str, Field(validation_alias=_at("message", "reasoning_content"))] = ""
    refusal: Annotated[str, Field(validation_alias=_at("message", "refusal"))] = ""
    tool_calls: Annotated[list[Any] | None, Field(validation_alias=_at("message", "tool_calls"))] = None
    finish_reason: Annotated[str, Field(validation_alias=_at("finish_reason"))] = ""
    first_token: Annotated[_Token | None, Field(validation_alias=_at("logprobs", "content", 0))] = None
    prompt_tokens: Annotated[Tokens, Field(validation_alias=AliasPath("usage", "prompt_tokens"))] = 0
    completion_tokens: Annotated[Tokens, Field(validation_alias=AliasPath("usage", "completion_tokens"))] = 0


def read_completion(reply: Any) -> Completion:
    """Return the answer in a reply's JSON, its reasoning apart. Raises Failure."""
    read = _Reply.model_validate(reply if isinstance(reply, dict) else {})
    if not read.choices:
        raise _other(reply)
    finish, content = read.finish_reason.casefold(), _joined(read.content)[:TEXT_LIMIT]
    text = cut_thinking(content)
    thoughts = read.reasoning or read.reasoning_content or _joined(read.content, "thinking")
    first = read.first_token
    alternatives = (first.top_logprobs or [first]) if first else []
    completion = Completion(
        text=text.lstrip("\n") if text != content else content,
        cut_off=finish in CUT,
        prompt_tokens=read.prompt_tokens,
        completion_tokens=read.completion_tokens,
        reasoning=(thoughts or content.removesuffix(text))[:REASONING_LIMIT] or None,
        first_tokens=tuple((each.text, each.logprob) for each in alternatives if each.text and each.logprob > -inf),
    )
    ending = f"finish reason {read.finish_reason[:ID_LIMIT]}"
    if finish in FILTERED or read.refusal:
        said = printable(read.refusal) or ending
        words = f"{PROMPT_FILTERED} (content filter: {said})"
        raise Failure(OF_PROMPT[PROMPT_FILTERED], words, FIX_FILTER, "prompt", completion=completion)
    if finish in TOOLS or read.tool_calls:
        words = "the model called a tool instead of answering"
        raise Failure("tool called", words, FIX_MODEL, "prompt", completion=completion)
    if finish not in REGULAR | CUT:
        words = f"the answer stopped early ({ending})"
        raise Failure(STOPPED, words, FIX_MODEL, completion=completion)
    return completion


def _joined(content: str | list[_Part], name: str = "text") -> str:
    """Return the texts of a content's parts, or those of their thoughts."""
    if isinstance(content, str):
        return content if name == "text" else ""
    return "".join(_joined(getattr(part, name)) for part in content if part.type in ("text", "output_text", "thinking"))


class Listed(_Object):
    """A model in a server's list, or the properties of llama.cpp."""

    id: str = ""
    max_model_len: Tokens = 0
    n_ctx: Annotated[Tokens, Field(validation_alias=AliasPath("meta", "n_ctx"))] = 0
    total_slots: Tokens = 0


def read_models(reply: Any) -> dict[str, int]:
    """Return the models that a server lists, also as a bare array, by name, with their context in tokens, 0 if unknown.

    Raises Failure.
    """
    entries = reply["data"] or [] if isinstance(reply, dict) and "data" in reply else reply
    if not isinstance(entries, list):
        raise _other(reply)
    read = [Listed.model_validate(each) for each in entries if isinstance(each, dict)]
    return {printable(each.id)[:ID_LIMIT]: each.max_model_len or each.n_ctx for each in read if each.id.strip()}


def _other(reply: Any) -> Failure:
    found = short_reason(json.dumps(reply, ensure_ascii=False))
    if isinstance(reply, dict) and "choices" in reply:
        return Failure("no choices", f"answered without a choice: {found}", FIX_BUSY)
    return Failure("not the protocol", f"{NO_API}: found other JSON, {found}", FIX_ADDRESS)


# --- any body -------------------------------------------------------------------------------------------------------

_OPENAI_KEY = re.compile(r"\S*\*{3}\S*|\bsk-\S+")
"""A key, or one that a server has masked."""


def without(body: bytes, secrets: Iterable[str]) -> bytes:
    """Return a reply without the secrets that were sent with the request: a server may repeat them, and we store it."""
    for secret in secrets:
        if len(secret) >= 8:  # a shorter one may be an ordinary word
            plain = json.dumps(secret)[1:-1]
            for written in (plain, plain.replace("/", "\\/"), secret):
                body = body.replace(written.encode(), b"[key]")
    return body


def read_reply(status: int, headers: Mapping[str, str], body: bytes, sent: Mapping[str, Any]) -> Any:
    """Return the JSON of an answer. Raises Failure. sent: the body of a chat; empty for another request."""
    text, is_fine = body.decode("utf-8", "replace").lstrip(), 200 <= status < 300
    try:
        reply = from_json(body)
        error = _error_in(reply) if is_fine else reply
        if is_fine and not error:
            return reply
        complaint = complaint_of(error)
    except ValueError:
        complaint = Complaint(WEB_PAGE if text.startswith("<") else short_reason(text))
        if is_fine and complaint.words == WEB_PAGE:
            raise Failure("web page", f"{NO_API}: found a web page", FIX_ADDRESS) from None
        if is_fine and text.startswith("data:"):
            words, fix = "it streams answers, though asked not to", "switch its streaming off"
            raise Failure("streamed", words, fix, "server") from None
        if is_fine:
            words = f"answered something that is not complete JSON: {complaint.words or 'nothing'}"
            raise Failure("broken JSON", words, FIX_ADDRESS) from None
    if is_fine:  # an error in the place of an answer, whose codes say more than the status
        status = max((int(code) for code in re.findall(r"\b[45]\d\d\b", complaint.codes)), default=200)
    failure = failure_of(status, complaint, headers)
    # OpenAI's thinking models forbid log-probabilities
    names_field = status in (400, 422) or (status == 403 and "logprobs" in complaint.words)
    failure.fields = refused_fields(complaint, sent) if names_field else {}
    raise failure


def _error_in(reply: Any) -> Any:
    """Return the error that stands in the place of an answer, or in its choice; None for another reply."""
    if not isinstance(reply, dict):
        return None
    if choices := reply.get("choices"):
        return choices[0].get("error") if isinstance(choices, list) and isinstance(choices[0], dict) else None
    is_error = reply.get("error") or reply.get("detail") or str(reply.get("object")).casefold() == "error"
    return reply if is_error else None


def short_reason(words: str) -> str:
    """Shorten a server's message to one line of 200 characters, without keys."""
    line = _OPENAI_KEY.sub("[key]", printable(words)).rstrip(".")
    return line if len(line) <= REASON_LIMIT else line[:REASON_LIMIT].rstrip() + "…"


# --- failures -------------------------------------------------------------------------------------------------------


class Complaint(NamedTuple):
    """A server's error, whatever its shape."""

    words: str
    codes: str = ""
    """Its codes, types and statuses in lower case."""
    param: str = ""
    is_of_protocol: bool = False
    """Whether it has the form that servers of the protocol use; a gateway's or a firewall's may have another."""


LEVELS = 8
"""Nested objects, and items of a list, that are searched for a server's message."""


def complaint_of(error: Any) -> Complaint:
    """Return the error in a JSON value: an object, a text, or a list of them, however nested.

    Examples: `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}`, FastAPI's `{"detail": [{"loc", "msg"}]}`.
    """
    parts = list(_parts("", error, LEVELS))
    words = (text for name, text in parts if name in ("", "error", "message", "detail", "loc", "msg", "raw"))
    codes = (text for name, text in parts if name in ("code", "type", "status", "reason", "error_type"))
    return Complaint(
        words=printable("; ".join(dict.fromkeys(filter(None, map(printable, words))))),
        codes=" ".join(codes).casefold(),
        param=next((text for name, text in parts if name == "param"), ""),
        is_of_protocol=any(name == "error" or (name, text.casefold()) == ("object", "error") for name, text in parts),
    )


def _parts(name: str, value: Any, levels: int) -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers in a JSON value, each after its field's name; a text may hold JSON itself."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[{")):
        with suppress(ValueError):
            value = from_json(value)
    if isinstance(value, str | int | float):
        yield name, str(value)[:WORDS_LIMIT]
    elif isinstance(value, dict) and levels:
        if "error" in value:
            yield "error", ""
        for key, inner in value.items():
            yield from _parts(key, inner, levels - 1)
    elif isinstance(value, list) and levels:
        for inner in value[:LEVELS]:
            yield from _parts(name, inner, levels - 1)


WEB_PAGE = "with a web page"
KEY_REFUSED = "key refused"
UNKNOWN_MODEL = "unknown model"
DOES_NOT_FIT = "the prompt does not fit"
PROMPT_FILTERED = "withheld by the server's filter"
PROMPT_BLOCKED = "blocked on its way to the model"
NOT_ACCEPTED = "it did not accept the request"
OF_PROMPT = {
    DOES_NOT_FIT: "prompt too long",
    PROMPT_FILTERED: "prompt withheld",
    PROMPT_BLOCKED: "prompt blocked",
    NOT_ACCEPTED: "prompt refused",
}
"""Refusals of one prompt, and the kinds by which they are counted."""
_OF_PROMPT = r"(200|400|403|413|422|424|451|500)\b.*"
"""Statuses that may be about the prompt alone; 200: an error that stands in an answer's place."""
_TOO_LONG = (
    r"(context.{0,12}(length|window|size|limit|overflow)|too many (\w+ )?tokens|reduce the length|maximum.{0,20}tokens"
    r"|\b(messages?|request)\b.{0,20}too (long|large)|string.above.max.length"
    r"|\b(prompt|inputs?|sequence)\b.{0,40}(too (long|large)|longer than)"
    r"|\b(prompt|inputs?|tokens?)\b.{0,40}(exceed|must (be|have) (<|less|fewer)))"
)
_FILTER = (
    r"(content.?(filter|polic|management|moderation)|moderat(ed|ion|or)|flagged|usage (polic|guideline)|safety"
    r"|policy.?violation|invalid_prompt|blocked by|inappropriate content|sensitive|敏感|content exists risk)"
)
_KEY = r"(no connected db|api.key.not.(valid|found)|invalid.api.key|api.key.invalid|authentication_error)"
_ACCESS = r"\b(key|token|credential|authori[sz]|authenticat|permission|account|region|countr)"
"""Reasons for which a server forbids every prompt; without one a firewall may forbid a word of this prompt."""
_NO_PATH = r"((unexpected|unknown|invalid|no such) (endpoint|path|route|url)|route.{0,80}not found|cannot post)"
_NO_MODEL = r"(invalid model|unknown model|model\W.{0,120}(not found|not exist|not supported)|no such model)"
_UNLOADED = r"(model (is |was )?unloaded|failed to load model|model has crashed)"
"""LM Studio's words while another model takes the place of this one; the next request loads it again."""
TRY_AGAIN = "another attempt may succeed"
_ANSWERS = tuple(
    (re.compile(pattern, re.IGNORECASE), what, fix)
    for pattern, what, fix in (
        (r"402|(403|429).*insufficient_quota", "the account has no credit left", "add credit, or give another key"),
        # the second: a rate limit that the request alone exceeds
        (rf"413|.*request too large|{_OF_PROMPT}{_TOO_LONG}", DOES_NOT_FIT, FIX_LONG),
        (_OF_PROMPT + _FILTER, PROMPT_FILTERED, FIX_FILTER),
        (rf"40[0356] with a web page|40[36] \(other\)(?!.*{_ACCESS})", PROMPT_BLOCKED, FIX_BLOCKED),
        (rf".*{_NO_PATH}|405|501", NO_API, FIX_ADDRESS),
        (rf"200|408|409|42[345]|429|499|5\d\d|40[04].*{_UNLOADED}", TRY_AGAIN, FIX_BUSY),
        (rf"401|403|.*{_KEY}", KEY_REFUSED, FIX_KEY),
        (rf"40[04].*{_NO_MODEL}", UNKNOWN_MODEL, "take one of those it lists"),
        (r"404 (with a web page|\(other\))", NO_API, FIX_ADDRESS),
        (r"404", f"{UNKNOWN_MODEL} or address", f"check the model's name, or {FIX_ADDRESS}"),
        (r"3\d\d", "it redirects", "give the address it redirects to: {}"),
        (r"400.*enable_thinking", NOT_ACCEPTED, """switch its thinking off: --body '{{"enable_thinking": false}}'"""),
        (r"", NOT_ACCEPTED, "change the option that it names, or try another model"),
    )
)
"""What the server means, and the fix, by the begin of its status and words; the first that fits is taken."""


def failure_of(status: int, complaint: Complaint, headers: Mapping[str, str]) -> Failure:
    """Return what a status and its words refuse: this prompt, every one, or only this attempt."""
    is_other = not complaint.is_of_protocol and complaint.words != WEB_PAGE
    said = f"{status} {'(other) ' if is_other else ''}{complaint.words} {complaint.codes}"
    what, fix = next((what, fix) for pattern, what, fix in _ANSWERS if pattern.match(said))
    words = short_reason(complaint.words)
    reason = f"HTTP {status} {words}".rstrip() if status != 200 else f"answered 200 with an error: {words}"
    kind = f"HTTP {status}" if status != 200 else "error under 200"
    if what == TRY_AGAIN:
        seconds = re.fullmatch(r"\d+(\.\d+)?", headers.get("retry-after", "").strip())  # it may also be a date
        wait_s = min(float(seconds[0]), RETRY_AFTER_LIMIT_S) if seconds else 0.0
        return Failure(kind, reason, fix, wait_s=wait_s)
    fix = fix.format(short_reason(_without_password(headers.get("location", "").partition("?")[0])))
    words = f"{what}: found {reason}" if what == NO_API else f"{what} ({reason})"
    return Failure(OF_PROMPT.get(what, kind), words, fix, "prompt" if what in OF_PROMPT else "server")


def connection_failure(error: BaseException, *, base_url: str, proxy: str | None = None) -> Failure:
    """Explain a connection's error by its deepest cause; an unknown one is quoted."""
    place, fix = "{0.scheme}://{0.netloc:.200}".format(urlsplit(base_url)), FIX_DOWN
    if proxy:
        place += f" through the proxy {_without_password(proxy)[:200]}"
        fix = "name an HTTP proxy in the environment (HTTPS_PROXY), or leave this server out of it (NO_PROXY)"
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    said = short_reason(f"{type(error).__name__}: {error}".removesuffix(": "))
    if isinstance(error, ssl.SSLError):
        fix = "write http:// where the server speaks no TLS, or trust its certificate on this machine (SSL_CERT_FILE)"
        return Failure("TLS failed", f"TLS with {place} failed ({said})", fix)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in said:
        fix = fix if proxy else "is the server up, and is its port right?"
        return Failure("nothing listens", f"nothing listens at {place}", fix)
    if type(error).__name__ == "gaierror":
        return Failure("name not found", f"no machine is known at {place}", "check how the address is spelled")
    return Failure("connection failed", f"the connection with {place} failed ({said})", fix)


def _without_password(address: str) -> str:
    return re.sub(r"//[^/]*@", "//", address)


# --- structured answers ---------------------------------------------------------------------------------------------
# A pydantic model's schema goes with the request (OpenAI, vLLM, llama.cpp, Ollama, LM Studio, SGLang, TGI). Servers
# ignore fields that they do not know, so every answer is read as if it were free text.

FIELD, SCHEMA = "response_format", "json_schema"
"""The request's field that carries a structure, and its type, under which a run records that a server honours it."""
Structure = type[BaseModel]


def structure_of(**kinds: Any) -> Structure:
    """Return the model of an object with fields of these types, all required, and no others."""
    definitions: dict[str, Any] = {name: (kind, ...) for name, kind in kinds.items()}
    return pydantic.create_model("answer", __config__=ConfigDict(strict=True, extra="forbid"), **definitions)


@lru_cache(maxsize=16)  # a schema costs as much processor time as the call that carries it
def request_options(structured: Structure | None) -> dict[str, Any]:
    if structured is None:
        return {}
    schema = {"name": "answer", "strict": True, "schema": structured.model_json_schema()}
    return {FIELD: {"type": SCHEMA, "json_schema": schema}}


def is_kept(structured: Structure, text: str) -> bool:
    try:
        structured.model_validate_json(text)
    except ValidationError:
        return False
    return True


# --- optional fields of a request -----------------------------------------------------------------------------------

MOST_TOKENS = ("max_completion_tokens", "max_tokens")
"""Names of the limit of an answer: the second one is sent if the first is refused."""
OPTIONAL: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("temperature", "seed", "logprobs", "top_logprobs", *MOST_TOKENS)),
    "response_format": re.compile(r"json.?schema|structured|grammar", re.IGNORECASE),
    "reasoning_effort": re.compile(r"reasoning|effort", re.IGNORECASE),
    "chat_template_kwargs": re.compile(r"chat.?template|enable_thinking", re.IGNORECASE),
}
"""Fields that a request can do without, and other words by which servers refer to them."""
MOVED = {"temperature": 2.0, "top_logprobs": 20.0}
"""Fields whose value moves to the nearest number in a refusal, with the largest plausible one."""
STEP = 0.01
"""Distance from a bound that the server does not take itself: `greater than 0`."""
_OF_SIZE = re.compile(
    r"context|input.?(tokens|length)|at most|too (high|long|large|big|many)|exceed|(greater|less|more) than",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<!\w)(?<!\d\.)\d{1,9}(?:\.\d{1,9})?(?!\.?\w)")


Refused = dict[str, tuple[float, float] | None]
"""Fields of a request of which a server refuses values, with the bounds of the others; None if it takes none."""
ANY = (-inf, inf)


def nearest_value(value: float, words: str, most: float) -> float | None:
    """Return the number in a refusal that is nearest to the refused value, or else a value just inside its bound.

    None if there is none: `0..1`, `must be less than 5`, `20 is greater than the maximum of 5`, `strictly positive`.
    """
    numbers = set(map(float, _NUMBER.findall(words)))
    if value == 0:
        return STEP if numbers or "positive" in words else None
    if others := [each for each in numbers - {0.0, value} if each <= most]:
        return min(others, key=lambda each: abs(each - value))
    is_bound = value in numbers and value == int(value)  # any other number is only repeated
    return value - STEP if is_bound else None


def refused_fields(complaint: Complaint, sent: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the `sent` optional fields that a 400 or 422 is about, with the values that they move to.

    A limit of tokens is among them only as a name that the server does not know: without one an answer has any length.
    """
    fields, words = [name for name in sent if name in OPTIONAL], complaint.param or complaint.words
    named = [name for name in fields if re.search(rf"\b{name.replace('_', '_?')}\b", words, re.IGNORECASE)]
    named = named or [name for name in fields if (other := OPTIONAL[name]) and other.search(words)][:1]
    if "logprobs" in named and "top_logprobs" in sent and _NUMBER.search(complaint.words):
        named = ["top_logprobs"]  # `logprobs` itself is no number
    if _OF_SIZE.search(f"{complaint.words} {complaint.param}"):
        named = [name for name in named if name not in MOST_TOKENS]
    return {name: nearest_value(sent[name], complaint.words, MOVED[name]) if name in MOVED else None for name in named}


def note_refused(refused: Refused, name: str, sent: float, moved: float | None) -> None:
    """Narrow a field's bounds so that the value moves; leave the field out if that is in vain."""
    bounds = refused.get(name, ANY)
    if bounds is None or moved is None:
        refused[name] = None
    elif bounds[0] <= sent <= bounds[1]:  # else another request has moved it already
        value = type(sent)(moved)
        low, high = (bounds[0], value) if value < sent else (value, bounds[1])
        refused[name] = (low, high) if value != sent and low <= high else None


def accepted_fields(options: Mapping[str, Any], refused: Refused) -> dict[str, Any]:
    """Return the options that the server takes: a refused field is left out, or its value moved into its bounds."""
    fields = {}
    for option, value in options.items():
        names = MOST_TOKENS if option == "max_tokens" else (option,)
        if name := next((name for name in names if refused.get(name, ANY)), ""):
            bounds = refused.get(name)
            fields[name] = max(bounds[0], min(value, bounds[1])) if bounds else value
    return fields
