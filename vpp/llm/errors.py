"""Failed attempts and refusals of a server, in plain words: what happened and how to fix it.

A refusal is of one prompt (a filter, its length, a request that the server does not take) or of every one (the key,
the credit, the model, the address). Codes decide before words.
"""

import re
import ssl
from typing import NamedTuple
from urllib.parse import urlsplit

from vpp.llm.gate import place_of
from vpp.llm.protocol import FIX_ADDRESS, FIX_DOWN, FIX_FILTER, NO_API, Complaint, Fault, is_web_page, printable

KEY_REFUSED = "key refused"
UNKNOWN_MODEL = "unknown model"
DOES_NOT_FIT = "the prompt does not fit"
FILTERED = "withheld by the server's filter"
NOT_ACCEPTED = "it did not accept the request"
OF_PROMPT = {DOES_NOT_FIT: "prompt too long", FILTERED: "prompt withheld", NOT_ACCEPTED: "prompt refused"}
"""Refusals of one prompt, and the kinds by which they are counted."""
FIX_SLOW = "give it more time, or ask it for less at once"
FIX_BUSY = "it is overloaded or failing: go on when it has recovered"
LATE = "no answer in time"


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
        return Refusal("it redirects", f"give the address it redirects to: {_target(location)}")
    return Refusal(NOT_ACCEPTED, "change the option that it names, or try another model")


def _target(location: str) -> str:
    """Return the redirect's address as a base URL, without user name or query."""
    address = re.sub(r"//[^/@]*@", "//", printable(location[:300])).partition("?")[0]
    return re.sub(r"/(chat/completions|models)/*$", "", address)
