"""A trial in sentences and HTML: faithfulness, the worth of each clause, and what no rule is worth."""

from collections.abc import Sequence

from vpp.data.dataset import Row
from vpp.drawing.matrix import inputs_line
from vpp.inspection.slots import grouped
from vpp.posterior.metric import wilson
from vpp.trials.trial import ClauseWorth, MinimalPair, Obeyed, Trial, TriedIdea
from vpp.wording import markup
from vpp.wording.escaping import one_line
from vpp.wording.markup import text
from vpp.wording.words import counted, cut, integer, listed, number, percent, value_text, weight_text

FEW = 5
"""Fewer changed rows than this are too few for a verdict."""
HIGH, LOW = 0.9, 0.7
"""Rates from which the learner follows a sentence, and below which it does not."""
PAIRS_SHOWN = 8
LONGEST_CLAUSE = 90
SLIGHT = 0.05
"""A loss of log-likelihood below this counts as none."""


def faithful_words(found: Obeyed) -> str:
    """`38 of 40 (95 %; 83 % to 99 %)`, or that nothing could be changed."""
    if not found.n:
        return "none possible"
    low, high = wilson(found.obeyed, found.n)
    rate = f"{percent(found.obeyed / found.n)}; {percent(low)} to {percent(high)}"
    return f"{integer(found.obeyed)} of {integer(found.n)} ({rate})"


def verdict(trial: Trial) -> str:
    idea = trial.ideas[0]
    follows, gain = idea.must_change, idea.gain_over_no_rule
    if follows.n < FEW:
        obeys = "Too few answers are known to change with a cell to say whether the learner follows the heaviest idea."
    else:
        rate = follows.obeyed / follows.n
        how = "follows" if rate >= HIGH else "often follows" if rate >= LOW else "does not follow"
        obeys = f"The learner {how} the heaviest idea: {faithful_words(follows)} answers changed as it demands."
    rows = counted(len(trial.rows), "training row")
    if abs(gain) < SLIGHT:
        return f"{obeys} On {rows} it is worth no more than no rule at all."
    worth = "more" if gain > 0 else "less"
    return f"{obeys} On {rows} it is worth {number(abs(gain))} nats {worth} than no rule at all."


def unread_words(trial: Trial) -> str:
    """Say which ideas had no row whose answer must change; empty if none."""
    without = [place + 1 for place, idea in enumerate(trial.ideas) if not idea.must_change.n]
    if not without:
        return ""
    which = f"idea {without[0]}" if len(without) == 1 else f"ideas {listed(without)}"
    return (
        f"For {which}, no change is known that changes the answer: the sentence cannot be read by a program, or no row "
        "allows one."
    )


HEAD = ("idea", "weight", "answer must change", "answer must stay", "nats over no rule")
INTERVALS = "In brackets: the share, and its 95 % interval (Wilson)."


def table_rows(trial: Trial) -> list[tuple[str, ...]]:
    return [
        (
            str(place),
            weight_text(min(idea.weight, 1.0)),
            faithful_words(idea.must_change),
            faithful_words(idea.must_stay),
            number(idea.gain_over_no_rule),
        )
        for place, idea in enumerate(trial.ideas, 1)
    ]


def clause_rows(idea: TriedIdea) -> list[tuple[str, str]]:
    return [(each.text.strip(" ,;"), number(each.log_likelihood_lost)) for each in idea.clauses]


def hurting(idea: TriedIdea) -> list[ClauseWorth]:
    worst_first = sorted(idea.clauses, key=lambda each: each.log_likelihood_lost)
    return [each for each in worst_first if each.log_likelihood_lost <= -SLIGHT]


def hurting_words(place: int, clause: ClauseWorth) -> str:
    """Say how much better an idea explains the rows without a clause. place: number of the idea, from 1."""
    gain, words = number(-clause.log_likelihood_lost), cut(one_line(clause.text.strip(" ,;")), LONGEST_CLAUSE)
    return f"Without “{words}”, idea {place} explains the rows better by {gain} nats of log-likelihood."


def sentence_of(idea: TriedIdea, seed_text: str) -> str:
    return idea.text.removeprefix(seed_text).strip()


def trial_html(trial: Trial, seed_text: str) -> str:
    parts = [markup.table(HEAD, table_rows(trial), right=(1, 4))]
    parts.append(markup.caption(f"{INTERVALS} {unread_words(trial)}".strip()))
    for place, idea in enumerate(trial.ideas, 1):
        parts.append(markup.group(f"Idea {place}"))
        parts.append(f'<p class="hyp tried">{_marked(sentence_of(idea, seed_text), idea.clauses)}</p>')
        if not idea.clauses:
            parts.append(markup.caption("One clause: without it no rule is left."))
        elif sentence_of(idea, seed_text)[idea.clauses[-1].end :].strip(" .;,"):
            parts.append(markup.caption(f"Only the first {len(idea.clauses)} clauses are tested."))
    parts.append(markup.caption("Behind each clause: nats of log-likelihood lost without it, on the rows drawn."))
    if trial.pairs:
        parts += [markup.group("Minimal pairs: one cell that parts two ideas"), pairs_html(trial.pairs)]
    return "".join(parts)


def _marked(sentence: str, clauses: Sequence[ClauseWorth]) -> str:
    html, at = "", 0
    for each in clauses:
        lost = each.log_likelihood_lost
        tag = "mark" if lost >= SLIGHT else "span"
        html += text(sentence[at : each.start])
        html += f"<{tag}>{text(sentence[each.start : each.end])}</{tag}><sup>{text(number(lost, 3))}</sup>"
        at = each.end
    return html + text(sentence[at:])


def pairs_html(pairs: Sequence[MinimalPair]) -> str:
    alike = grouped(((pair.column, pair.before, pair.after, pair.ideas, pair.answers), pair) for pair in pairs)
    lines = []
    for first, *others in list(alike.values())[:PAIRS_SHOWN]:
        (one, other), (said, differs) = first.ideas, map(_said, first.answers)
        change = f"{first.column}: {_cell(first.before)} → {_cell(first.after)}"
        row = inputs_line(Row(id=0, inputs=first.inputs, target=None))
        more = f" (and {counted(len(others), 'row')} like it)" if others else ""
        lines.append((change, f"idea {one + 1}: {said}", f"idea {other + 1}: {differs}", f"{row}{more}"))
    return markup.table(("change", "one idea", "another", "changed row"), lines)


def _cell(cell: str | None) -> str:
    return "missing" if cell is None else cell


def _said(value: str | float | None) -> str:
    return "no answer" if value is None else value_text(value)
