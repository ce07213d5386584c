"""The genealogy: its summary, its table, the data of its drawing, and one particle's ancestors as HTML."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vpp.drawing.cards import AFRESH
from vpp.drawing.deck import reworded, without_seed
from vpp.events import INITIAL_STEP
from vpp.inspection.genealogy import CHANGING, Fate, Genealogy, Happened, Node, Place, origins
from vpp.wording.markup import Mark, badge, caption, group, table, text
from vpp.wording.words import capitalised, counted, cut, listed, particles, step_words, weight_text

HAPPENED: dict[Happened, str] = {
    "first": "first hypothesis",
    "yours": "yours",
    "accepted": "rewritten, accepted",
    "taken": "rewritten",
    "rejected": "kept: its proposal was rejected",
    "unchanged": "kept word for word",
    "unparsable": "kept: its proposal could not be read",
    "not rewritten": "not rewritten: only copies are",
}
AFRESH_TAKEN = f"{AFRESH}, accepted"
FATES: dict[Fate, str] = {"": "", "resampled away": "resampled away next"}
MOST_LETTERS = 600_000
"""Characters of all texts together in a drawing."""


# Words


def genealogy_sentence(family: Genealogy) -> str:
    """`3 of 4 first hypotheses have living descendants; the largest family is 2 particles of first hypothesis 0.`"""
    if len(family.generations) == 1:
        return f"{counted(len(family.last), 'first hypothesis', 'first hypotheses')}; no step is complete yet."
    founders = family.founders
    if len(founders) == 1 and len(family.last) == 1:
        line = family.ancestry(0)
        changes = sum(node.happened in CHANGING for node in line[1:])
        return f"One particle, one line: its text changed at {changes} of {counted(len(line) - 1, 'step')}."
    alive = sum(bool(each.descendants) for each in founders)
    of = counted(len(founders), "first hypothesis", "first hypotheses")
    living = f"{alive} of {of} {'has' if alive == 1 else 'have'} living descendants"
    most = max(len(each.descendants) for each in founders)
    if most == 1:
        return f"{living}."
    leaders = [founder_name(each.place) for each in founders if len(each.descendants) == most]
    of = leaders[0] if len(leaders) == 1 else f"each of {len(leaders)} founders"
    return f"{living}; the largest family is {most} particles of {of}."


def genealogy_alt(family: Genealogy) -> str:
    at = family.resampled_at
    resampled = f" Resampled at step{'' if len(at) == 1 else 's'} {listed(at)}." if at else ""
    span = (
        f"Genealogy of {counted(len(family.last), 'particle')}, from the first hypotheses to step {family.last_step}."
    )
    return f"{span} {genealogy_sentence(family)}{resampled}"


def genealogy_caption(family: Genealogy, *, is_weighted: bool) -> str:
    if len(family.last) == 1 and len(family.founders) == 1:
        return "One column per step, read from left to right."
    has_ended = any(not node.survives for generation in family.generations for node in generation)
    extinct = ", dotted lines died out" if has_ended else ""
    size = "; larger dots hold more weight" if is_weighted else ""
    survive = f"solid lines survive to {step_words(family.last_step)}"
    return f"One column per step, one row per particle; {survive}{extinct}{size}."


def founder_name(place: Place) -> str:
    return f"first hypothesis {place.slot}"


def step_name(step: int) -> str:
    """`step 4`, or `the first hypothesis`."""
    return "the first hypothesis" if step == INITIAL_STEP else f"step {step}"


# The table


def founders_table(family: Genealogy, *, seed_text: str, is_weighted: bool) -> str:
    """Table with a row per founder: living descendants, their weight now, and its first text."""
    weight = ("weight now",) if is_weighted else ()
    head = ("founder", "living descendants", *weight, "what it said first")
    rows = []
    for founder in family.founders:
        slots, name = founder.descendants, capitalised(founder_name(founder.place))
        living = f"{len(slots)}: {particles(slots)}" if slots else "none"
        now = (weight_text(founder.weight),) if is_weighted else ()
        rows.append((name, living, *now, without_seed(founder.text, seed_text)))
    return table(head, rows, right=(2,) if is_weighted else ())


# The drawing


def drawing(family: Genealogy, *, seed_text: str, is_weighted: bool, steps: int) -> dict[str, Any]:
    """Data for assets/genealogy.js: per step a column with lists or strings over slots; each text once, by number.

    steps: T, so that the columns keep their places while a run goes on; the initial population is a column more.
    """
    texts = {node.hypothesis: node.text for generation in family.generations for node in generation}
    numbers = {hypothesis: number for number, hypothesis in enumerate(texts)}
    columns = [_column(nodes, numbers, is_weighted=is_weighted) for nodes in family.generations]
    most = max(80, min(600, MOST_LETTERS // len(texts)))
    return {
        "columns": columns,
        "total": max(steps + 1, len(columns)),
        "texts": [cut(without_seed(each, seed_text), most) for each in texts.values()],
        "breaks": [{"column": step - INITIAL_STEP, "words": "resampled"} for step in family.resampled_at],
        "happened": [*HAPPENED.values()],
        "changing": len(CHANGING),
        "fates": [*FATES.values()],
        "afresh": AFRESH_TAKEN,
        "alt": genealogy_alt(family),
    }


def _column(nodes: Sequence[Node], numbers: Mapping[str, int], *, is_weighted: bool) -> dict[str, Any]:
    """Codes are places in the lists of words; `HAPPENED` begins with what changes a text."""
    happened, fates = [*HAPPENED], [*FATES]
    weights = [node.weight for node in nodes] if is_weighted else []
    return {
        "texts": [numbers[node.hypothesis] for node in nodes],
        "parents": [-1 if node.parent is None else node.parent for node in nodes],
        # To four digits; a weight between 0 and 1 never becomes 0 or 1.
        "weights": [w if w in (0, 1) else min(max(round(w, 4), 0.0001), 0.9999) for w in weights] or None,
        "happened": "".join(str(happened.index(node.happened)) for node in nodes),
        "alive": "".join(str(int(node.survives)) for node in nodes),
        "fates": "".join(str(fates.index(node.fate)) for node in nodes),
        "afresh": [node.slot for node in nodes if node.is_afresh],
    }


# One particle's ancestors

MOST_COPIES = 2
MARKS: dict[Happened, Mark] = {"accepted": "acc", "taken": "acc"}
STILL: dict[Happened, tuple[str, str]] = {
    "rejected": ("proposal rejected", "proposals rejected"),
    "unchanged": ("proposal of the same words", "proposals of the same words"),
    "unparsable": ("unreadable proposal", "unreadable proposals"),
    "not rewritten": ("step without a rewriting", "steps without a rewriting"),
}


def n_changes(family: Genealogy, place: Place) -> int:
    return sum(each.changed for each in family.ancestry(place.slot, step=place.step)) - 1


def ancestry_html(
    family: Genealogy, place: Place, *, seed_text: str, is_weighted: bool, most: int | None = None
) -> str:
    """The particle's sentences by step of origin, then its ancestors, oldest first. most: newest changes shown."""
    line = family.ancestry(place.slot, step=place.step)
    changes = n_changes(family, place)
    changed = f"{counted(changes, 'change')} of its words" if changes else "its words never changed"
    marked = " · underlined: added · struck: removed" if changes else ""
    said = "".join(
        f'<li><span class="when">since {step_name(each.step)}</span><span class="hyp">{text(each.sentence)}</span></li>'
        for each in origins(line, seed_text=seed_text)
    )
    entries = _entries(line, seed_text, is_weighted=is_weighted, skipped=0 if most is None else changes - most)
    return (
        f"{group(f'Particle {place.slot} after {step_words(place.step)}, and which step brought in each sentence')}"
        f'<ul class="said">{said}</ul>'
        f"{group(f'Its ancestors, from {founder_name(family.at(place).founder)} on')}"
        f'{caption(f"Oldest first · {changed}{marked}")}<ol class="way">{"".join(entries)}</ol>'
    )


def outcome_sentence(family: Genealogy, place: Place) -> str:
    if place.step == family.last_step:
        return ""
    slots = family.descendants(place)
    if not slots:
        ended = family.ended_at(place)
        return f"No particle of step {family.last_step} descends from it: its line ended at step {ended}."
    descend = "descends" if len(slots) == 1 else "descend"
    return f"{capitalised(particles(slots))} of step {family.last_step} {descend} from it."


def _entries(line: Sequence[Node], seed_text: str, *, is_weighted: bool, skipped: int) -> Iterator[str]:
    stretches = _stretches(line)
    texts = [stretch[0].text.removeprefix(seed_text).strip() for stretch in stretches]
    changes = [i for i, stretch in enumerate(stretches) if stretch[0].changed]
    begin = changes[skipped + 1] if skipped > 0 else 1
    yield _change(line[0], "", texts[0], is_weighted=is_weighted)
    if skipped > 0:
        words = f"{counted(skipped, 'change')} not shown, before step {stretches[begin][0].step}."
        yield f'<li class="still"><div class="when">…</div>{caption(words)}</li>'
    for i, stretch in enumerate(stretches[begin:], begin):
        first = stretch[0]
        yield _change(first, texts[i - 1], texts[i], is_weighted=is_weighted) if first.changed else _still(stretch)


def _stretches(line: Sequence[Node]) -> list[list[Node]]:
    stretches: list[list[Node]] = []
    for each in line:
        if not stretches or each.changed or stretches[-1][0].changed:
            stretches.append([])
        stretches[-1].append(each)
    return stretches


def _change(each: Node, before: str, says: str, *, is_weighted: bool) -> str:
    weight = f"<span>weight {weight_text(each.weight)}</span>" if is_weighted else ""
    sentence, fold = reworded(None if each.is_afresh or not says else before, says or each.text)
    marks: list[tuple[Mark, str]] = []
    if each.copied_from is not None:
        marks.append(("", f"copied from particle {each.copied_from}"))
    if not says:
        marks.append(("", "the seed sentence alone"))
    if each.step != INITIAL_STEP or each.happened == "yours":
        marks.append((MARKS.get(each.happened, ""), AFRESH_TAKEN if each.is_afresh else HAPPENED[each.happened]))
    return (
        f'<li><div class="when"><b>{step_name(each.step).removeprefix("the ")}</b>{weight}</div>'
        f'<div>{sentence}<div class="foot">{"".join(badge(*mark) for mark in marks)}{fold}</div></div></li>'
    )


def _still(stretch: Sequence[Node]) -> str:
    happened = Counter(each.happened for each in stretch)
    events = [counted(n, *STILL.get(why, STILL["unchanged"])) for why, n in happened.items()]
    moved = [each for each in stretch if each.copied_from is not None]
    events += [f"copied from particle {each.copied_from} at step {each.step}" for each in moved[-MOST_COPIES:]]
    events += [f"copied {counted(len(moved) - MOST_COPIES, 'time')} before"] if len(moved) > MOST_COPIES else []
    first, last = stretch[0].step, stretch[-1].step
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    words = f"Unchanged: {'; '.join(events)}."
    return f'<li class="still"><div class="when">{steps}</div>{caption(words)}</li>'
