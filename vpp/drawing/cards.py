"""Ancestors of a particle: its hypothesis at each step at which it changed."""

from collections import Counter
from collections.abc import Iterator, Sequence

from vpp.events import INITIAL_STEP
from vpp.findings.genealogy import Happened, Node
from vpp.show.deck import reworded
from vpp.show.markup import Mark, badge, caption, group
from vpp.show.words import counted, step_words, weight_text

CHANGED: dict[Happened, str] = {"yours": "yours", "accepted": "rewritten, accepted", "taken": "rewritten"}
"""What happened to a text that changed."""
AFRESH_TAKEN = "drawn afresh, without data, accepted"


def step_name(step: int) -> str:
    """`step 4`, or `the first hypothesis`."""
    return "the first hypothesis" if step == INITIAL_STEP else f"step {step}"


MOST_MOVES = 2
MARKS: dict[Happened, Mark] = {"accepted": "acc", "taken": "acc"}
STILL: dict[Happened, tuple[str, str]] = {
    "rejected": ("proposal rejected", "proposals rejected"),
    "unchanged": ("proposal of the same words", "proposals of the same words"),
    "unparsable": ("unreadable proposal", "unreadable proposals"),
    "not rewritten": ("step without a rewriting", "steps without a rewriting"),
}


def n_changes(line: Sequence[Node]) -> int:
    return sum(each.changed for each in line) - 1


def ancestry_html(line: Sequence[Node], *, seed_text: str, is_weighted: bool, most: int | None = None) -> str:
    """The particle's ancestors. line: oldest first, the particle last. most: newest changes shown."""
    last, changes = line[-1], n_changes(line)
    changed = f"{counted(changes, 'change')} of its words" if changes else "its words never changed"
    marked = " · underlined: added · struck: removed" if changes else ""
    entries = _entries(line, seed_text, is_weighted=is_weighted, skipped=0 if most is None else changes - most)
    title = f"Ancestors of particle {last.slot} after {step_words(last.step)}, from first hypothesis {line[0].slot} on"
    return f'{group(title)}{caption(f"Oldest first · {changed}{marked}")}<ol class="way">{"".join(entries)}</ol>'


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
        marks.append((MARKS.get(each.happened, ""), AFRESH_TAKEN if each.is_afresh else CHANGED[each.happened]))
    return (
        f'<li><div class="when"><b>{step_name(each.step).removeprefix("the ")}</b>{weight}</div>'
        f'<div>{sentence}<div class="foot">{"".join(badge(*mark) for mark in marks)}{fold}</div></div></li>'
    )


def _still(stretch: Sequence[Node]) -> str:
    happened = Counter(each.happened for each in stretch)
    events = [counted(n, *STILL.get(why, STILL["unchanged"])) for why, n in happened.items()]
    moved = [each for each in stretch if each.copied_from is not None]
    events += [f"copied from particle {each.copied_from} at step {each.step}" for each in moved[-MOST_MOVES:]]
    events += [f"copied {counted(len(moved) - MOST_MOVES, 'time')} before"] if len(moved) > MOST_MOVES else []
    first, last = stretch[0].step, stretch[-1].step
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    words = f"Unchanged: {'; '.join(events)}."
    return f'<li class="still"><div class="when">{steps}</div>{caption(words)}</li>'
