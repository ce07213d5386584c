"""A person's text beside a hypothesis on the same rows: the acceptance probability, and the rows won and lost."""

from collections.abc import Iterator, Sequence

from vpp.findings.ruled_out import against_words, inputs_words, log_text
from vpp.findings.slots import scored_rows
from vpp.posterior.prediction import Value
from vpp.problem import is_final_on_train
from vpp.runs.asking import Comparison, Rewording
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.blocks import Note, Say, Table
from vpp.show.cards import Version, Versions
from vpp.show.words import counted, integer, listed, number, percent, value_text

MOST_NAMED = 12
HEAD = ("row", "true", "before", "your text", "outcome", "inputs")
MOST_OPEN = 6


def rows_name(view: RunView, config: Config) -> str:
    """Name the rows that the population was last scored on: `training rows`, `rows of the buffer` or `batch rows`."""
    is_final = view.final is not None and is_final_on_train(config)
    return "training rows" if is_final else scored_rows(config)


def comparison_words(reworded: Rewording, compared: Comparison, rows: str) -> Iterator[str]:
    """Sentences: the acceptance probability, both log-likelihoods, and the rows that changed. rows: their name."""
    chance = f"Acceptance probability {percent(compared.acceptance)}"
    if compared.log_alpha == 0:
        yield f"{chance}: your text is at least as likely. An accept step takes it."
    else:
        yield f"{chance}: an accept step would take your text with this probability. No random number is drawn here."
    again = f", {len(compared.rows)} with repeats" if len(compared.rows) > compared.n_rows else ""
    against = against_words(compared.log_likelihood, None if reworded.exponent == 1 else reworded.exponent)
    yield f"Log-likelihood {log_text(compared.log_likelihood_new)} on {compared.n_rows:,} {rows}{again}, {against}"
    won, lost = _named("won", compared.won), _named("lost", compared.lost)
    yield f"{won}. {lost}. {_named('without a readable answer', compared.unread)}."


def _named(what: str, ids: Sequence[int]) -> str:
    names = listed(sorted(ids), most=MOST_NAMED)
    return f"{counted(len(ids), 'row') if ids else 'No row'} {what}{f' ({names})' if ids else ''}"


def comparison_blocks(reworded: Rewording, compared: Comparison, *, rows: str, seed_text: str) -> Iterator[object]:
    first, *others = comparison_words(reworded, compared, rows)
    yield Say(first)
    yield from map(Note, others)
    old, new = (text.removeprefix(seed_text).strip() for text in (reworded.old, reworded.new))
    yield Versions((Version(when="your text", before=old, after=new),))
    outcome = dict.fromkeys(compared.lost, "lost") | dict.fromkeys(compared.won, "won")
    lines = {
        row.id: (
            str(row.id),
            *(_answer(value) for value in (row.target, old.value, new.value)),
            outcome[row.id],
            inputs_words(row, reworded.new),
        )
        for row, old, new in zip(compared.rows, compared.old, compared.new, strict=True)
        if row.id in outcome
    }
    if lines:
        fold = f"{counted(len(lines), 'row')} won or lost" if len(lines) > MOST_OPEN else ""
        yield Table(head=HEAD, rows=list(lines.values()), name="rows won and lost", fold=fold)


def _answer(value: Value | None) -> str:
    return number(value, 6) if isinstance(value, float) else value_text(value)


def keeping_words(preparation: Preparation, old: str) -> str:
    """Sentences on the run that keeps the new text. old: the text that it replaces."""
    spec, copies = preparation.spec, preparation.spec.start.count(old)
    rest = f" {counted(copies, 'copy keeps', 'copies keep')} the old text." if copies else ""
    begins = "your text" if len(spec.start) == 1 else f"these {integer(len(spec.start))} hypotheses and your text"
    carried = "Weights are not carried over" if spec.config.is_weighted else "Its chains go on from there"
    return f"A new run begins with {begins} on the same rows.{rest} {carried}, and this run stays as it is."
