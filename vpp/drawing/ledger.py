"""Ruled-out texts, described once for the pages and the report; and another wording beside a particle’s text."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vpp.data.dataset import Dataset, Row
from vpp.drawing.comparison import grid
from vpp.drawing.matrix import inputs_line
from vpp.events import hypothesis_id
from vpp.findings.ruled_out import REASONS, Occasion, Reason, RuledOut
from vpp.findings.slots import scored_rows
from vpp.posterior.metric import mean_squared_error
from vpp.posterior.prediction import Value
from vpp.problem import Prediction, is_final_on_train
from vpp.runs.asking import Comparison, Rewording
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.deck import Card, Hits, deck_html, without_seed
from vpp.show.markup import Mark, badge, caption, fold, hypothesis, saying, text
from vpp.show.words import (
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
MOST_ROWS = 6
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


def _texts(n: int) -> str:
    return f"{capitalised(in_words(n))} {'text was' if n == 1 else 'texts were'}"


# One text


def status_of(entry: RuledOut) -> tuple[Mark, str]:
    return ("abs", "refused") if entry.newest.is_refused else MARKS[entry.reason]


def why_words(entry: RuledOut, survivors: Mapping[str, int]) -> str:
    """`Step 3, particle 1, twice in all. 2 of 10 rows contradict it (rows 4 and 9); the heaviest is right there.`

    It holds text from outside. survivors: current idea with the same answers, by hypothesis id, from 0.
    """
    newest = entry.newest
    when = [step_words(newest.step), particles(newest.particles)]
    when += [f"weight {weight_text(newest.weight)}"] if newest.weight is not None else []
    when += [f"{_times(entry.times)} in all"] if entry.times > 1 else []
    return " ".join((capitalised(f"{', '.join(when)}."), _verdict(entry), *_notes(entry, survivors))).strip()


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n) or f"{in_words(n)} times"


def _notes(entry: RuledOut, survivors: Mapping[str, int]) -> Iterator[str]:
    if entry.held_by:
        yield f"The same words are held by {particles(entry.held_by)} now."
    elif (number := survivors.get(hypothesis_id(entry.text))) is not None:
        yield f"On all rows compared it answers like idea {number + 1}, which survived."


def _verdict(entry: RuledOut) -> str:
    newest = entry.newest
    if entry.reason == "unparsable":
        what = "Refused as no rule for this table" if newest.is_refused else "No hypothesis could be read"
        return f"{what}: {entry.why_unread or 'no reason is recorded'}."
    rows = newest.contradictions
    if not rows:
        return f"None of {counted(newest.n_rows, 'row')} contradicts it." if newest.n_rows else ""
    n, of = len(rows), counted(newest.n_rows, "row")
    named = f"({'row' if n == 1 else 'rows'} {listed([each.row.id for each in rows], most=MOST_ROWS)})"
    other = "the text that stayed" if newest.weight is None else "the heaviest"
    if isinstance(rows[0].row.target, float):
        return f"On {integer(n)} of {of} it is further off than {other} {named}."
    decisive = sum(each.is_decisive for each in rows)
    where = "there" if decisive == n else f"on {integer(decisive) if decisive else 'none'} of them"
    return f"{integer(n)} of {of} {'contradicts' if n == 1 else 'contradict'} it {named}; {other} is right {where}."


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


def ruled_out_html(entries: Sequence[RuledOut], *, seed_text: str, survivors: Mapping[str, int]) -> str:
    """A list of the texts, with a line each on why. survivors: see `why_words`."""
    items = (
        f'<li class="out">{badge(*status_of(entry))}<div>{_quote(entry, seed_text)}</div>'
        f"{caption(why_words(entry, survivors))}</li>"
        for entry in entries
    )
    return f'<ul class="ledger">{"".join(items)}</ul>'


def _quote(entry: RuledOut, seed_text: str) -> str:
    if entry.reason != "unparsable":
        return hypothesis(without_seed(entry.text, seed_text))
    if not entry.text.strip():
        return caption("an empty answer")
    whole = f'<pre class="raw">{text(entry.text)}</pre>'
    if len(entry.text) <= LONGEST_ANSWER:
        return whole
    return f'<pre class="raw">{text(entry.text[:LONGEST_ANSWER])} …</pre>{fold("answer", "the whole answer", whole)}'


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
    is_final = view.final is not None and is_final_on_train(config)
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
    deck = deck_html([_card(reworded, compared, dataset, seed_text)])
    return f"{saying(first)}{''.join(map(caption, others))}{deck}{_rows(reworded, compared)}"


def _card(reworded: Rewording, compared: Comparison, dataset: Dataset, seed_text: str) -> Card:
    said, targets = [each.value for each in compared.new], [row.target for row in compared.rows]
    hits: Hits = ()
    if dataset.task == "classification":
        hits = tuple(None if v is None else v == y for v, y in zip(said, targets, strict=True))
        score = f"{hits.count(True)}/{len(hits)} right"
    else:
        error = mean_squared_error(said, targets, abstention_error=dataset.target_range)
        score = f"off by {number(math.sqrt(error), 3)}"
    return Card(
        number=reworded.slot,
        sentence=without_seed(reworded.new, seed_text),
        before=without_seed(reworded.old, seed_text),
        is_chain=True,
        value=log_text(compared.log_likelihood_new),
        marks=(("", "yours"),),
        hits=hits,
        score=score,
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
