"""The words of a run's answers about new rows, about rows to label, and in the trial of the hypotheses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vpp.data.dataset import Dataset, Row
from vpp.data.labelling import Field
from vpp.findings.points import Point, is_unknown, voices
from vpp.findings.rows import (
    answer_words,
    cells_of,
    columns_by_use,
    own_words,
    possible_sentence,
    reason_words,
    rivals_of,
    share_note,
    vote_of,
)
from vpp.inference.plan import plan
from vpp.posterior.metric import CHANCE, sign_test, wilson
from vpp.runs.asking import Answers
from vpp.runs.directory import RunDirectory, read_json
from vpp.runs.preparation import Preparation
from vpp.runs.view import RunView
from vpp.show.blocks import Note, Quote, Say, Table
from vpp.show.figures import Inputs
from vpp.show.words import counted, cut, fixed, integer, interval_text, percent

MOST_INPUTS = 6
MOST_NOTES = 4
LONGEST_CELL = 60
LITTLE = 0.005
BRIEF = 3
NOT_ADDITIVE = "The bits of several rows do not add up."


# Rows that a person asks about


def answer_blocks(
    point: Point, answers: Answers, fields: Sequence[Field], seed_text: str, *, is_weighted: bool
) -> tuple[object, ...]:
    conformal = point.reject.conformal
    words = (
        possible_sentence(point, conformal) if conformal and voices(point) else "",
        outside_words(fields, point.row),
    )
    bar = [vote_of(point, room=120)] if len(point.shares) > 1 else []
    texts = [own_words(text, seed_text) for text in answers.texts]
    why = [reason_words(said) for said in point.said]
    rivals = rivals_of(point, texts, is_weighted=is_weighted, why=why.__getitem__)
    notes = map(Note, filter(None, words))
    return (Say(answer_words(point)), *bar, *notes, *rivals, *map(Note, filter(None, [share_note(point)])))


def outside_words(fields: Sequence[Field], row: Row) -> str:
    """Warn of inputs beyond the training rows, `a is 99; the training rows have 1 to 12.`; empty without any."""
    pairs = zip(fields, row.inputs, strict=True)
    outside = [(field, name, cell) for field, (name, cell) in pairs if cell is not None and field.is_outside(cell)]
    notes = [
        f"{name} is “{cell}”, which no training row has."
        if field.range is None
        else f"{name} is {cell}; the training rows have {' to '.join(field.range)}."
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
            answer_words(vote),
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
    return f"{integer(telling)} of {counted(n, 'row')} would tell something, the most informative first. {NOT_ADDITIVE}"


def question_row(question: Point, columns: Sequence[str], name: str) -> Sequence[object]:
    """Return a row to label. columns: as the hypotheses use them."""
    cells, vote = cells_of(question.row, columns[:BRIEF]), vote_of(question)
    return Note(f"{name} · {fixed(question.bits)} bits"), Inputs(cells), Note(vote) if isinstance(vote, str) else vote


def columns_of(view: RunView, dataset: Dataset) -> tuple[str, ...]:
    texts = [view.texts[particle.hypothesis] for particle in view.population]
    return columns_by_use(texts, view.weights, dataset.inputs)


def going_on_words(preparation: Preparation, *, n_added: int) -> str:
    config, n, n_train = preparation.spec.config, len(preparation.spec.start), len(preparation.dataset.train)
    start = "this hypothesis" if n == 1 else f"these {integer(n)} hypotheses"
    begins = f"A new run begins with {start} and has {counted(n_added, 'training row')} more, {integer(n_train)} in all"
    goes_on = "It weighs them anew" if config.is_weighing or config.method == "smc" else "Its chains go on from there"
    calls = plan(config, **preparation.dataset.sizes, given=n).expected_calls
    return f"{begins}. {goes_on}. It takes about {counted(round(calls), 'call')}."


# The trial: what the model does with each hypothesis, and what its clauses are worth

FILE = "trial.json"
FINDINGS = ("undecided", "it helps", "it hurts")
"""What the rows say of a clause, by `Trial.sign`."""
FOLLOWS = 0.7
"""Share obeyed above which the learner follows a sentence: below, over three in ten answers are not the sentence's."""
FEW = 5
"""With fewer rows, Wilson's interval lies below `FOLLOWS` too often by luck: 0 of 2 in 9 of 100 trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Obeyed:
    """How many of n rows speak for a sentence: changed rows answered as it demands, or rows it answers better."""

    n: int = 0
    obeyed: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; 0 to 1 without a row."""
        return wilson(self.obeyed, self.n) if self.n else (0.0, 1.0)

    @property
    def follows(self) -> int:
        """1 if the interval lies above `FOLLOWS`, -1 if below, else 0; 0 for fewer rows than `FEW`."""
        low, high = self.interval
        return int(low > FOLLOWS) - int(high < FOLLOWS and self.n >= FEW)

    def sign(self, *, best_of: int = 1) -> int:
        """Return 1 if more rows speak for it than luck explains, -1 if fewer, else 0: so for fewer than six rows."""
        against = self.n - self.obeyed
        return (sign_test(self.obeyed, against, best_of=best_of) < CHANCE) * (1 if self.obeyed > against else -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseWorth:
    text: str
    log_likelihood_lost: float
    """Log-likelihood of the whole sentence, minus that of the sentence without the clause; natural log."""
    rows: Obeyed = Obeyed()
    """Rows with a smaller loss with the clause, of those where it changes the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedIdea:
    text: str
    """The whole hypothesis, seed sentence included."""
    weight: float
    must_change: Obeyed
    """Rows with a cell changed so that the sentence's answer changes."""
    must_stay: Obeyed
    """Rows with a cell changed that the sentence does not name."""
    log_likelihood: float
    """Over the trial's rows, natural log."""
    clauses: tuple[ClauseWorth, ...]
    gain_over_no_rule: float
    """Its log-likelihood minus that of the learner without a rule, on the same rows."""
    over_no_rule: Obeyed = Obeyed()
    """Rows with a smaller loss than without a rule, of those that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    step: int
    rows: tuple[int, ...]
    """(M,) ids of the training rows that clauses and the learner without a rule were scored on."""
    no_rule: float
    """Log-likelihood of the learner without a rule on these rows, natural log."""
    ideas: tuple[TriedIdea, ...]

    def sign(self, clause: ClauseWorth) -> int:
        """Return 1 if the clause helps beyond luck, among all clauses on trial, -1 if it hurts, else 0."""
        return clause.rows.sign(best_of=sum(len(idea.clauses) for idea in self.ideas))


def read_trial(directory: RunDirectory, view: RunView) -> Trial | None:
    """Read trial.json; None if it is missing, unreadable or from an earlier step."""
    trial = read_json(directory.path / FILE, Trial)
    return trial if trial and trial.step == view.last_step else None


# The trial in words

INTERVALS = (
    "In brackets: 95 % intervals (Wilson). Improvement and loss: log-likelihood in nats over these rows. A clause "
    "helps or hurts if the sign test, corrected for the number of clauses, is below 0.05."
)


def rate_words(found: Obeyed, none: str = "none possible") -> str:
    """`38 of 40 (83 % to 99 %)`; `none` without a row."""
    if not found.n:
        return none
    return f"{integer(found.obeyed)} of {integer(found.n)} ({interval_text(found.obeyed, found.n)})"


def trial_verdict(trial: Trial) -> str:
    first, on = trial.ideas[0], counted(len(trial.rows), "training row")
    change, rows = first.must_change, first.over_no_rule
    how = ("may or may not obey", "obeys", "does not obey")[change.follows]
    obeyed = f"{rate_words(change)} answers changed as it demands" if change.n else "no row can change its answer"
    worth = ("about as well as", "better than", "worse than")[rows.sign()]
    differ = f": {rate_words(rows)} rows that differ improve" if rows.n else ""
    return f"The model {how} the heaviest hypothesis: {obeyed}. On {on} it predicts {worth} without a rule{differ}."


def trial_blocks(trial: Trial, seed_text: str) -> Iterator[object]:
    yield Say(trial_verdict(trial))
    head = ("", "weight", "answers that must change", "answers that must stay")
    lines = [
        (
            str(n),
            percent(min(each.weight, 1.0)),
            rate_words(each.must_change),
            rate_words(each.must_stay),
            fixed(each.gain_over_no_rule, 1),
            rate_words(each.over_no_rule, "none differ"),
        )
        for n, each in enumerate(trial.ideas, 1)
    ]
    yield Table(head=(*head, "improvement over no rule", "rows improved"), rows=lines, right=(1, 4))
    yield Note(INTERVALS)
    for n, each in enumerate(trial.ideas, 1):
        alone = () if each.clauses else ("no program of several branches, so no clause was left out",)
        yield Quote(each.text.removeprefix(seed_text).strip(), (f"hypothesis {n} of the trial", *alone))
        if each.clauses:
            rows, name = clause_rows(each, trial), f"clauses of hypothesis {n}"
            yield Table(head=("clause", "loss without it", "rows that need it"), rows=rows, right=(1,), name=name)


def clause_rows(idea: TriedIdea, trial: Trial) -> list[tuple[str, str, str]]:
    return [
        (
            each.text,
            fixed(each.log_likelihood_lost, 1),
            f"{rate_words(each.rows, 'none')}: {FINDINGS[trial.sign(each)]}",
        )
        for each in idea.clauses
    ]
