"""Failed attempts and refusals of a server, in plain words: what happened and how to fix it.

A refusal is of one prompt (a filter, its length, a request that the server does not take) or of every one (the key,
the credit, the model, the address). Codes decide before words. Faults have a kind from a fixed vocabulary, so that a
count by kind stays short whatever a server does.
"""

import errno
import re
import ssl
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from vpp.llm.gate import place_of
from vpp.llm.protocol import FIX_ADDRESS, FIX_FILTER, NO_API, Complaint, is_web_page, printable

KEY_REFUSED = "key refused"
UNKNOWN_MODEL = "unknown model"
DOES_NOT_FIT = "the prompt does not fit"
FILTERED = "withheld by the server's filter"
NOT_ACCEPTED = "it did not accept the request"
OF_PROMPT = {DOES_NOT_FIT: "prompt too long", FILTERED: "prompt withheld", NOT_ACCEPTED: "prompt refused"}
"""Refusals of one prompt, and the kinds by which they are counted."""
FIX_DOWN = "check that the server is up and its address right"
FIX_SLOW = "give it more time, or ask it for less at once"
FIX_BUSY = "it is overloaded or failing: go on when it has recovered"


class BodyTooLarge(Exception):
    """The reply is longer than any answer; its argument is the limit in bytes."""


class Fault(NamedTuple):
    """Failure of one attempt; another attempt may succeed."""

    kind: str
    """A few words from a fixed vocabulary, to count by."""
    words: str
    """One line."""
    fix: str = FIX_DOWN


# --- connections ----------------------------------------------------------------------------------------------------

_REFUSED = re.compile(rf"Errno {errno.ECONNREFUSED}\b|Connection refused|Connect call failed")
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})


def transport_fault(error: BaseException, *, base_url: str) -> Fault:
    """Explain a connection's error; an unknown one is quoted."""
    chain = list(chain_of(error))
    for one in chain:
        if fault := _known(one, place_of(base_url), urlsplit(base_url).hostname or ""):
            return fault
    root = chain[0]
    words = f"{type(root).__name__}: {root}" if str(root) else type(root).__name__
    return Fault("connection failed", words)


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield the error's causes and then the error; the transport's error says more than the client's."""
    chain = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None and before not in chain:
        chain.append(before)
    yield from reversed(chain)


def _known(error: BaseException, place: str, host: str) -> Fault | None:
    if isinstance(error, BodyTooLarge):
        words = f"the reply is longer than {error.args[0] // 1024:,} KiB"
        return Fault("reply too long", words, "check that the address is a model's (/v1)")
    if isinstance(error, ssl.SSLError):
        fix = "write http:// where the server speaks no TLS, or trust its certificate on this machine (SSL_CERT_FILE)"
        reason = error.reason.replace("_", " ").lower() if error.reason else "no secure connection"
        return Fault("TLS failed", f"TLS with {place} failed: {getattr(error, 'verify_message', '') or reason}", fix)
    name = type(error).__name__
    if isinstance(error, OSError) and _REFUSED.search(str(error)):
        name = "ConnectionRefusedError"
    elif isinstance(error, OSError) and error.errno in _NO_ROUTE:
        name = "no route"
    kind, words, *fix_ = _NAMED.get(name, ("", ""))
    return Fault(kind, words.format(host=host, place=place), *fix_) if kind else None


_SILENT = ("nothing listens", "nothing listens at {place}", "is the server up, and is its port right?")
_NO_NAME = ("name not found", "no machine called {host} is known", "check how the address is spelled")
_COMPRESSION = ("broken compression", "the reply's compression cannot be undone")
_STOPPED = ("reply stopped", "the reply stopped in its middle")
_CUT = ("connection cut", "the connection was cut without an answer")
_NO_CONNECTION = ("no connection in time", "{place} takes no connection")
_NOT_HTTP = ("not HTTP", "{place} does not speak HTTP as it should", "is it an https:// address?")
_NAMED: dict[str, tuple[str, ...]] = {
    "ConnectionRefusedError": (
        "nothing listens",
        "nothing listens at {place}",
        "is the server up, and is its port right?",
    ),
    "no route": ("no route", "there is no way to {host} from this machine", "check the network and the address"),
    **dict.fromkeys(("gaierror", "ClientConnectorDNSError"), _NO_NAME),
    **dict.fromkeys(("DecodingError", "ContentEncodingError"), _COMPRESSION),
    **dict.fromkeys(("ClientPayloadError", "ContentLengthError", "TransferEncodingError"), _STOPPED),
    **dict.fromkeys(("ServerDisconnectedError", "ClientConnectionResetError"), _CUT),
    **dict.fromkeys(("ConnectionResetError", "BrokenPipeError"), _CUT),
    **dict.fromkeys(("ConnectionTimeoutError", "ConnectTimeout"), _NO_CONNECTION),
    **dict.fromkeys(("BadStatusLine", "BadHttpMessage", "InvalidHeader", "LineTooLong"), _NOT_HTTP),
}
"""Errors by the name of their class, so that this module does not import the HTTP libraries."""

# --- refusals -------------------------------------------------------------------------------------------------------

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
        """Return the kind of a refusal of one prompt; empty for a refusal of every prompt."""
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
            return Refusal(FILTERED, FIX_FILTER)
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
        return Refusal("it redirects", f"give the address it redirects to{_target(location)}")
    return Refusal(NOT_ACCEPTED, "change the option that it names, or try another model")


def _target(location: str) -> str:
    """Return `, ` and the redirect's address without user name or query; empty if it is no complete address."""
    try:
        place = urlsplit(printable(location[:300]))
        server = place.netloc.rpartition("@")[2]
        path = re.sub(r"/(chat/completions|models)/*$", "", place.path)
        return f", {place.scheme}://{server}{path}"[:200] if place.scheme and place.hostname else ""
    except ValueError:
        return ""
