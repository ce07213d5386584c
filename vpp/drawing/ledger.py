"""Ruled-out texts: each one described in plain text, once for the pages and the report, and drawn as HTML."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vpp.data.dataset import Row
from vpp.drawing.deck import without_seed
from vpp.drawing.matrix import inputs_line
from vpp.events import hypothesis_id
from vpp.inspection.ruled_out import REASONS, Contradiction, Occasion, Reason, RuledOut, lives_on
from vpp.posterior.prediction import Value
from vpp.settings import Config
from vpp.wording.markup import Mark, badge, caption, fold, hypothesis, text
from vpp.wording.words import (
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    particles,
    step_words,
    value_text,
    weight_text,
)

MARKS: dict[Reason, tuple[Mark, str]] = {
    "rejected": ("rej", "rejected"),
    "resampled away": ("gone", "resampled away"),
    "unparsable": ("abs", "unreadable"),
}
NOT_DRAWN: tuple[Mark, str] = ("copy", "not drawn")
"""Status of a text that was resampled away although its idea was kept."""
SHOWN_ROWS = 3
"""Rows shown with an entry; a page folds the others away."""
MOST_ROWS = 40
"""Rows listed in all."""
MOST_STEPS = 20
"""Steps named of one entry."""
MOST_INPUTS = 4
LONGEST_ANSWER = 400
"""Characters of an unreadable answer shown outside a fold."""


# Summaries


def reason_counts(entries: Sequence[RuledOut]) -> dict[Reason, str]:
    """`Rejected 12`, `Resampled away 5`, `Unreadable 2`; reasons without an entry are left out."""
    counts = Counter(entry.reason for entry in entries)
    return {
        reason: f"{capitalised(MARKS[reason][1])} {integer(counts[reason])}" for reason in REASONS if counts[reason]
    }


def counts_words(entries: Sequence[RuledOut]) -> str:
    """`12 rejected, 5 resampled away and 2 unreadable`."""
    counts = Counter(entry.reason for entry in entries)
    return listed([f"{integer(counts[reason])} {MARKS[reason][1]}" for reason in REASONS if counts[reason]])


def ruled_out_sentence(entries: Sequence[RuledOut], config: Config) -> str:
    """`Twelve texts were ruled out.`, not counting unreadable answers; empty if the method rules out nothing."""
    n = sum(entry.reason != "unparsable" for entry in entries)
    if n:
        return f"{_texts(n)} ruled out."
    return "Nothing was ruled out." if config.is_filtered or config.method == "smc" else ""


def lived_on_sentence(n: int) -> str:
    """Reason why texts dropped by chance are not listed as ruled out. n: at least 1."""
    return (
        f"{_texts(n)} not drawn in resampling, but others with the same answers were drawn then, or are "
        "held now: chance decided, not the data."
    )


def _texts(n: int) -> str:
    return f"{capitalised(in_words(n))} {'text was' if n == 1 else 'texts were'}"


# One text


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Fate of a ruled-out text, in plain text. It holds text from outside, which the renderers escape."""

    status: tuple[Mark, str]
    history: tuple[str, ...]
    """`last at step 3, particle 1`, how often it was proposed and rejected in the whole run, and at which steps."""
    notes: tuple[str, ...]
    """Sentences on who holds the text, or gives its answers, all the same."""
    verdict: str
    """Sentence on the rows that contradict it, or on why it could not be read."""
    arithmetic: tuple[str, ...]
    """Sentences with the numbers of the decision."""


def finding(entry: RuledOut, survivors: Mapping[str, int]) -> Finding:
    """Describe a ruled-out text. survivors: current idea with the same answers, by hypothesis id, from 0."""
    newest = entry.newest
    mark, words = NOT_DRAWN if lives_on(entry, survivors) else MARKS[entry.reason]
    return Finding(
        status=(mark, "refused" if newest.is_refused else words),
        history=tuple(_history(entry)),
        notes=tuple(_notes(entry, survivors)),
        verdict=_verdict(entry),
        arithmetic=tuple(arithmetic(newest)),
    )


def _history(entry: RuledOut) -> Iterator[str]:
    last_at = "last at " if entry.times > 1 else ""
    yield f"{last_at}{step_words(entry.newest.step)}, {particles(entry.newest.particles)}"
    past, is_plain = entry.past, entry.times == 1 and entry.past.drawn + entry.past.proposed <= 1
    if entry.reason == "unparsable":
        yield from [f"answered {_times(entry.times)}"] if entry.times > 1 else []
    elif not is_plain:
        counts = {
            "drawn": past.drawn,
            "proposed": past.proposed,
            "accepted": past.accepted,
            MARKS[entry.reason][1]: entry.times,
        }
        yield ", ".join(f"{what} {_times(n)}" for what, n in counts.items() if n)
    if len(entry.steps) > 1:
        named = [step_words(step) for step in entry.steps[:MOST_STEPS]]
        left = len(entry.steps) - len(named)
        yield f"in all at {listed([*named, f'{left} more'] if left else named)}"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n) or f"{in_words(n)} times"


def _notes(entry: RuledOut, survivors: Mapping[str, int]) -> Iterator[str]:
    if entry.held_by:
        yield f"The same words are held by {particles(entry.held_by)} now."
    elif (number := survivors.get(hypothesis_id(entry.text))) is not None:
        yield f"On all rows compared it answers like idea {number + 1}, which survived."
    elif lives_on(entry, survivors):
        drawn, rows = entry.newest.alike, counted(entry.newest.n_rows, "row")
        answer = "answers" if len(drawn) == 1 else "answer"
        yield f"{capitalised(particles(drawn))}, drawn then, {answer} alike on all {rows}: chance left this text out."


def _verdict(entry: RuledOut) -> str:
    newest = entry.newest
    if entry.reason == "unparsable":
        what = "Refused as no rule for this table" if newest.is_refused else "No hypothesis could be read"
        return f"{what}: {entry.why_unread or 'no reason is recorded'}."
    rows = newest.contradictions
    if not rows:
        return f"None of {counted(newest.n_rows, 'row')} contradicts it." if newest.n_rows else ""
    n, of = len(rows), counted(newest.n_rows, "row")
    other = "the text that stayed" if newest.weight is None else "the heaviest"
    if isinstance(rows[0].row.target, float):
        return f"On {integer(n)} of {of} it is further off than {other}."
    decisive = sum(each.is_decisive for each in rows)
    where = "there" if decisive == n else f"on {integer(decisive) if decisive else 'none'} of them"
    return f"{integer(n)} of {of} {'contradicts' if n == 1 else 'contradict'} it; {other} is right {where}."


def arithmetic(occasion: Occasion) -> Iterator[str]:
    """Eq. 9 in numbers, or the weight before resampling; natural logarithms."""
    own, other = log_text(occasion.log_likelihood), log_text(occasion.log_likelihood_heaviest)
    if occasion.weight is not None:
        yield f"Weight {weight_text(occasion.weight)} before the particles were redrawn, no copy after."
        yield f"Log-likelihood {own}, against {other} of the heaviest."
        return
    if occasion.u is None:
        return
    proposal = log_text(occasion.log_likelihood_proposal)
    log_u = math.log(occasion.u) if occasion.u > 0 else -math.inf
    against = against_words(occasion.log_likelihood, occasion.exponent)
    if occasion.log_alpha is not None:
        yield f"Log-likelihood {proposal}, {against}"
        compared = "is below" if occasion.log_alpha < log_u else "is not below"
        yield f"log α = {fixed(occasion.log_alpha)} {compared} log u = {fixed(log_u)}."


def against_words(log_likelihood: float | None, exponent: float | None = None) -> str:
    """`against −10.30 of the text it would replace.` exponent: of a tempered likelihood; None if 1."""
    tempered = f", times φ = {number(exponent, 3)}" if exponent is not None else ""
    return f"against {log_text(log_likelihood)} of the text it would replace{tempered}."


def log_text(value: float | None) -> str:
    """A natural logarithm."""
    return "not recorded" if value is None else fixed(value)


def answer_text(value: Value | None) -> str:
    return number(value, 6) if isinstance(value, float) else value_text(value)


# HTML


def ruled_out_html(entries: Sequence[RuledOut], *, seed_text: str, survivors: Mapping[str, int] | None = None) -> str:
    """An article per entry, to be drawn as a deck.

    survivors: current idea with the same answers, by hypothesis id, from 0.
    """
    return "".join(_article(entry, finding(entry, survivors or {}), seed_text) for entry in entries)


def _article(entry: RuledOut, shown: Finding, seed_text: str) -> str:
    key = hypothesis_id(f"{entry.reason}\n{entry.why_unread}\n{entry.text}")
    history, notes = ("".join(map(caption, lines)) for lines in (shown.history, shown.notes))
    return (
        f'<article class="out" data-key="{key}" aria-label="{text(shown.status[1])}"><div>{badge(*shown.status)}'
        f"{history}</div><div>{_quote(entry, seed_text)}{notes}</div>"
        f'<div class="why">{"".join(_why(entry, shown))}</div></article>'
    )


def _quote(entry: RuledOut, seed_text: str) -> str:
    if entry.reason != "unparsable":
        return hypothesis(without_seed(entry.text, seed_text))
    if not entry.text.strip():
        return caption("an empty answer")
    whole = f'<pre class="raw">{text(entry.text)}</pre>'
    if len(entry.text) <= LONGEST_ANSWER:
        return whole
    return f'<pre class="raw">{text(entry.text[:LONGEST_ANSWER])} …</pre>{fold("answer", "the whole answer", whole)}'


def _why(entry: RuledOut, shown: Finding) -> Iterator[str]:
    rows = entry.newest.contradictions
    if shown.verdict:
        yield f"<p>{text(shown.verdict)}</p>"
    if rows:
        yield _rows_table(rows[:SHOWN_ROWS], entry.text)
        yield _other_rows(rows[SHOWN_ROWS:MOST_ROWS], entry.text, n_left=len(rows) - MOST_ROWS)
    yield from map(caption, shown.arithmetic)


def _other_rows(rows: Sequence[Contradiction], hypothesis: str, *, n_left: int) -> str:
    if not rows:
        return ""
    left = caption(f"{counted(n_left, 'further row')} not listed.") if n_left > 0 else ""
    title = f"{counted(len(rows), 'more row')}{', the worst first' if len(rows) > 1 else ''}"
    return fold("rows", title, _rows_table(rows, hypothesis) + left)


def _rows_table(rows: Sequence[Contradiction], hypothesis: str) -> str:
    head = "<tr><th>row</th><th>inputs</th><th>it said</th><th>true</th></tr>"
    body = "".join(
        f'<tr><td>{each.row.id}</td><td title="{text(inputs_line(each.row, len(each.row.inputs)))}">'
        f"{text(relevant_inputs(each.row, hypothesis))}</td>"
        f"<td><b>{text(answer_text(each.said))}</b></td><td>{text(answer_text(each.row.target))}</td></tr>"
        for each in rows
    )
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def relevant_inputs(row: Row, hypothesis: str) -> str:
    """A row's inputs in a line: those that the hypothesis names, or the first ones if it names none."""
    named = [cell for cell in row.inputs if re.search(rf"(?<!\w){re.escape(cell[0])}(?!\w)", hypothesis)]
    shown = named[:MOST_INPUTS] or row.inputs[:MOST_INPUTS]
    rest = [cell for cell in row.inputs if cell not in shown]
    return inputs_line(replace(row, inputs=(*shown, *rest)), len(shown))
