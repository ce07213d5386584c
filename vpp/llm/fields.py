"""The optional fields of a request, as one server takes them: what it refuses is renamed or left out from then on."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from vpp.llm.wire import server_words

SPELLING = {
    "max_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "seed": "seed",
    "response_format": "response_format",
    "structured": "structured_outputs",
    "grammar": "grammar",
    "reasoning_effort": "reasoning_effort",
    "chat_template_kwargs": "chat_template_kwargs",
}
"""Options by the name under which they are first sent."""
FALLBACKS = {"max_completion_tokens": "max_tokens"}
"""The older name of a field, tried once where the newer one is refused."""
OVERRUN = 16
"""Tokens beyond its limit that an answer may have: servers count its end and its marks differently."""
OPTIONAL = frozenset({*SPELLING.values(), *FALLBACKS.values()})
LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
_NO_ROOM = re.compile(r"context.{0,10}(length|window)|too large", re.IGNORECASE)
_OUT_OF_BOUNDS = re.compile(r"at most|too (high|long|big|many)|exceed|(greater|less|more) than", re.IGNORECASE)
OTHER_WORDS = {
    "structured_outputs": r"structured|grammar|guided|regex|json.?schema",
    "grammar": r"grammar|gbnf",
    "response_format": r"response.?format|json.?schema|structured|grammar",
    "reasoning_effort": r"reasoning|effort",
    "chat_template_kwargs": r"chat.?template|enable_thinking",
}
"""How servers speak of fields whose name they do not repeat."""


class OptionalFields:
    """Learns from a server's refusals."""

    def __init__(self) -> None:
        self.dropped: tuple[str, ...] = ()
        """Names the server refused, in the order in which it did."""
        self._spelling: dict[str, str | None] = dict(SPELLING)

    def spelled(self, options: dict[str, Any], refused: Collection[str] = ()) -> dict[str, Any]:
        """The options that are given and taken, under the names this server knows; without those `refused` just now."""
        named = ((_unless(self._spelling[option], refused), value) for option, value in options.items())
        return {name: value for name, value in named if name and value is not None}

    def give_up(self, refused: Iterable[str]) -> None:
        """Sends these no more: a request without them was accepted. Of several such calls the first one teaches."""
        for refused_name in refused:
            for option, name in self._spelling.items():
                if name == refused_name:
                    self._give_up(option, name)

    def overran(self, sent: Mapping[str, Any], tokens: int) -> None:
        """Gives up the newer name of the limit where an answer went well past it: Ollama takes it and ignores it."""
        option, name = "max_tokens", "max_completion_tokens"
        if self._spelling[option] != name or name not in sent or tokens <= sent[name] + OVERRUN:
            return
        self._give_up(option, name)

    def _give_up(self, option: str, name: str) -> None:
        self._spelling[option] = FALLBACKS.get(name)
        self.dropped = (*self.dropped, name)


def _unless(name: str | None, refused: Collection[str]) -> str | None:
    """The name, or the older one to try instead; None where no name is left."""
    while name is not None and name in refused:
        name = FALLBACKS.get(name)
    return name


def named_fields(refusal: bytes, sent: Iterable[str]) -> list[str]:
    """Which of the `sent` optional fields a 400 or 422 does not know: by its `param`, else by its words.

    A limit of tokens that is known and set too high is none of them: without it an answer would have no bound.
    """
    said, param = server_words(refusal), _param(refusal)
    if _NO_ROOM.search(said) or _NO_ROOM.search(param or ""):
        return []
    kept = LIMITS if _OUT_OF_BOUNDS.search(said) else frozenset[str]()
    fields, words = [field for field in sent if field in OPTIONAL - kept], param or said
    named = [field for field in fields if re.search(rf"\b{re.escape(field)}\b", words)]
    return named or [name for name in fields if name in OTHER_WORDS and re.search(OTHER_WORDS[name], words, re.I)][:1]


def _param(refusal: bytes) -> str | None:
    try:
        param = json.loads(refusal)["error"]["param"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    return param if isinstance(param, str) and param not in ("None", "null") else None
