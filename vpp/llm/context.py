"""Whether a prompt fits a model's context: an estimate of its tokens from above, and how much there is room for.

No tokenizer is asked: one differs from the next. Three letters or blanks of plain text are taken for a token (models'
own tokenizers take four and more), each digit and sign for one, and two bytes of any other script for one. A context
length of 0 is one that nobody knows: everything fits it, and the server has the last word.
"""

import re
from collections.abc import Callable

from vpp.llm.protocol import Messages

MESSAGE_TOKENS = 8
"""What a chat template puts around one message, at most."""
CHAT_TOKENS = 24
"""What it puts around the whole conversation, at most."""

_LETTERS = re.compile(r"[A-Za-z\s]")
_SIGNS = re.compile(r"[!-@\[-`{-~]")


def tokens_at_most(text: str) -> int:
    """An estimate from above of the tokens of a text."""
    letters, signs = len(_LETTERS.findall(text)), len(_SIGNS.findall(text))
    other = len(text.encode("utf-8", "replace")) - letters - signs
    return -(-letters // 3) + signs + -(-other // 2)


def prompt_tokens(messages: Messages) -> int:
    """Of a conversation, with what a chat template adds; from above."""
    return CHAT_TOKENS + sum(MESSAGE_TOKENS + tokens_at_most(message["content"]) for message in messages)


def fits(messages: Messages, *, max_tokens: int, context_length: int) -> bool:
    """Whether the conversation and an answer of `max_tokens` surely go into the context."""
    return not context_length or prompt_tokens(messages) + max_tokens <= context_length


def most_that_fit(count: int, has_room: Callable[[int], bool]) -> int:
    """The largest number up to `count` for which there is room, as there then is for every smaller one; 1 at least."""
    low, high = 1, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if has_room(middle) else (low, middle - 1)
    return low
