"""Answers to rows that a person asks about, and the rows whose labels would tell most."""

import math
from collections.abc import Sequence

from vpp.data.columns import is_number
from vpp.data.dataset import Dataset, Row
from vpp.data.labelling import Field
from vpp.findings.points import Question, Vote
from vpp.findings.rows import (
    answer_words,
    cells_of,
    columns_by_use,
    mean_words,
    own_words,
    possible_words,
    reason_words,
    vote_of,
)
from vpp.findings.scores import grouped
from vpp.findings.trust import possible_sentence
from vpp.inference.plan import Plan
from vpp.posterior.prediction import Value, leaders
from vpp.runs.asking import Answers
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.show.blocks import Metric, Metrics, Note, Say, Table, count_metric
from vpp.show.matrix import RowBrief
from vpp.show.words import (
    capitalised,
    counted,
    cut,
    fixed,
    in_words,
    integer,
    listed,
    percent,
    seconds,
    shortest,
    value_text,
)

MOST_NOTES, MOST_NAMED, MOST_INPUTS = 4, 4, 6
LONGEST = 240
"""Characters of a reason under the headline; the table has all of it."""
LONGEST_CELL = 60
LITTLE = 0.005
"""Bits below this read as 0.00."""
BRIEF = 3
"""Inputs of a row to label, the deciding ones."""


# One row


def answer_blocks(
    vote: Vote, answers: Answers, dataset: Dataset, fields: Sequence[Field], seed_text: str, *, is_weighted: bool
) -> tuple[object, ...]:
    """Return the answer with its share, the vote, why others say otherwise, and what each hypothesis says."""
    decimals, conformal = dataset.target_decimals, vote.reject.conformal
    words = (
        possible_sentence(vote, conformal, decimals) if conformal and vote.voices else "",
        dissent(vote, decimals),
        outside_words(fields, vote.row),
        _known(vote.row, dataset),
        reason_words(vote.said[0]) if len(vote.said) == 1 else "",
    )
    blocks: list[object] = [Say(headline(vote, decimals, is_weighted=is_weighted))]
    if len(vote.shares) > 1:
        blocks.append(vote_of(vote, decimals))
    blocks += [Note(each) for each in words if each]
    if len(vote.said) > 1:
        blocks.append(_sayings(vote, answers.texts, seed_text, decimals, is_weighted=is_weighted))
    return tuple(blocks)


def headline(vote: Vote, decimals: int | None, *, is_weighted: bool) -> str:
    """`yes (99 %)`, `2.7 (2 to 4)`, `I don’t know: yes leads (60 %)`. decimals: of the training targets."""
    if not vote.voices:
        with_weight = " with weight" if vote.prediction is not None else ""
        return f"No hypothesis{with_weight} gave a readable answer."
    if not vote.is_label:
        return f"{'I don’t know; about ' if vote.is_unknown else ''}{mean_words(vote, decimals)}"
    if vote.reject.conformal and vote.is_undecided:
        return f"I don’t know: {possible_words(vote)}"
    if len(vote.said) == 1 and not vote.mixture.noise:
        return f"{vote.prediction}"
    share = percent(vote.behind)
    if not is_weighted and not vote.mixture.noise:
        share = f"{integer(sum(said.value == vote.prediction for said in vote.said))} of {integer(len(vote.said))}"
    if vote.leader is None:
        return f"I don’t know: {listed(leaders(dict(vote.shares)))} are tied ({share} each)"
    return f"I don’t know: {vote.leader} leads ({share})" if vote.is_unknown else f"{vote.prediction} ({share})"


def dissent(vote: Vote, decimals: int | None = None) -> str:
    """What the heaviest hypothesis says that says otherwise; for numbers the lowest and the highest answer."""
    if vote.is_label:
        others = [slot for slot in vote.voices if vote.leader not in (vote.votes[slot], None)]
        return f"The heaviest of the others says {_says(vote, others[0])}" if others else ""
    if not vote.voices or vote.doubt == 0:
        return ""
    by_value = sorted(vote.voices, key=lambda slot: float(vote.said[slot].value or 0.0))
    low, high = (_says(vote, slot, decimals) for slot in (by_value[0], by_value[-1]))
    return f"The lowest answer is {low} The highest is {high}"


def _says(vote: Vote, slot: int, decimals: int | None = None) -> str:
    prediction = vote.said[slot]
    why = " ".join(prediction.explanation.split())
    short = why if len(why) <= LONGEST else f"{why[:LONGEST].rsplit(' ', 1)[0]} …"
    return f"{answer_words(prediction.value, decimals)}{f': “{short}”' if short else '.'}"


def _sayings(vote: Vote, texts: Sequence[str], seed_text: str, decimals: int | None, *, is_weighted: bool) -> Table:
    """A line for each hypothesis, heaviest first. texts: (K,)."""
    groups = grouped((hypothesis, slot) for slot, hypothesis in enumerate(texts))

    def held(slots: Sequence[int]) -> float:
        return math.fsum(vote.weights[slot] for slot in slots)

    lines = [
        (
            percent(min(held(slots), 1.0)) if is_weighted else integer(len(slots)),
            answer_words(vote.said[slots[0]].value, decimals),
            reason_words(vote.said[slots[0]]) or "no reason given",
            own_words(hypothesis, seed_text),
        )
        for hypothesis, slots in sorted(groups.items(), key=lambda group: -held(group[1]))
    ]
    head = ("weight" if is_weighted else "copies", "answer", "reason", "hypothesis")
    return Table(head=head, rows=lines, right=(0,), name="answers to this row", fold="What each hypothesis says")


def outside_words(fields: Sequence[Field], row: Row) -> str:
    """Warn of inputs beyond the training rows, `a is 99; the training rows have 1 to 12.`; empty without any."""
    notes = []
    for field, (name, cell) in zip(fields, row.inputs, strict=True):
        if cell is None or not field.is_outside(cell):
            continue
        if field.column.kind == "category":
            notes.append(f"{name} is “{cell}”, which no training row has.")
        elif is_number(cell):
            notes.append(f"{name} is {cell}; the training rows have {field.low} to {field.high}.")
        else:
            notes.append(f"{name} is “{cell}”, where the training rows have numbers.")
    if not notes:
        return ""
    more = f"And {counted(len(notes) - MOST_NOTES, 'other input')}." if len(notes) > MOST_NOTES else ""
    return " ".join(filter(None, ("Outside the data:", *notes[:MOST_NOTES], more)))


def _known(row: Row, dataset: Dataset) -> str:
    known = next((each for each in dataset.labelled if each.inputs == row.inputs), None)
    return (
        f"Row {known.id} of the data has these inputs; its true value is {value_text(known.target)}." if known else ""
    )


def asked_words(step: int | None, weights: Sequence[float], view: RunView, took_s: float) -> str:
    """Return how long it took, and the step if the run has gone on since. step, weights: of the answers."""
    took = f"Answered in {seconds(took_s)}." if took_s >= 1 else ""
    if step is None or (view.last_step == step and tuple(weights) == view.weights):
        return took
    when = "the first hypotheses" if step < 0 else f"step {step + 1}"
    return f"{took} As of {when}; the run has gone on: ask again.".strip()


# A table of rows


def table_metrics(votes: Sequence[Vote], n_asked: int) -> Metrics:
    found: list[Metric] = [count_metric("Rows answered", len(votes), n_asked, "By every hypothesis.")]
    if votes and len(votes[0].said) > 1:
        split, unknown = sum(vote.is_split for vote in votes), sum(vote.is_unknown for vote in votes)
        found.append(count_metric("Split", split, len(votes), "Less than 95 % of the weight agrees."))
        found.append(count_metric("I don’t know", unknown, len(votes), "No clear answer."))
    return Metrics(tuple(found))


def answers_table(votes: Sequence[Vote], dataset: Dataset) -> Table:
    """A line for each row: its first inputs, and the answer. votes: at least one."""
    names = [name for name, _ in votes[0].row.inputs][:MOST_INPUTS]
    lines = [
        (
            str(vote.row.id),
            *("missing" if cell is None else cut(cell, LONGEST_CELL) for _, cell in vote.row.inputs[:MOST_INPUTS]),
            headline(vote, dataset.target_decimals, is_weighted=True),
        )
        for vote in votes
    ]
    return Table(head=("row", *names, dataset.target), rows=lines)


def outside_sentence(fields: Sequence[Field], votes: Sequence[Vote]) -> str:
    outside = [
        [name for field, (name, cell) in zip(fields, vote.row.inputs, strict=True) if field.is_outside(cell)]
        for vote in votes
    ]
    columns, rows = dict.fromkeys(name for names in outside for name in names), sum(map(bool, outside))
    if not rows:
        return ""
    names = listed([cut(name, LONGEST_CELL) for name in columns], most=MOST_NAMED)
    hold = "holds" if rows == 1 else "hold"
    of = f"{capitalised(in_words(rows))} of {integer(len(votes))} rows"
    return f"{of} {hold} a value beyond the training rows’ ({names})."


# Rows to label


def pool_words(dataset: Dataset, *, n_found: int, n_made_up: int, made_up: bool) -> str:
    """Return where the rows come from. n_found: rows of the table. made_up: whether made-up ones were asked for."""
    n_free = len(dataset.unlabelled) + len(dataset.unused)
    own = (
        f"{integer(n_found)} of the {counted(n_free, 'row')} of your table that this run does not use."
        if n_free
        else ""
    )
    if not made_up:
        return own or "This run uses every row of your table: ask for made-up rows."
    others = f"{counted(n_made_up, 'made-up row')}: leave out impossible ones."
    return f"{own} {others if n_made_up else 'No made-up row would be new.'}".strip()


def labels_words(found: Sequence[Question]) -> str:
    """Sentence above the list."""
    telling = sum(question.bits >= LITTLE for question in found)
    n = len(found)
    if not telling:
        return f"On {'the one row' if n == 1 else f'all {integer(n)} rows'} nearly all agree: ask about others."
    return f"{integer(telling)} of {counted(n, 'row')} would tell something, the most informative first."


def question_row(question: Question, columns: Sequence[str], dataset: Dataset, name: str) -> RowBrief:
    """Return a row to label in one line. columns: as the hypotheses use them."""
    return RowBrief(
        name=f"{name} · {fixed(question.bits)} bits",
        cells=cells_of(question.row, columns[:BRIEF]),
        vote=vote_of(question, dataset.target_decimals),
    )


def columns_of(view: RunView, dataset: Dataset) -> tuple[str, ...]:
    """Return the inputs, those that the hypotheses use first."""
    texts = [view.texts[particle.hypothesis] for particle in view.population]
    return columns_by_use(texts, view.weights, dataset.inputs)


def going_on_words(preparation: Preparation, *, n_added: int) -> str:
    spec, n_train = preparation.spec, len(preparation.dataset.train)
    n = len(spec.start)
    start = "this hypothesis" if n == 1 else f"these {integer(n)} hypotheses"
    begins = f"A new run begins with {start} and has {counted(n_added, 'training row')} more, {integer(n_train)} in all"
    if spec.config.is_weighing:
        return f"{begins}. It weighs them anew."
    if spec.config.method != "smc":
        return f"{begins}. Its chains go on from there."
    return f"{begins}. It weighs them anew, and its test rows are the same."


def plan_blocks(plan: Plan) -> tuple[Table, Note]:
    """The calls of a new run, by work."""
    rows = [*((what, integer(calls)) for what, calls in plan.items), ("At most", integer(plan.calls))]
    return Table(head=("work", "calls"), rows=rows, right=(1,)), Note("Repeated and cached questions cost nothing.")


def truth_words(value: Value) -> str:
    return shortest(value) if isinstance(value, float) else value
