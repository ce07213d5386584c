"""The genealogy in words, as a table, and as what its drawing is made from."""

from collections.abc import Sequence
from typing import Any

from vpp.drawing.cards import AFRESH, without_seed
from vpp.events import INITIAL_STEP
from vpp.inspection.genealogy import CHANGING, Fate, Founder, Genealogy, Happened, Node, Place
from vpp.wording.markup import table
from vpp.wording.words import capitalised, counted, in_words, listed, weight_text

HAPPENED: dict[Happened, str] = {
    "first": "first hypothesis",
    "joined": "newcomer",
    "accepted": "rewritten, accepted",
    "taken": "rewritten",
    "rejected": "kept: its proposal was rejected",
    "unchanged": "kept word for word",
    "unparsable": "kept: its proposal could not be read",
    "not rewritten": "not rewritten: only copies are",
    "lost": "how it came is lost from the journal",
}
AFRESH_TAKEN = f"{AFRESH}, accepted"
FATES: dict[Fate, str] = {"": "", "resampled away": "resampled away next", "dropped": "dropped next: all agreed"}
MOST_LETTERS = 600_000
"""Of all texts together that a drawing carries."""
MOST_LEADERS = 3


# Words


def genealogy_sentence(found: Genealogy) -> str:
    """`Two of the ten first hypotheses have living descendants. Nine particles descend from first hypothesis 7.`"""
    founders = found.founders
    if len(found.generations) == 1:
        return f"{capitalised(_many(len(found.last), 'first hypothesis', 'first hypotheses'))}; no step is whole yet."
    if len(founders) == 1 and len(found.last) == 1:
        return _one_line(found)
    first = [each for each in founders if each.place.step == INITIAL_STEP]
    joined = founders[len(first) :]
    parts = [_surviving(first, "first hypothesis", "first hypotheses")]
    parts += [_surviving(joined, "newcomer", "newcomers")] if joined else []
    return " ".join([*parts, _families([each for each in founders if each.descendants], found)]).rstrip()


def genealogy_alt(found: Genealogy) -> str:
    """The whole drawing in words, for who does not see it."""
    resampled = f" Resampled at {_steps(found.resampled_at)}." if found.resampled_at else ""
    drawn = f"Genealogy of {counted(len(found.last), 'particle')}, from the first hypotheses to step {found.last_step}."
    return f"{drawn} {genealogy_sentence(found)}{resampled}"


def genealogy_caption(found: Genealogy, *, is_weighted: bool) -> str:
    """How the drawing is read."""
    if len(found.last) == 1 and len(found.founders) == 1:
        return "one column a step"
    has_ended = any(not node.survives for generation in found.generations for node in generation)
    parts = ["one column a step, one row a particle", f"solid: alive at step {max(found.last_step, 0)}"]
    parts += ["dotted: lines that died out"] if has_ended else []
    return " · ".join([*parts, *(["size = weight, as next weighed"] if is_weighted else [])])


def founder_name(place: Place) -> str:
    """`first hypothesis 7`, or `newcomer 12 of step 4`."""
    if place.step == INITIAL_STEP:
        return f"first hypothesis {place.slot}"
    return f"newcomer {place.slot} of step {place.step}"


def step_name(step: int) -> str:
    """`step 4`, or `the first hypothesis`."""
    return "the first hypothesis" if step == INITIAL_STEP else f"step {step}"


def _one_line(found: Genealogy) -> str:
    line = found.line(Place(found.last_step, 0))
    changes = sum(node.happened in CHANGING for node in line[1:])
    return (
        f"There is one particle, so there is one line and nothing to choose between: "
        f"its text changed at {in_words(changes)} of {_many(len(line) - 1, 'step', 'steps')}."
    )


def _surviving(founders: Sequence[Founder], one: str, many: str) -> str:
    n, alive = len(founders), sum(bool(each.descendants) for each in founders)
    if n == 1:
        return f"The one {one} has {'' if alive else 'no '}living descendants."
    if alive == n:
        return f"{'Both' if n == 2 else f'All {in_words(n)}'} {many} have living descendants."
    some = capitalised(in_words(alive)) if alive else "None"
    return f"{some} of the {in_words(n)} {many} {'has' if alive == 1 else 'have'} living descendants."


def _families(families: Sequence[Founder], found: Genealogy) -> str:
    """The largest families; where nothing was redrawn, why all are of one."""
    most = max(len(each.descendants) for each in families)
    leaders = [founder_name(each.place) for each in families if len(each.descendants) == most]
    if most == 1:
        return "" if found.resampled_at or found.shrank_at else "Nothing was resampled, so each line goes its own way."
    if len(families) == 1:
        return f"All {in_words(most)} particles descend from {leaders[0]}."
    if len(leaders) == 1:
        return f"{capitalised(in_words(most))} particles descend from {leaders[0]}."
    if len(leaders) <= MOST_LEADERS:
        return f"{capitalised(in_words(most))} particles each descend from {listed(leaders)}."
    return f"The largest families are of {in_words(most)} particles each."


def _many(n: int, one: str, many: str) -> str:
    return f"{in_words(n)} {one if n == 1 else many}"


def _steps(steps: Sequence[int]) -> str:
    return f"step{'' if len(steps) == 1 else 's'} {listed(steps)}"


# The table


def founders_table(found: Genealogy, *, seed_text: str, is_weighted: bool) -> str:
    """A row a founder: living descendants, their weight now, and its first text."""
    weight = ("weight now",) if is_weighted else ()
    head = ("founder", "living descendants", *weight, "what it said first")
    rows = [_founder_row(each, seed_text, is_weighted=is_weighted) for each in found.founders]
    return table(head, rows, right=(2,) if is_weighted else ())


def _founder_row(founder: Founder, seed_text: str, *, is_weighted: bool) -> tuple[str, ...]:
    slots = founder.descendants
    who = f"{len(slots)}: particle{'' if len(slots) == 1 else 's'} {listed(slots)}" if slots else "none"
    weight = (weight_text(founder.weight),) if is_weighted else ()
    return (capitalised(founder_name(founder.place)), who, *weight, without_seed(founder.text, seed_text))


# The drawing


def drawing(found: Genealogy, *, seed_text: str, is_weighted: bool, steps: int) -> dict[str, Any]:
    """What assets/genealogy.js draws: a column a step, in it a list or string over slots; texts once, by number.

    steps: T, so that the columns keep their places while a run goes on; the initial population is a column more.
    """
    numbers: dict[str, int] = {}
    columns = [_column(nodes, numbers, is_weighted=is_weighted) for nodes in found.generations]
    most = max(80, min(600, MOST_LETTERS // len(numbers)))
    return {
        "columns": columns,
        "total": max(steps + 1, len(columns)),
        "texts": [_cut(without_seed(found.texts[hypothesis], seed_text), most) for hypothesis in numbers],
        "breaks": _breaks(found),
        "happened": [*HAPPENED.values()],
        "changing": len(CHANGING),
        "fates": [*FATES.values()],
        "afresh": AFRESH_TAKEN,
        "alt": genealogy_alt(found),
    }


def _column(nodes: Sequence[Node], numbers: dict[str, int], *, is_weighted: bool) -> dict[str, Any]:
    """Codes are places in the lists of words; `HAPPENED` begins with what changes a text."""
    happened, fates = [*HAPPENED], [*FATES]
    return {
        "texts": [numbers.setdefault(node.hypothesis, len(numbers)) for node in nodes],
        "parents": [-1 if node.parent is None else node.parent for node in nodes],
        "weights": [_rounded(node.weight) for node in nodes] if is_weighted else None,
        "happened": "".join(str(happened.index(node.happened)) for node in nodes),
        "alive": "".join(str(int(node.survives)) for node in nodes),
        "fates": "".join(str(fates.index(node.fate)) for node in nodes),
        "afresh": [node.slot for node in nodes if node.is_afresh],
    }


def _rounded(weight: float) -> float:
    """What is not quite nothing or all stays so."""
    return weight if weight in (0, 1) else min(max(round(weight, 4), 0.0001), 0.9999)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def _breaks(found: Genealogy) -> list[dict[str, Any]]:
    """Where lines fork: the column after, and why."""
    why = {step: ["resampled"] for step in found.resampled_at}
    for step in found.shrank_at:
        why.setdefault(step, []).append("K fell")
    return [{"column": step - INITIAL_STEP, "words": ", ".join(words)} for step, words in sorted(why.items())]
