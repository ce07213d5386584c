"""Another wording beside a particle's text: the comparison in sentences, and as a card with the rows that changed."""

import math
from collections.abc import Iterator, Sequence

from vpp.data.dataset import Dataset, Row
from vpp.drawing.comparison import grid
from vpp.drawing.deck import Card, Effect, deck_html, without_seed
from vpp.drawing.ledger import against_words, answer_text, log_text, relevant_inputs
from vpp.drawing.matrix import inputs_line
from vpp.inspection.slots import scored_rows
from vpp.posterior.metric import mean_squared_error
from vpp.problem import Prediction
from vpp.runs.asking import Comparison, Rewording
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.wording.markup import Mark, badge, caption, fold, saying, text
from vpp.wording.words import capitalised, counted, fixed, integer, listed, number, particles, percent, weight_text

MOST_NAMED = 12
"""Rows named by their ids; more are counted."""
SHOWN_ROWS = 6
"""Changed rows shown; the others are folded away."""
HEAD = ("row", "true", "particle’s text", "new text", "inputs")


def rows_name(view: RunView, config: Config) -> str:
    """Name the rows that the population was last scored on: `training rows`, `rows of the buffer` or `batch rows`."""
    is_final = view.final is not None and config.final_weights == "train"
    return "training rows" if is_final else scored_rows(config)


def button_words(n_rows: int, calls: int) -> str:
    return f"Score it on {counted(n_rows, 'row')}: {counted(calls, 'call') if calls else 'no call'}"


def chance_words(compared: Comparison) -> str:
    """`Acceptance probability 14 %: …`, the number that a drawn one would be compared with."""
    if compared.log_alpha == 0:
        return f"Acceptance probability {percent(1)}: the new text is at least as likely. An accept step takes it."
    return (
        f"Acceptance probability {percent(compared.acceptance)}: an accept step would take the new text with this "
        "probability. No random number is drawn here."
    )


def comparison_words(reworded: Rewording, compared: Comparison, rows: str) -> Iterator[str]:
    """Sentences: the acceptance probability, both log-likelihoods, and the rows that changed. rows: their name."""
    yield chance_words(compared)
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
    """`3 rows won (4, 17 and 22)`."""
    more = len(ids) - MOST_NAMED
    names = listed([*sorted(ids)[:MOST_NAMED], f"{integer(more)} more"] if more > 0 else sorted(ids))
    return f"{counted(len(ids), 'row') if ids else 'No row'} {what}{f' ({names})' if ids else ''}"


def comparison_html(reworded: Rewording, compared: Comparison, dataset: Dataset, *, rows: str, seed_text: str) -> str:
    first, *others = comparison_words(reworded, compared, rows)
    card = _card(reworded, compared, dataset, seed_text)
    return (
        saying(first)
        + "".join(map(caption, others))
        + deck_html([card], seed_text=seed_text)
        + _rows(reworded, compared)
    )


def _card(reworded: Rewording, compared: Comparison, dataset: Dataset, seed_text: str) -> Card:
    said, targets = [each.value for each in compared.new], [row.target for row in compared.rows]
    n_won, n_lost = len(compared.won), len(compared.lost)
    mark: Mark = "up" if n_won > n_lost else "down" if n_won < n_lost else "same"
    hits: tuple[bool | None, ...] = ()
    if dataset.task == "classification":
        hits = tuple(None if v is None else v == y for v, y in zip(said, targets, strict=True))
        score = f"{hits.count(True)}/{len(hits)} right"
    else:
        score = (
            f"off by {number(math.sqrt(mean_squared_error(said, targets, abstention_error=dataset.target_range)), 3)}"
        )
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
    said = {row.id: (row, old, new) for row, old, new in zip(compared.rows, compared.old, compared.new, strict=True)}
    won = badge("acc", "won"), compared.won
    lost = badge("rej", "lost"), compared.lost
    lines = [_row(*said[row], outcome, reworded.new) for outcome, ids in (won, lost) for row in sorted(ids)]
    head = "".join(f'<th scope="col">{words}</th>' for words in HEAD)
    first = grid("points", "Rows won and lost", head, "".join(lines[:SHOWN_ROWS])) if lines else ""
    left = lines[SHOWN_ROWS:]
    if not left:
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
    rest = (
        f" {capitalised(particles(copies))} {'keeps' if len(copies) == 1 else 'keep'} the old text." if copies else ""
    )
    begins = "the new text" if n == 1 else f"these {integer(n)} texts, the new one as particle {spec.reworded},"
    carried = "Weights are not carried over" if spec.config.is_weighted else "Its chains go on from there"
    return f"A new run begins with {begins} on the same rows.{rest} {carried}, and this run stays as it is."
