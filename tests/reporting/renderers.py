"""Markdown renderers for tests: what a text becomes, as the kinds of its parts and the words that are seen."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from vpp.show.markup import JOINER

RENDERERS = {
    "commonmark": MarkdownIt("commonmark"),
    "gfm with linkify": MarkdownIt("gfm-like").enable(["replacements", "smartquotes"], ignoreInvalid=True),
}


def tokens(markdown: str, renderer: MarkdownIt) -> list[Token]:
    return [each for token in renderer.parse(markdown) for each in (token, *(token.children or ()))]


def kinds(markdown: str, renderer: MarkdownIt) -> set[str]:
    return {token.type for token in tokens(markdown, renderer)}


def readable_words(markdown: str, renderer: MarkdownIt) -> str:
    """The text of all parts, white space and joiners left out."""
    return bare("".join(token.content for token in tokens(markdown, renderer) if token.type in ("text", "html_inline")))


def bare(text: str) -> str:
    """Without white space, joiners and byte order marks."""
    return re.sub(f"[\\s{JOINER}\ufeff]+", "", text)
