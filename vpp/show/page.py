"""Blocks as HTML of a page, escaped. A figure is its words and its table; pages/parts/blocks.py draws its chart."""

from collections.abc import Iterable
from functools import singledispatch

from vpp.show import markup
from vpp.show.blocks import Alert, Figure, Heading, Metrics, Note, Quote, Say, Table


def html(blocks: Iterable[object]) -> str:
    return "".join(map(block_html, blocks))


@singledispatch
def block_html(block: object) -> str:
    raise TypeError(f"no HTML for {type(block).__name__}")


@block_html.register
def _(block: Say) -> str:
    return markup.saying(block.words, link=block.link)


@block_html.register
def _(block: Heading) -> str:
    heading = markup.heading(block.title, block.caption)
    return f'<div id="{markup.text(block.place)}" tabindex="-1">{heading}</div>' if block.place else heading


@block_html.register
def _(block: Note) -> str:
    return markup.caption(block.words)


@block_html.register
def _(block: Alert) -> str:
    return markup.state(block.head, *block.words, failed=True)


@block_html.register
def _(block: Metrics) -> str:
    return markup.strip(block.items) if block.items else ""


@block_html.register
def _(block: Table) -> str:
    table = markup.table(block.head, block.rows, right=block.right, name=block.name)
    if not block.fold:
        return table
    return f'<details class="astable"><summary>{markup.text(block.fold)}</summary>{table}</details>'


@block_html.register
def _(block: Quote) -> str:
    facts = markup.caption(" · ".join(block.facts)) if block.facts else ""
    return markup.hypothesis(block.words) + facts


@block_html.register
def _(block: Figure) -> str:
    return html((Heading(block.title, block.caption), Note(f"{block.alt}."), block.table))
