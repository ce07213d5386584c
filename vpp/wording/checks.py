"""How a check of servers is said on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from vpp.llm.check import Finding, Mark
from vpp.runs.checking import Checked
from vpp.wording import markup

PROMPTS = ("learner prompt", "optimizer prompt")
LEADS = ("A run can begin", "A run cannot begin")
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check comes to."""

    mark: Mark
    words: str
    """One line."""


def verdict(found: Sequence[Checked]) -> Verdict:
    """Whether a run can begin with what was found, and whether its answers can be read."""
    for one in found:
        if one.finding.mark == "fails":
            return Verdict("fails", f"A run cannot begin: {one.finding.name}: {one.finding.words}")
    if nameless := [one for one in found if not one.model]:
        return Verdict("fails", f"A run cannot begin: no model is named for the {' and '.join(nameless[0].roles)}.")
    said = {one.finding.name: one.finding for one in found}
    for name in PROMPTS:
        if name in said and said[name].mark != "works":
            return Verdict("note", f"A run can begin, but {_unread(name, said[name])}")
    if untried := [name for one in found for name in one.finding.values.get("untried", ()) if name in PROMPTS]:
        return Verdict("note", f"A run can begin, but whether the {untried[0]} can be read was not tried.")
    return Verdict("works", "A run can begin.")


def _unread(name: str, finding: Finding) -> str:
    """What became of a prompt that gave nothing, and the mend."""
    if mend := finding.values.get("mend"):
        return f"answers could not be read ({name}): {mend}."
    return f"the {name} was {finding.words}"


def verdict_html(told: Verdict) -> str:
    """The line, its mark a shape and a word, its lead in bold."""
    lead = next((each for each in LEADS if told.words.startswith(each)), "")
    mark, rest = markup.badge(MARKS[told.mark], told.mark), told.words.removeprefix(lead)
    return markup.block(f"<p>{mark} <b>{markup.text(lead)}</b>{markup.text(rest)}</p>")
