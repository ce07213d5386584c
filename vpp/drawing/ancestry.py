"""One particle's ancestors, as HTML: every change of its words; since when each sentence stands."""

from collections import Counter
from collections.abc import Iterator, Sequence

from vpp.drawing.genealogy import AFRESH_TAKEN, HAPPENED, founder_name, step_name
from vpp.events import INITIAL_STEP
from vpp.inspection.genealogy import Ancestor, Genealogy, Happened, Place
from vpp.inspection.origins import Origin, origins
from vpp.wording.markup import Mark, badge, caption, group, text
from vpp.wording.word_diff import diff_html, is_rewritten, kept_share
from vpp.wording.words import capitalised, counted, in_words, listed, percent, weight_text

MOST_COPIES = 2
"""Named one by one in a stretch without a change."""
MARKS: dict[Happened, Mark] = {"accepted": "acc", "taken": "acc"}
STILL: dict[Happened, tuple[str, str]] = {
    "rejected": ("proposal rejected", "proposals rejected"),
    "unchanged": ("proposal of the same words", "proposals of the same words"),
    "unparsable": ("unreadable proposal", "unreadable proposals"),
    "not rewritten": ("step without a rewriting", "steps without a rewriting"),
    "lost": ("step that the journal has lost", "steps that the journal has lost"),
}
"""What leaves a text as it is: one, and many."""


def n_changes(found: Genealogy, place: Place) -> int:
    """How often the particle's words changed since its first hypothesis."""
    return sum(each.changed for each in found.ancestry(place.slot, step=place.step)) - 1


def ancestry_html(found: Genealogy, place: Place, *, seed_text: str, is_weighted: bool, most: int | None = None) -> str:
    """The particle's sentences with the step that brought each in, then its ancestors, oldest first.

    most: how many changes are shown, the newest; all where it is None.
    """
    line = found.ancestry(place.slot, step=place.step)
    changes = n_changes(found, place)
    changed = f"{counted(changes, 'change')} of its words" if changes else "its words never changed"
    marked = " · underlined: added · struck: removed" if changes else ""
    entries = _entries(line, seed_text, is_weighted=is_weighted, skipped=0 if most is None else changes - most)
    return "".join(
        (
            group(f"Particle {place.slot} after {_when(place.step)}, and which step brought in each sentence"),
            _origins(origins(line, seed_text=seed_text)),
            group(f"Its ancestors, from {_head(found, place)} on"),
            caption(f"Oldest first · {changed}{marked}"),
            f'<ol class="way">{"".join(entries)}</ol>',
        )
    )


def outcome_sentence(found: Genealogy, place: Place) -> str:
    """What became of a particle of an earlier step; empty for one of the last population."""
    if place.step == found.last_step:
        return ""
    slots = found.descendants(place)
    if not slots:
        ended = found.ended_at(place)
        return f"No particle of step {found.last_step} descends from it: its line ended at step {ended}."
    if len(slots) == 1:
        return f"Particle {slots[0]} of step {found.last_step} descends from it."
    return f"{capitalised(in_words(len(slots)))} particles of step {found.last_step} descend from it: {listed(slots)}."


def _when(step: int) -> str:
    return "the first draw" if step == INITIAL_STEP else f"step {step}"


def _head(found: Genealogy, place: Place) -> str:
    return founder_name(found.at(place).founder)


def _origins(found: Sequence[Origin]) -> str:
    rows = "".join(
        f'<li><span class="when">since {step_name(each.step)}</span><span class="hyp">{text(each.sentence)}</span></li>'
        for each in found
    )
    return f'<ul class="said">{rows}</ul>'


def _entries(line: Sequence[Ancestor], seed_text: str, *, is_weighted: bool, skipped: int) -> Iterator[str]:
    """An entry a change; what stayed as it was is one line, and so are changes skipped after the first hypothesis."""
    stretches = _stretches(line)
    said = [stretch[0].text.removeprefix(seed_text).strip() for stretch in stretches]
    changes = [i for i, stretch in enumerate(stretches) if stretch[0].changed]
    begin = changes[skipped + 1] if skipped > 0 else 1
    yield _change(line[0], "", said[0], is_weighted=is_weighted)
    if skipped > 0:
        yield _skipped(skipped, stretches[begin][0].step)
    for i in range(begin, len(stretches)):
        first = stretches[i][0]
        is_change = first.changed
        yield _change(first, said[i - 1], said[i], is_weighted=is_weighted) if is_change else _still(stretches[i])


def _stretches(line: Sequence[Ancestor]) -> list[list[Ancestor]]:
    """Each change apart, and together the steps that followed it without one."""
    found: list[list[Ancestor]] = []
    for each in line:
        if not found or each.changed or found[-1][0].changed:
            found.append([])
        found[-1].append(each)
    return found


def _skipped(n: int, until: int) -> str:
    words = f"{counted(n, 'change')} not shown, before step {until}."
    return f'<li class="still"><div class="when">…</div>{caption(words)}</li>'


def _change(each: Ancestor, before: str, says: str, *, is_weighted: bool) -> str:
    weight = f"<span>weight {weight_text(each.weight)}</span>" if is_weighted else ""
    is_clean = not (before and says) or each.is_afresh or is_rewritten(before, says)
    shown = text(says or each.text) if is_clean else diff_html(before, says)
    marks = "".join(badge(mark, words) for mark, words in _marks(each, before, says))
    fold = _before(before) if before and is_clean else ""
    return (
        f'<li><div class="when"><b>{text(_step(each.step))}</b>{weight}</div>'
        f'<div><p class="hyp">{shown}</p><div class="foot">{marks}{fold}</div></div></li>'
    )


def _marks(each: Ancestor, before: str, says: str) -> Iterator[tuple[Mark, str]]:
    if each.copied_from is not None:
        yield "", f"copied from particle {each.copied_from}"
    if not says:
        yield "", "the seed sentence alone"
    if each.step != INITIAL_STEP:
        yield MARKS.get(each.happened, ""), AFRESH_TAKEN if each.is_afresh else HAPPENED[each.happened]
    if before and says and not each.is_afresh and is_rewritten(before, says):
        yield "", f"{percent(kept_share(before, says))} of the words kept"


def _before(said: str) -> str:
    return f'<details class="par"><summary>what it said before</summary><p class="hyp">{text(said)}</p></details>'


def _still(stretch: Sequence[Ancestor]) -> str:
    happened = Counter(each.happened for each in stretch)
    told = [counted(n, *STILL.get(why, STILL["unchanged"])) for why, n in happened.items()]
    moved = [each for each in stretch if each.copied_from is not None]
    told += [f"copied from particle {each.copied_from} at step {each.step}" for each in moved[-MOST_COPIES:]]
    told += [f"copied {counted(len(moved) - MOST_COPIES, 'time')} before"] if len(moved) > MOST_COPIES else []
    first, last = stretch[0].step, stretch[-1].step
    steps = f"step {first}" if first == last else f"steps {first} to {last}"
    words = f"Unchanged: {'; '.join(told)}."
    return f'<li class="still"><div class="when">{steps}</div>{caption(words)}</li>'


def _step(step: int) -> str:
    return "first hypothesis" if step == INITIAL_STEP else f"step {step}"
