"""Answers to rows that a person asks about, and the rows whose labels would tell most."""

from collections.abc import Sequence

from vpp.data.dataset import Dataset, Row
from vpp.data.labelling import Field
from vpp.findings.points import Point, is_unknown, voices
from vpp.findings.rows import (
    answer_words,
    cells_of,
    columns_by_use,
    noise_words,
    own_words,
    possible_sentence,
    reason_words,
    rivals_of,
    vote_of,
)
from vpp.inference.plan import plan
from vpp.runs.asking import Answers
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.show.blocks import Note, Say, Table
from vpp.show.matrix import Inputs
from vpp.show.words import counted, cut, fixed, integer

MOST_INPUTS = 6
MOST_NOTES = 4
LONGEST_CELL = 60
LITTLE = 0.005
"""Bits below this read as 0.00."""
BRIEF = 3
"""Inputs of a row to label, the deciding ones."""


# Rows that a person asks about


def answer_blocks(
    point: Point, answers: Answers, dataset: Dataset, fields: Sequence[Field], seed_text: str, *, is_weighted: bool
) -> tuple[object, ...]:
    """Return the answer with its share, the vote, and the hypotheses with different answers."""
    decimals, conformal = dataset.target_decimals, point.reject.conformal
    words = (
        possible_sentence(point, conformal, decimals) if conformal and voices(point) else "",
        outside_words(fields, point.row),
    )
    bar = [vote_of(point, decimals, room=120)] if len(point.shares) > 1 else []
    texts = [own_words(text, seed_text) for text in answers.texts]
    why = [reason_words(said) for said in point.said]
    rivals = rivals_of(point, texts, decimals, is_weighted=is_weighted, why=why.__getitem__)
    notes = map(Note, filter(None, words))
    return (Say(answer_words(point, decimals)), *bar, *notes, *rivals, *map(Note, filter(None, [noise_words(point)])))


def outside_words(fields: Sequence[Field], row: Row) -> str:
    """Warn of inputs beyond the training rows, `a is 99; the training rows have 1 to 12.`; empty without any."""
    pairs = zip(fields, row.inputs, strict=True)
    outside = [(field, name, cell) for field, (name, cell) in pairs if cell is not None and field.is_outside(cell)]
    notes = [
        f"{name} is “{cell}”, which no training row has."
        if field.low is None
        else f"{name} is {cell}; the training rows have {field.low} to {field.high}."
        for field, name, cell in outside[:MOST_NOTES]
    ]
    return " ".join(("Outside the data:", *notes)) if notes else ""


# A table of rows


def table_words(votes: Sequence[Point]) -> str:
    """`3 of 60 rows are in doubt: on 1 of them the answer is “I don’t know”.`"""
    unknown = sum(map(is_unknown, votes))
    doubt = sum(vote.is_split or is_unknown(vote) for vote in votes)
    of = f"{integer(doubt)} of {counted(len(votes), 'row')} {'is' if doubt == 1 else 'are'} in doubt"
    return f"{of}: on {integer(unknown)} of them the answer is “I don’t know”." if doubt else f"{of}."


def answers_table(votes: Sequence[Point], dataset: Dataset) -> Table:
    """A line for each row: its first inputs, and the answer. votes: at least one."""
    names = [name for name, _ in votes[0].row.inputs][:MOST_INPUTS]
    lines = [
        (
            str(vote.row.id),
            *("missing" if cell is None else cut(cell, LONGEST_CELL) for _, cell in vote.row.inputs[:MOST_INPUTS]),
            answer_words(vote, dataset.target_decimals),
        )
        for vote in votes
    ]
    return Table(head=("row", *names, dataset.target), rows=lines)


# Rows to label


def pool_words(dataset: Dataset, *, n_found: int, n_made_up: int, made_up: bool) -> str:
    """Return where the rows come from. n_found: rows of the table. made_up: whether made-up ones were asked for."""
    n_free = len(dataset.unlabelled) + len(dataset.unused)
    rows = counted(n_free, "row")
    own = [f"{integer(n_found)} of the {rows} of your table that this run does not use."] if n_free else []
    if made_up:
        made = counted(n_made_up, "made-up row")
        own.append(f"{made}: leave out impossible ones." if n_made_up else "No made-up row would be new.")
    return " ".join(own) or "This run uses every row of your table: ask for made-up rows."


def labels_words(found: Sequence[Point]) -> str:
    n, telling = len(found), sum(question.bits >= LITTLE for question in found)
    if not telling:
        return f"On {'the one row' if n == 1 else f'all {integer(n)} rows'} nearly all agree: ask about others."
    return f"{integer(telling)} of {counted(n, 'row')} would tell something, the most informative first."


def question_row(question: Point, columns: Sequence[str], dataset: Dataset, name: str) -> Sequence[object]:
    """Return a row to label. columns: as the hypotheses use them."""
    cells, vote = cells_of(question.row, columns[:BRIEF]), vote_of(question, dataset.target_decimals)
    return Note(f"{name} · {fixed(question.bits)} bits"), Inputs(cells), Note(vote) if isinstance(vote, str) else vote


def columns_of(view: RunView, dataset: Dataset) -> tuple[str, ...]:
    """Return the inputs, those that the hypotheses use first."""
    texts = [view.texts[particle.hypothesis] for particle in view.population]
    return columns_by_use(texts, view.weights, dataset.inputs)


def going_on_words(preparation: Preparation, *, n_added: int) -> str:
    config, n, n_train = preparation.spec.config, len(preparation.spec.start), len(preparation.dataset.train)
    start = "this hypothesis" if n == 1 else f"these {integer(n)} hypotheses"
    begins = f"A new run begins with {start} and has {counted(n_added, 'training row')} more, {integer(n_train)} in all"
    goes_on = "It weighs them anew" if config.is_weighing or config.method == "smc" else "Its chains go on from there"
    whole = plan(config, **preparation.dataset.sizes, given=n)
    return f"{begins}. {goes_on}. It takes {counted(whole.calls, 'call')} at most."
