"""The report's account of what the data ruled out: each text whole, when, by how much, and the rows that decided it."""

import math
from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset
from vpp.inspection.ideas import Ideas, survivors
from vpp.inspection.ruled_out import Occasion, RuledOut, parted, rejected, resampled_away, unparsable
from vpp.reporting.markdown_cells import answer_cell, inputs_cell, log_text
from vpp.runs.view import RunView
from vpp.wording.escaping import markdown_quote, markdown_table, markdown_text
from vpp.wording.words import (
    after_rows,
    capitalised,
    counted,
    in_words,
    integer,
    listed,
    number,
    particles,
    weight_text,
)

MOST_TEXTS = 40
"""Texts told for each reason, the newest; posterior.json has all."""
WORST_ROWS = 3
"""Rows shown beside a hypothesis that was ruled out."""


def what_was_ruled_out(view: RunView, dataset: Dataset, ideas: Ideas | None) -> Iterator[str]:
    """Texts rejected, resampled away or not readable, newest first, with the rows that speak against each."""
    gone, lived_on = parted(resampled_away(view, dataset), survivors(view, ideas) if ideas else {})
    kinds = {
        "Rejected": rejected(view, dataset),
        "Resampled away": gone,
        "Not readable": unparsable(view),
        "Not drawn, though others with the same answers were drawn then or are held now": lived_on,
    }
    if not any(kinds.values()):
        yield f"Nothing{'' if view.has_ended else ' so far'}: no text was rejected, resampled away or unreadable."
    for title, found in kinds.items():
        yield from _kind(title, found)


def _kind(title: str, found: Sequence[RuledOut]) -> Iterator[str]:
    if found:
        times = sum(each.times for each in found)
        yield f"### {title}: {counted(len(found), 'text')}, {counted(times, 'time')} in all"
    for each in found[:MOST_TEXTS]:
        yield from _ruled_out(each)
    if len(found) > MOST_TEXTS:
        yield f"And {integer(len(found) - MOST_TEXTS)} more: posterior.json has all."


def _ruled_out(out: RuledOut) -> Iterator[str]:
    yield markdown_quote(out.text)
    yield " ".join(filter(None, (_when(out), _still_held(out), _why(out))))
    shown = out.newest.contradictions[:WORST_ROWS]
    if shown:
        rows = [(str(c.row.id), inputs_cell(c.row), answer_cell(c.said), answer_cell(c.target)) for c in shown]
        yield markdown_table(("row", "inputs", "it said", "true"), rows, right=(0,))


def _when(out: RuledOut) -> str:
    at = [f"step {step}" if step >= 0 else "the first draw" for step in out.steps]
    times = f", {in_words(out.times)} times in all, last" if out.times > 1 else ","
    return f"{capitalised(listed(at))}{times} {particles(out.newest.particles)}."


def _still_held(out: RuledOut) -> str:
    return f"The same words are held by {particles(out.held_by)} now." if out.held_by else ""


def _why(out: RuledOut) -> str:
    if out.reason == "unparsable":
        what = "Refused as no rule for this table" if out.newest.is_refused else "No hypothesis could be read"
        return f"{what}: {markdown_text(out.why_unread or 'no reason is recorded')}."
    arithmetic = _weight_before if out.reason == "resampled away" else _decision
    return f"{arithmetic(out.newest)} {_contradicted(out.newest)}".strip()


def _weight_before(occasion: Occasion) -> str:
    return f"Weight {weight_text(occasion.weight or 0.0)} before, no copy after."


def _decision(occasion: Occasion) -> str:
    """Eq. 9 in numbers; where the target is tempered, with its exponent."""
    own, other = log_text(occasion.log_likelihood_proposal), log_text(occasion.log_likelihood)
    tempered = "" if occasion.exponent is None else f", times φ = {number(occasion.exponent, 3)}"
    if occasion.log_alpha_bound is not None:
        return (
            f"Rejected after {after_rows(occasion.n_answered, occasion.unanswered)}: log-likelihood at most "
            f"{log_text(occasion.log_likelihood_bound)}, against {other} of the text that stayed{tempered}: "
            f"log α, at most {log_text(occasion.log_alpha_bound)}, is below log u = {log_text(_log_of(occasion.u))}."
        )
    return (
        f"Log-likelihood {own}, against {other} of the text that stayed{tempered}: "
        f"log α = {log_text(occasion.log_alpha)} is below log u = {log_text(_log_of(occasion.u))}."
    )


def _log_of(u: float | None) -> float | None:
    return None if u is None else math.log(u) if u > 0 else -math.inf


def _contradicted(occasion: Occasion) -> str:
    n = len(occasion.contradictions)
    if n == 0:
        return ""
    some = f"; {in_words(WORST_ROWS)} of them" if n > WORST_ROWS else ""
    return f"{integer(n)} of {counted(occasion.n_rows, 'row')} {'speaks' if n == 1 else 'speak'} against it{some}:"
