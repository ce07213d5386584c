"""Blocks as lines of a terminal. No control character of a text passes."""

from collections.abc import Iterable, Iterator
from functools import singledispatch

from vpp.show.blocks import Alert, Heading, Metrics, Note, Quote, Say, Table
from vpp.show.markup import one_line


def lines(blocks: Iterable[object]) -> Iterator[str]:
    for block in blocks:
        yield from block_lines(block)


@singledispatch
def block_lines(block: object) -> Iterator[str]:
    raise TypeError(f"no lines for {type(block).__name__}")


@block_lines.register
def _(block: Say) -> Iterator[str]:
    if block.words:
        yield one_line(block.words)


@block_lines.register
def _(block: Heading) -> Iterator[str]:
    yield one_line(f"{block.title}: {block.caption}" if block.caption else block.title)


@block_lines.register
def _(block: Note) -> Iterator[str]:
    yield one_line(block.words)


@block_lines.register
def _(block: Alert) -> Iterator[str]:
    yield one_line(" ".join((f"{block.head}.", *block.words)))


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
