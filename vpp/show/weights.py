"""Hypotheses with their weights as bars, and code or a command as it is."""

from collections.abc import Iterator
from dataclasses import dataclass

from vpp.show import markup
from vpp.show.blocks import Table
from vpp.show.markdown import block_markdown
from vpp.show.page import block_html
from vpp.show.terminal import block_lines
from vpp.show.words import percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    weight: float
    words: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Weights:
    """A bar for each hypothesis, heaviest first. A table where bars cannot be drawn."""

    items: tuple[Weight, ...]

    @property
    def table(self) -> Table:
        rows = [(percent(each.weight), each.words, ", ".join(each.facts)) for each in self.items]
        return Table(head=("weight", "hypothesis", "known of it"), rows=rows, right=(0,))


@dataclass(frozen=True, slots=True)
class Code:
    words: str


@block_html.register
def _(block: Weights) -> str:
    items = (
        f'<li style="--w:{each.weight:.4f}"><span>{percent(each.weight)}</span><div>'
        f'<i class="bar"></i>{markup.hypothesis(each.words)}{markup.caption(" · ".join(each.facts))}</div></li>'
        for each in block.items
    )
    return f'<ol class="weights">{"".join(items)}</ol>'


@block_markdown.register
def _(block: Weights, level: int) -> str:
    return block_markdown(block.table, level)


@block_lines.register
def _(block: Weights) -> Iterator[str]:
    yield from block_lines(block.table)


@block_html.register
def _(block: Code) -> str:
    return f'<pre class="raw">{markup.text(block.words)}</pre>'


@block_markdown.register
def _(block: Code, level: int) -> str:
    return markup.markdown_code(block.words)
