"""A run's model servers: what a check found, its conclusion, and how answers are constrained."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from vpp.llm.check import Mark
from vpp.llm.protocol import NO_API
from vpp.runs.session import Checked
from vpp.show.blocks import Alert, Block, Note, Table
from vpp.show.words import capitalised

PROMPTS = ("learner prompt", "optimizer prompt")
FAILURES = {
    "API": capitalised(NO_API),
    "reachable": "The server cannot be reached",
    "key": "The server refuses the key",
    "models": "The server does not have this model",
    "answers": "The model does not answer",
}


def failure(checks: Sequence[Checked]) -> str:
    failing = next((one.finding.name for one in checks if one.finding.mark == "fails"), "")
    return FAILURES.get(failing, failing)


def check_blocks(checks: Sequence[Checked]) -> list[Block]:
    """Return a table of findings for each server, and its failure."""
    blocks: list[Block] = []
    for roles, of_roles in groupby(checks, lambda one: one.roles):
        found = list(of_roles)
        server = f"{found[0].model or 'no model named'} at {found[0].base_url}"
        works = [one.finding for one in found if one.finding.mark != "fails"]
        rows = [(each.name, each.mark, each.words.removeprefix(f"{server}: ")) for each in works]
        title = f"{' and '.join(roles).capitalize()}: {server}"
        blocks += [Note(title), Table(head=("check", "result", "details"), rows=rows, name=title)]
        for each in (one.finding for one in found if one.finding.mark == "fails"):
            words = each.words.removeprefix(f"{server}: ").removeprefix(f"{NO_API}: ")
            blocks.append(Alert(FAILURES.get(each.name, each.name), (capitalised(words),)))
    return blocks


@dataclass(frozen=True, slots=True)
class Verdict:
    """Conclusion of a check."""

    mark: Mark
    words: str


def verdict(checks: Sequence[Checked]) -> Verdict:
    for one in checks:
        if one.finding.mark == "fails":
            return Verdict("fails", f"A run cannot begin: {one.finding.name}: {one.finding.words}")
    if nameless := [one for one in checks if not one.model]:
        return Verdict("fails", f"A run cannot begin: no model is named for the {' and '.join(nameless[0].roles)}.")
    by_name = {one.finding.name: one.finding for one in checks}
    for name in PROMPTS:
        if name in by_name and by_name[name].mark != "works":
            mend = by_name[name].values.get("mend")
            unread = f"answers could not be read ({name}): {mend}." if mend else f"the {name} was {by_name[name].words}"
            return Verdict("note", f"A run can begin, but {unread}")
    if untried := [name for one in checks for name in one.finding.values.get("untried", ()) if name in PROMPTS]:
        return Verdict("note", f"A run can begin, but whether the {untried[0]} can be read was not tried.")
    return Verdict("works", "A run can begin.")
