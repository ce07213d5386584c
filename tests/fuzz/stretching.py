"""Texts near the sizes that the product lets in, out of few bytes: pieces repeated."""

from tests.fuzz.choices import Choices

PLAIN, STRETCHED = b"\x00", b"\x03"
"""What an input begins with that is taken as it is, and one that is made of repeated pieces."""


def content(choices: Choices, *, most: int) -> bytes:
    """The bytes that are left, or pieces of them repeated up to `most` bytes."""
    if choices.byte() % 4 != STRETCHED[0]:
        return choices.rest()[:most]
    parts: list[bytes] = []
    while not choices.is_over and sum(map(len, parts)) < most:
        count = 2 ** choices.below(20)
        piece = choices.bytes(1 + choices.below(24))
        parts.append(piece * min(count, most // max(len(piece), 1)))
    return b"".join(parts)[:most]


def text(choices: Choices, *, most: int) -> str:
    """The same as text of at most `most` characters."""
    return content(choices, most=most).decode("utf-8", "replace")
