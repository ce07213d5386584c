"""The optional fields of a request, as one server takes them: what it refuses is renamed or left out from then on."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from vpp.llm.wire import server_words

SPELLING = {
    "max_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "seed": "seed",
    "response_format": "response_format",
    "structured": "structured_outputs",
    "reasoning_effort": "reasoning_effort",
    "chat_template_kwargs": "chat_template_kwargs",
}
"""Options by the name under which they are first sent."""
FALLBACKS = {"max_completion_tokens": "max_tokens"}
"""The older name of a field, tried once where the newer one is refused."""
OVERRUN = 16
"""Tokens beyond its limit that an answer may have: servers count its end and its marks differently."""
OPTIONAL = frozenset({*SPELLING.values(), *FALLBACKS.values()})
OTHER_WORDS = {
    "structured_outputs": r"structured|grammar|guided|regex|json.?schema",
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

    def spelled(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options that are given and taken, under the names this server knows."""
        named = ((self._spelling[option], value) for option, value in options.items() if value is not None)
        return {name: value for name, value in named if name}

    def learn(self, refusal: bytes, sent: Iterable[str]) -> bool:
        """Gives up the optional fields that a 400 or 422 names; False where it names none of the `sent` ones.

        Of several calls under way only the first has anything to teach: the others only have to be sent again.
        """
        refused = named_fields(refusal, [field for field in sent if field in OPTIONAL])
        for option, name in self._spelling.items():
            if name in refused:
                self._give_up(option, name)
        return bool(refused)

    def overran(self, sent: Mapping[str, Any], tokens: int) -> bool:
        """Gives up the newer name of the limit where an answer went well past it: Ollama takes it and ignores it."""
        option, name = "max_tokens", "max_completion_tokens"
        if self._spelling[option] != name or name not in sent or tokens <= sent[name] + OVERRUN:
            return False
        self._give_up(option, name)
        return True

    def _give_up(self, option: str, name: str) -> None:
        self._spelling[option] = FALLBACKS.get(name)
        self.dropped = (*self.dropped, name)


def named_fields(refusal: bytes, sent: Iterable[str]) -> list[str]:
    """Which of the `sent` fields a 400 or 422 complains of: by its `param`, else by its words."""
    words = _param(refusal) or server_words(refusal)
    if re.search(r"context.{0,10}(length|window)|too large", words, re.IGNORECASE):
        return []
    named = [field for field in sent if re.search(rf"\b{re.escape(field)}\b", words)]
    return named or [field for field in sent if field in OTHER_WORDS and re.search(OTHER_WORDS[field], words, re.I)][:1]


def _param(refusal: bytes) -> str | None:
    try:
        param = json.loads(refusal)["error"]["param"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    return param if isinstance(param, str) and param not in ("None", "null") else None
