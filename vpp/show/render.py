"""Blocks as HTML of a page, as Markdown of a report, and as lines of a terminal: no text of a model acts in any.

Markdown and a terminal have a figure as its words and its table; pages/parts/blocks.py draws its chart on a page.
"""

from collections.abc import Iterable, Iterator
from functools import singledispatch

from vpp.show import markup
from vpp.show.blocks import Alert, Code, Figure, Fold, Heading, Metrics, Note, Quote, Say, Table
from vpp.show.markup import markdown_quote, markdown_table, markdown_text, one_line, text


def html(blocks: Iterable[object]) -> str:
    return "".join(map(block_html, blocks))


def markdown(blocks: Iterable[object], *, level: int = 2) -> str:
    """Return the blocks with blank lines between them. level: of their headings."""
    return "\n\n".join(filter(None, (block_markdown(block, level) for block in blocks)))


def lines(blocks: Iterable[object]) -> Iterator[str]:
    for block in blocks:
        yield from block_lines(block)


@singledispatch
def block_html(block: object) -> str:
    raise TypeError(f"no HTML for {type(block).__name__}")


@singledispatch
def block_markdown(block: object, level: int) -> str:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@singledispatch
def block_lines(block: object) -> Iterator[str]:
    raise TypeError(f"no lines for {type(block).__name__}")


# HTML


@block_html.register
def _(block: Say) -> str:
    return markup.saying(block.words, link=block.link)


@block_html.register
def _(block: Heading) -> str:
    heading = markup.heading(block.title, block.caption)
    return f'<div id="{text(block.place)}" tabindex="-1">{heading}</div>' if block.place else heading


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
    return f'<details class="astable"><summary>{text(block.fold)}</summary>{table}</details>' if block.fold else table


@block_html.register
def _(block: Quote) -> str:
    return markup.hypothesis(block.words) + (markup.caption(" · ".join(block.facts)) if block.facts else "")


@block_html.register
def _(block: Code) -> str:
    return f'<pre class="raw">{text(block.words)}</pre>'


@block_html.register
def _(block: Fold) -> str:
    wanted = "" if block.wanted is None else f' data-wanted="{block.wanted}"'
    title = markup.badge(block.mark, block.title) if block.mark else text(block.title)
    name = text(block.name or block.title)
    return f'<details data-fold="{name}"{wanted}><summary>{title}</summary>{html(block.blocks)}</details>'


@block_html.register
def _(block: Figure) -> str:
    return html((Heading(block.title, block.caption), Note(f"{block.alt}."), block.table))


# Markdown


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
def _(block: Code, level: int) -> str:
    return markup.markdown_code(block.words)


# A terminal


@block_lines.register
def _(block: Say | Note) -> Iterator[str]:
    yield from filter(None, [one_line(block.words)])


@block_lines.register
def _(block: Metrics) -> Iterator[str]:
    for each in block.items:
        yield one_line(f"{each.name}: {each.value} {each.scale} {each.words}")


@block_lines.register
def _(block: Quote) -> Iterator[str]:
    yield one_line(" · ".join((*block.facts, block.words)))


@block_lines.register
def _(block: Table) -> Iterator[str]:
    cells = [list(map(one_line, row)) for row in (block.head, *block.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        aligned = (
            cell.rjust(width) if place in block.right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()
