"""How a check of servers is said on a page."""

from collections.abc import Sequence

from vpp.llm.check import Mark
from vpp.runs.checking import Checked
from vpp.wording import markup

MARKS: dict[Mark, markup.Mark] = {"works": "acc", "note": "uns", "fails": "rej"}


def checks_html(found: Sequence[Checked]) -> str:
    """A line a finding, under its server's name; the mark is a shape and a word."""
    parts: list[str] = []
    for place, one in enumerate(found):
        if place == 0 or found[place - 1].roles != one.roles:
            parts.append(markup.group(f"{' and '.join(one.roles).capitalize()}: {one.model or 'no model named'}"))
        mark = markup.badge(MARKS[one.finding.mark], one.finding.mark)
        parts.append(f"<p>{mark} <b>{markup.text(one.finding.name)}</b>: {markup.text(one.finding.words)}</p>")
    return markup.block(*parts, label="what the endpoint does")
