"""What the data ruled out, as HTML: the whole text, when, by how much, and the rows that decided it."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vpp.data.dataset import Row
from vpp.drawing.cards import without_seed
from vpp.drawing.matrix import inputs_line
from vpp.hypothesis import hypothesis_id
from vpp.inspection.ruled_out import REASONS, Contradiction, Occasion, Past, Reason, RuledOut, lives_on
from vpp.posterior.prediction import Value
from vpp.settings import Config
from vpp.wording.markup import Mark, badge, text
from vpp.wording.words import (
    after_rows,
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    particles,
    value_text,
    weight_text,
)

MARKS: dict[Reason, tuple[Mark, str]] = {
    "rejected": ("rej", "rejected"),
    "resampled away": ("gone", "resampled away"),
    "unparsable": ("abs", "unreadable"),
}
NOT_DRAWN: tuple[Mark, str] = ("copy", "not drawn")
"""For a text that was resampled away while the idea that it words was kept."""
SHOWN_ROWS = 3
"""Rows beside an entry; the others are folded away."""
MOST_ROWS = 40
"""Rows listed in all."""
MOST_OCCASIONS = 40
MOST_INPUTS = 4
LONGEST_ANSWER = 400
"""Characters of an unreadable answer shown outside a fold."""


def reason_counts(entries: Sequence[RuledOut]) -> dict[Reason, str]:
    """`Rejected 12`, `Resampled away 5`, `Unreadable 2`: those that there are."""
    counts = Counter(entry.reason for entry in entries)
    return {
        reason: f"{capitalised(MARKS[reason][1])} {integer(counts[reason])}" for reason in REASONS if counts[reason]
    }


def counts_words(entries: Sequence[RuledOut]) -> str:
    """`12 rejected, 5 resampled away and 2 unreadable`."""
    counts = Counter(entry.reason for entry in entries)
    return listed([f"{integer(counts[reason])} {MARKS[reason][1]}" for reason in REASONS if counts[reason]])


def ruled_out_sentence(entries: Sequence[RuledOut], config: Config) -> str:
    """`Twelve texts were ruled out.`: unreadable answers are none; empty where the method can rule out nothing."""
    n = sum(entry.reason != "unparsable" for entry in entries)
    if n:
        return f"{capitalised(in_words(n))} {'text was' if n == 1 else 'texts were'} ruled out."
    return "Nothing was ruled out." if config.is_filtered or config.is_weighted else ""


def lived_on_sentence(n: int) -> str:
    """Why texts that the lot left out are not listed among what the data ruled out. n: at least 1."""
    said = f"{capitalised(in_words(n))} {'text was' if n == 1 else 'texts were'} not drawn when particles were redrawn"
    return f"{said}, but others with the same answers were drawn then, or are held now: the lot decided, not the data."


def ruled_out_html(entries: Sequence[RuledOut], *, seed_text: str, survivors: Mapping[str, int] | None = None) -> str:
    """An article an entry, to be drawn as a deck.

    survivors: by hypothesis id, the number from 0 of the idea that answers the same.
    """
    return "".join(_entry(entry, seed_text, survivors or {}) for entry in entries)


def _entry(entry: RuledOut, seed_text: str, survivors: Mapping[str, int]) -> str:
    mark, words = NOT_DRAWN if lives_on(entry, survivors) else _mark(entry)
    key = hypothesis_id(f"{entry.reason}\n{entry.why_unread}\n{entry.text}")
    captions = "".join(f'<p class="cap">{text(line)}</p>' for line in (_when(entry), past_words(entry)) if line)
    stands = "".join(f'<p class="cap">{text(line)}</p>' for line in _stands(entry, survivors))
    return (
        f'<article class="out" data-key="{key}" aria-label="{text(words)}"><div>{badge(mark, words)}{captions}</div>'
        f'<div>{_said(entry, seed_text)}{stands}</div><div class="why">{"".join(_why(entry))}</div></article>'
    )


def _mark(entry: RuledOut) -> tuple[Mark, str]:
    mark, words = MARKS[entry.reason]
    return mark, "refused" if entry.newest.is_refused else words


def _said(entry: RuledOut, seed_text: str) -> str:
    if entry.reason != "unparsable":
        return f'<p class="hyp">{text(without_seed(entry.text, seed_text))}</p>'
    if not entry.text.strip():
        return '<p class="cap">an empty answer</p>'
    if len(entry.text) <= LONGEST_ANSWER:
        return f'<pre class="raw">{text(entry.text)}</pre>'
    return (
        f'<pre class="raw">{text(entry.text[:LONGEST_ANSWER])} …</pre>'
        f'<details class="par" data-fold="answer"><summary>the whole answer</summary>'
        f'<pre class="raw">{text(entry.text)}</pre></details>'
    )


def _when(entry: RuledOut) -> str:
    return f"{'last at ' if entry.times > 1 else ''}{_at(entry.newest)}"


def _at(occasion: Occasion) -> str:
    """`step 3, particle 1`."""
    step = f"step {occasion.step}" if occasion.step >= 0 else "the first draw"
    return f"{step}, {particles(occasion.particles)}"


def past_words(entry: RuledOut) -> str:
    """`proposed 3 times, rejected 3 times`: over the whole run."""
    past = entry.past
    if entry.reason == "unparsable":
        return f"answered {_times(entry.times)}" if entry.times > 1 else ""
    parts = [
        *([f"drawn {_times(past.drawn)}"] if past.drawn else []),
        *([f"proposed {_times(past.proposed)}"] if past.proposed else []),
        *([f"accepted {_times(past.accepted)}"] if past.accepted else []),
        f"{MARKS[entry.reason][1]} {_times(entry.times)}",
    ]
    return "" if _is_plain(past, entry) else ", ".join(parts)


def _is_plain(past: Past, entry: RuledOut) -> bool:
    """Whether it came up once alone, as the entry tells already."""
    return entry.times == 1 and past.drawn + past.proposed <= 1


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n) or f"{in_words(n)} times"


def _stands(entry: RuledOut, survivors: Mapping[str, int]) -> Iterator[str]:
    """Where the text, or what it answers, is held all the same."""
    if entry.held_by:
        yield f"The same words are held by {particles(entry.held_by)} now."
    elif (number := survivors.get(hypothesis_id(entry.text))) is not None:
        yield f"On all rows compared it answers as idea {number + 1}, which stands."
    elif lives_on(entry, survivors):
        drawn, rows = entry.newest.alike, counted(entry.newest.n_rows, "row")
        answer = "answers" if len(drawn) == 1 else "answer"
        yield f"{capitalised(particles(drawn))}, drawn then, {answer} alike on all {rows}: the lot left this text out."


def _why(entry: RuledOut) -> Iterator[str]:
    newest = entry.newest
    if entry.reason == "unparsable":
        what = "Refused as no rule for this table" if newest.is_refused else "No hypothesis could be read"
        yield f"<p>{what}: {text(entry.why_unread or 'no reason is recorded')}.</p>"
    contradictions = newest.contradictions
    if contradictions:
        yield f"<p>{text(contradicted(newest, contradictions))}</p>"
        yield _contradictions(contradictions[:SHOWN_ROWS], entry.text)
        yield _other_rows(contradictions[SHOWN_ROWS:MOST_ROWS], entry.text, n_left=len(contradictions) - MOST_ROWS)
    elif newest.n_rows:
        yield f"<p>No row of {newest.n_rows} speaks against it.</p>"
    yield from (f'<p class="cap">{text(line)}</p>' for line in arithmetic(newest))
    yield _other_times(entry.occasions[1:])


def contradicted(occasion: Occasion, found: Sequence[Contradiction]) -> str:
    """How many rows speak against a text, and how many of them told it from the other."""
    n, of = len(found), counted(occasion.n_rows, "row")
    if isinstance(found[0].target, float):
        return f"On {integer(n)} of {of} it is further off than {_other(occasion)}."
    decisive = sum(each.is_decisive for each in found)
    said = f"{integer(n)} of {of} {'contradicts' if n == 1 else 'contradict'} it"
    if decisive == n:
        return f"{said}; {_other(occasion)} is right there."
    return f"{said}; {_other(occasion)} is right on {integer(decisive) if decisive else 'none'} of them."


def _other(occasion: Occasion) -> str:
    return "the text that stayed" if occasion.weight is None else "the heaviest"


def arithmetic(occasion: Occasion) -> Iterator[str]:
    """Eq. 9 in numbers, or the weight before the draw; natural logarithms."""
    if occasion.weight is not None:
        yield f"Weight {weight_text(occasion.weight)} before the particles were redrawn, no copy after."
        yield _likelihoods(occasion.log_likelihood, occasion.log_likelihood_heaviest, "the heaviest")
        return
    tempered = f", times φ = {number(occasion.exponent, 3)}" if occasion.exponent is not None else ""
    against = f"the text that stayed{tempered}"
    if occasion.log_alpha is not None:
        yield _likelihoods(occasion.log_likelihood_proposal, occasion.log_likelihood, against)
        yield f"log α = {fixed(occasion.log_alpha)} is below log u = {fixed(_log(occasion.u))}."
    elif occasion.log_alpha_bound is not None:
        yield (
            f"Rejected after {after_rows(occasion.n_answered, occasion.unanswered)}: log-likelihood at most "
            f"{_fixed(occasion.log_likelihood_bound)}, against {_fixed(occasion.log_likelihood)} of {against}."
        )
        yield f"log α, at most {fixed(occasion.log_alpha_bound)}, is below log u = {fixed(_log(occasion.u))}."


def _likelihoods(own: float | None, other: float | None, whose: str) -> str:
    return f"Log-likelihood {_fixed(own)}, against {_fixed(other)} of {whose}."


def _fixed(value: float | None) -> str:
    return "not recorded" if value is None else fixed(value)


def _log(u: float | None) -> float:
    return math.nan if u is None else math.log(u) if u > 0 else -math.inf


def _other_rows(rows: Sequence[Contradiction], said: str, *, n_left: int) -> str:
    if not rows:
        return ""
    left = f'<p class="cap">{counted(n_left, "further row")} not listed.</p>' if n_left > 0 else ""
    title = f"{counted(len(rows), 'more row')}{', the worst first' if len(rows) > 1 else ''}"
    return (
        f'<details class="par" data-fold="rows"><summary>{title}</summary>{_contradictions(rows, said)}{left}</details>'
    )


def _contradictions(rows: Sequence[Contradiction], said: str) -> str:
    head = "<tr><th>row</th><th>inputs</th><th>it said</th><th>true</th></tr>"
    body = "".join(_contradiction(row, said) for row in rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _contradiction(found: Contradiction, said: str) -> str:
    whole = inputs_line(found.row, len(found.row.inputs))
    return (
        f'<tr><td>{found.row.id}</td><td title="{text(whole)}">{text(told_inputs(found.row, said))}</td>'
        f"<td><b>{text(_answer(found.said))}</b></td><td>{text(_answer(found.target))}</td></tr>"
    )


def told_inputs(row: Row, said: str) -> str:
    """A row's inputs in a line: those that the hypothesis names, or the first ones where it names none."""
    named = [cell for cell in row.inputs if re.search(rf"(?<!\w){re.escape(cell[0])}(?!\w)", said)]
    shown = named[:MOST_INPUTS] or row.inputs[:MOST_INPUTS]
    rest = [cell for cell in row.inputs if cell not in shown]
    return inputs_line(replace(row, inputs=(*shown, *rest)), len(shown))


def _answer(value: Value | None) -> str:
    return number(value, 6) if isinstance(value, float) else value_text(value)


def _other_times(occasions: Sequence[Occasion]) -> str:
    if not occasions:
        return ""
    lines = [f"{_at(each)}{_by_how_much(each)}" for each in occasions[:MOST_OCCASIONS]]
    left = len(occasions) - len(lines)
    lines += [f"and {counted(left, 'time')} before"] if left else []
    title = "the other time" if len(occasions) == 1 else f"the {in_words(len(occasions))} other times"
    said = "".join(f'<p class="cap">{text(line)}</p>' for line in lines)
    return f'<details class="par" data-fold="times"><summary>{title}</summary>{said}</details>'


def _by_how_much(occasion: Occasion) -> str:
    if occasion.log_alpha is not None:
        return f": log α = {fixed(occasion.log_alpha)}, log u = {fixed(_log(occasion.u))}"
    if occasion.log_alpha_bound is not None:
        return f": log α at most {fixed(occasion.log_alpha_bound)}, log u = {fixed(_log(occasion.u))}"
    return f": weight {weight_text(occasion.weight)} before" if occasion.weight is not None else ""
