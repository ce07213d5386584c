"""A run's model servers in words: their check, and how answers are constrained."""

from collections.abc import Sequence
from dataclasses import dataclass

from vpp.llm.check import Mark
from vpp.llm.protocol import NO_API
from vpp.runs.session import Checked
from vpp.runs.spec import RunSpec
from vpp.show import markup
from vpp.show.words import capitalised

PROMPTS = ("learner prompt", "optimizer prompt")
LEADS = ("A run can begin", "A run cannot begin")
MARKS: dict[Mark, markup.Mark] = {"works": "acc", "note": "uns", "fails": "rej"}


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


def checks_html(checks: Sequence[Checked]) -> str:
    parts: list[str] = []
    for place, one in enumerate(checks):
        name, finding = f"{one.model or 'no model named'} at {one.base_url}", one.finding
        if place == 0 or checks[place - 1].roles != one.roles:
            parts.append(markup.group(f"{' and '.join(one.roles).capitalize()}: {name}"))
        words = finding.words.removeprefix(f"{name}: ")
        if finding.mark == "fails":
            words = capitalised(words.removeprefix(f"{NO_API}: "))
            parts.append(markup.state(failure([one]), words, failed=True))
        else:
            mark = markup.badge(MARKS[finding.mark], finding.mark)
            parts.append(f"<p>{mark} <b>{markup.text(finding.name)}</b>: {markup.text(words)}</p>")
    return markup.block(*parts, label="what the endpoint does")


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


def verdict_html(conclusion: Verdict) -> str:
    lead = next((each for each in LEADS if conclusion.words.startswith(each)), "")
    mark, rest = markup.badge(MARKS[conclusion.mark], conclusion.mark), conclusion.words.removeprefix(lead)
    return markup.block(f"<p>{mark} <b>{markup.text(lead)}</b>{markup.text(rest)}</p>")


def structured_words(spec: RunSpec) -> str:
    """Return whether the server holds answers to a schema; empty for `off` and for the demo model."""
    if spec.endpoint.structured == "off" or spec.endpoint.is_demo:
        return ""
    if spec.structured_as == "off":
        return "none: the server does not honour response_format, found by the check"
    return f"{spec.structured_as}, found by the check" if spec.structured_as else "auto: not tested yet"
