"""What a server's final no means, and the mend: no further attempt is made."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from vpp.llm.wire import printable

KEY_REFUSED = "key refused"
DOES_NOT_FIT = "the prompt does not fit"
_UNKNOWN_MODEL = re.compile(
    r"invalid model|unknown model|model\W.{0,120}(not found|not exist|not supported)|no such model", re.I
)
_UNKNOWN_KEY = re.compile(r"no connected db", re.I)
"""A LiteLLM proxy without a database, asked with a key that is not its own."""
_TOO_LONG = re.compile(r"context.{0,10}(length|window)|maximum.{0,20}tokens|too long|too large", re.I)


class Refusal(NamedTuple):
    """Why a request will not be answered, however often it is sent."""

    what: str
    mend: str


def refusal_of(status: int, words: str, *, location: str, has_key: bool) -> Refusal:
    """What a status that is no success means.

    words: what the server says, one short line. location: where a redirect leads. has_key: whether one was sent.
    """
    if status in (401, 403) or (status == 400 and _UNKNOWN_KEY.search(words)):
        if not has_key:
            return Refusal(f"{KEY_REFUSED}, as none was given", "set OPENAI_API_KEY, or type the key on the page")
        return Refusal(KEY_REFUSED, "give a key this server knows, by OPENAI_API_KEY or in the key field of the page")
    if status == 402:
        return Refusal("the account has no credit left", "add credit, or give the key of another account")
    if status in (400, 404) and _UNKNOWN_MODEL.search(words):
        return Refusal("unknown model", "take one of those it lists")
    if status == 404:
        return Refusal("unknown model or address", "check the model's name, and how the address ends (often /v1)")
    if 300 <= status < 400:
        return Refusal("it redirects", f"give the address it redirects to{_place(location)}")
    if status in (400, 413, 422) and _TOO_LONG.search(words):
        return Refusal(DOES_NOT_FIT, "show it less at once, or serve the model with a longer context")
    return Refusal("it did not accept the request", "change what it names, or try another model")


def _place(location: str) -> str:
    """The address of an endpoint that a redirect leads to, without what it may hide; '' where it names no place."""
    try:
        place = urlsplit(printable(location[:300]))
        server = place.netloc.rpartition("@")[2]
        path = re.sub(r"/(chat/completions|models)/*$", "", place.path)
        return f", {place.scheme}://{server}{path}"[:200] if place.scheme and place.hostname else ""
    except ValueError:
        return ""
