"""Ruled-out texts, described once for the pages and the report; and another wording beside a particle’s text."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vpp.data.dataset import Dataset, Row
from vpp.drawing.comparison import grid
from vpp.drawing.deck import Card, Effect, Hits, deck_html, without_seed
from vpp.drawing.matrix import inputs_line
from vpp.events import hypothesis_id
from vpp.inspection.ruled_out import REASONS, Contradiction, Occasion, Reason, RuledOut, lives_on
from vpp.inspection.slots import scored_rows
from vpp.posterior.metric import mean_squared_error
from vpp.posterior.prediction import Value
from vpp.problem import Prediction
from vpp.runs.asking import Comparison, Rewording
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.markup import Mark, badge, caption, fold, hypothesis, saying, text
from vpp.wording.words import (
    capitalised,
    counted,
    fixed,
    in_words,
    integer,
    listed,
    number,
    particles,
    percent,
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
MOST_ROWS = 40
MOST_STEPS = 20
MOST_INPUTS = 4
LONGEST_ANSWER = 400


# Summaries


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
    alike = "but others with the same answers were drawn then, or are held now"
    return f"{_texts(n)} not drawn in resampling, {alike}: chance decided, not the data."


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
        counts = {"drawn": past.drawn, "proposed": past.proposed, "accepted": past.accepted}
        counts[MARKS[entry.reason][1]] = entry.times
        yield ", ".join(f"{what} {_times(n)}" for what, n in counts.items() if n)
    if len(entry.steps) > 1:
        yield f"in all at {listed([step_words(step) for step in entry.steps], most=MOST_STEPS)}"


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
    if others := rows[SHOWN_ROWS:MOST_ROWS]:
        n_left = len(rows) - MOST_ROWS
        left = caption(f"{counted(n_left, 'further row')} not listed.") if n_left > 0 else ""
        title = f"{counted(len(others), 'more row')}{', the worst first' if len(others) > 1 else ''}"
        yield fold("rows", title, _rows_table(others, entry.text) + left)
    yield from map(caption, shown.arithmetic)


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


# Another wording: the comparison in sentences, and as a card with the rows that changed


MOST_NAMED = 12
SHOWN_CHANGES = 6
HEAD = ("row", "true", "particle’s text", "new text", "inputs")


def rows_name(view: RunView, config: Config) -> str:
    """Name the rows that the population was last scored on: `training rows`, `rows of the buffer` or `batch rows`."""
    is_final = view.final is not None and config.is_final_on_train
    return "training rows" if is_final else scored_rows(config)


def button_words(n_rows: int, calls: int) -> str:
    return f"Score it on {counted(n_rows, 'row')}: {counted(calls, 'call') if calls else 'no call'}"


def comparison_words(reworded: Rewording, compared: Comparison, rows: str) -> Iterator[str]:
    """Sentences: the acceptance probability, both log-likelihoods, and the rows that changed. rows: their name."""
    chance = f"Acceptance probability {percent(compared.acceptance)}"
    if compared.log_alpha == 0:
        yield f"{chance}: the new text is at least as likely. An accept step takes it."
    else:
        would = "an accept step would take the new text with this probability"
        yield f"{chance}: {would}. No random number is drawn here."
    again = f", {len(compared.rows)} with repeats" if len(compared.rows) > compared.n_rows else ""
    exponent = None if reworded.exponent == 1 else reworded.exponent
    against = against_words(compared.log_likelihood, exponent)
    n = f"{compared.n_rows:,} {rows}"
    yield f"Log-likelihood {log_text(compared.log_likelihood_new)} on {n}{again}, {against}"
    difference = reworded.exponent * (compared.log_likelihood_new - compared.log_likelihood)
    if math.isfinite(difference):
        yield f"α = min(1, exp({fixed(difference)})), which is {weight_text(compared.acceptance)}."
    won, lost = _named("won", compared.won), _named("lost", compared.lost)
    unread = _named("without a readable answer", compared.unread)
    yield f"{won}. {lost}. {unread}."


def _named(what: str, ids: Sequence[int]) -> str:
    names = listed(sorted(ids), most=MOST_NAMED)
    return f"{counted(len(ids), 'row') if ids else 'No row'} {what}{f' ({names})' if ids else ''}"


def comparison_html(reworded: Rewording, compared: Comparison, dataset: Dataset, *, rows: str, seed_text: str) -> str:
    first, *others = comparison_words(reworded, compared, rows)
    deck = deck_html([_card(reworded, compared, dataset, seed_text)], seed_text=seed_text)
    return f"{saying(first)}{''.join(map(caption, others))}{deck}{_rows(reworded, compared)}"


def _card(reworded: Rewording, compared: Comparison, dataset: Dataset, seed_text: str) -> Card:
    said, targets = [each.value for each in compared.new], [row.target for row in compared.rows]
    n_won, n_lost = len(compared.won), len(compared.lost)
    mark: Mark = "up" if n_won > n_lost else "down" if n_won < n_lost else "same"
    hits: Hits = ()
    if dataset.task == "classification":
        hits = tuple(None if v is None else v == y for v, y in zip(said, targets, strict=True))
        score = f"{hits.count(True)}/{len(hits)} right"
    else:
        error = mean_squared_error(said, targets, abstention_error=dataset.target_range)
        score = f"off by {number(math.sqrt(error), 3)}"
    return Card(
        slot=reworded.slot,
        sentence=without_seed(reworded.new, seed_text),
        parent=without_seed(reworded.old, seed_text),
        is_chain=True,
        log_likelihood=compared.log_likelihood_new,
        n_rows=len(compared.rows),
        marks=(("", "yours"),),
        effect=Effect(mark=mark, words=f"{n_won} won, {n_lost} lost", n_rows=compared.n_rows),
        hits=hits,
        rail=(score,),
    )


def _rows(reworded: Rewording, compared: Comparison) -> str:
    pairs = {row.id: (row, old, new) for row, old, new in zip(compared.rows, compared.old, compared.new, strict=True)}
    won, lost = (badge("acc", "won"), compared.won), (badge("rej", "lost"), compared.lost)
    lines = [_row(*pairs[row], outcome, reworded.new) for outcome, ids in (won, lost) for row in sorted(ids)]
    head = "".join(f'<th scope="col">{words}</th>' for words in HEAD)
    first = grid("points", "Rows won and lost", head, "".join(lines[:SHOWN_CHANGES])) if lines else ""
    if not (left := lines[SHOWN_CHANGES:]):
        return first
    return first + fold("rows", counted(len(left), "more row"), grid("points", "More rows", head, "".join(left)))


def _row(row: Row, old: Prediction, new: Prediction, outcome: str, hypothesis: str) -> str:
    true, was, now = (text(answer_text(answer)) for answer in (row.target, old.value, new.value))
    return (
        f'<tr><td class="num">{row.id}</td><td>{true}</td><td>{was}</td><td>{now} {outcome}</td>'
        f'<td title="{text(inputs_line(row, len(row.inputs)))}">{text(relevant_inputs(row, hypothesis))}</td></tr>'
    )


def keeping_words(preparation: Preparation, old: str) -> str:
    """Sentences on the run that keeps the new text. old: the text that it replaces."""
    spec, n = preparation.spec, len(preparation.spec.start)
    copies = [slot for slot, text in enumerate(spec.start) if text == old]
    keep = "keeps" if len(copies) == 1 else "keep"
    rest = f" {capitalised(particles(copies))} {keep} the old text." if copies else ""
    begins = "the new text" if n == 1 else f"these {integer(n)} texts, the new one as particle {spec.reworded},"
    carried = "Weights are not carried over" if spec.config.is_weighted else "Its chains go on from there"
    return f"A new run begins with {begins} on the same rows.{rest} {carried}, and this run stays as it is."
