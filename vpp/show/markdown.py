"""Blocks as Markdown of a report, escaped. A figure is its words and its table."""

from collections.abc import Iterable
from functools import singledispatch

from vpp.show.blocks import Alert, Figure, Heading, Metrics, Note, Quote, Say, Table
from vpp.show.markup import markdown_quote, markdown_table, markdown_text


def markdown(blocks: Iterable[object], *, level: int = 2) -> str:
    """Return the blocks with blank lines between them. level: of their headings."""
    return "\n\n".join(filter(None, (block_markdown(block, level) for block in blocks)))


@singledispatch
def block_markdown(block: object, level: int) -> str:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@block_markdown.register
def _(block: Say, level: int) -> str:
    return f"**{markdown_text(block.words)}**" if block.words else ""


@block_markdown.register
def _(block: Heading, level: int) -> str:
    caption = f"\n\n{markdown_text(block.caption)}" if block.caption else ""
    return f"{'#' * level} {markdown_text(block.title)}{caption}"


@block_markdown.register
def _(block: Note, level: int) -> str:
    return markdown_text(block.words)


@block_markdown.register
def _(block: Alert, level: int) -> str:
    return markdown_text(" ".join((f"{block.head}.", *block.words)))


@block_markdown.register
def _(block: Metrics, level: int) -> str:
    rows = [(each.name, f"{each.value} {each.scale}".strip(), each.words) for each in block.items]
    return block_markdown(Table(head=("measure", "value", "in words"), rows=rows, right=(1,)), level) if rows else ""


@block_markdown.register
def _(block: Table, level: int) -> str:
    cells = [[markdown_text(cell) for cell in row] for row in block.rows]
    return markdown_table([markdown_text(head) for head in block.head], cells, right=block.right)


@block_markdown.register
def _(block: Quote, level: int) -> str:
    facts = f"\n\n{markdown_text(' · '.join(block.facts))}" if block.facts else ""
    return f"{markdown_quote(block.words)}{facts}"


@block_markdown.register
def _(block: Figure, level: int) -> str:
    return markdown((Heading(block.title, block.caption), Note(f"{block.alt}."), block.table), level=level + 1)
