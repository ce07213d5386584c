"""How each hypothesis is read: its program with the rows of each branch, its certificate, its questions; in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from vpp.data.dataset import Dataset
from vpp.events import Certified, Evaluated, Scored, Votes
from vpp.posterior.prediction import Value
from vpp.problem import Translation
from vpp.programs.columns import Columns
from vpp.programs.source import Program, ProgramFault, read_program
from vpp.runs.directory import JournalAnswers
from vpp.runs.view import RunView, scores_of
from vpp.settings import Config
from vpp.show.blocks import Code, Fold, Note, Table
from vpp.show.words import counted, integer, interval_text, number, percent, value_of

ROUNDING = 0.01
"""Largest difference of two numbers that count as alike, as a share of the targets' range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchScore:
    words: str
    """`math >= 80: 'admitted'`, in Python."""
    condition: str
    """Empty for a branch without one."""
    output: str
    n: int = 0
    n_right: int | None = None
    """None for numbers."""
    mean_error: float | None = None
    """Mean absolute error in the target's unit; None for labels, and without a row."""


@dataclass(frozen=True, slots=True)
class Apart:
    """A training row on which program and learner differ; an answer that is None is an abstention."""

    row: int
    program: Value | None
    reading: Value | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionShare:
    """A program's question about texts, over all texts that the learner answered it for."""

    question: str
    column: str
    n: int
    n_yes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramReading:
    by: Literal["program", "rows", "nothing"]
    """`nothing`: it has not been read yet, or `--reading program` found no program for it."""
    reason: str = ""
    """Why it has no program. May quote a model."""
    program: Program | None = None
    branches: tuple[BranchScore, ...] = ()
    """Of the program, in its order; without rows before any was scored."""
    n_unanswered: int = 0
    """Training rows scored on which the program fails."""
    n_certified: int = 0
    """Training rows that the learner read itself too."""
    apart: tuple[Apart, ...] = ()
    questions: tuple[QuestionShare, ...] = ()

    def as_json(self) -> dict[str, Any]:
        n, apart = self.n_certified, list(map(asdict, self.apart))
        certificate = {"n": n, "n_alike": n - len(apart), "apart": apart} if n else None
        code = self.program.code if self.program else None
        found = asdict(self) | {"certificate": certificate, "code": code}
        return {name: value for name, value in found.items() if name not in ("program", "n_certified", "apart")}


def program_readings(
    view: RunView, answers: JournalAnswers, dataset: Dataset, hypotheses: Iterable[str] | None = None
) -> dict[str, ProgramReading]:
    """By hypothesis id. hypotheses: ids; those of the last finished step by default."""
    ids = [state.hypothesis for state in view.population] if hypotheses is None else hypotheses
    options: dict[str, Any] = view.start.config if view.start else {"reading": "rows"}
    known = ("reading", "likelihood", "learner_samples")
    config = Config(**{name: options[name] for name in known if name in options})
    if not config.has_programs:
        return {id_: ProgramReading(by="rows") for id_ in ids}
    columns, counts = Columns(dataset), _yes_counts(answers)
    scored = {each.hypothesis: each for each in scores_of(view) if each.branches}
    found = {}
    for id_ in dict.fromkeys(ids):
        program, reason = program_of(answers.translations.get(id_), columns)
        if program is None:
            found[id_] = ProgramReading(by="rows" if reason and config.reading == "auto" else "nothing", reason=reason)
            continue
        rows, values, branches = _last_answers(view.evaluations.get("train"), scored.get(id_), id_)
        certified = view.certificates.get(id_)
        found[id_] = ProgramReading(
            by="program",
            program=program,
            branches=_branch_scores(program, rows, values, branches, dataset),
            n_unanswered=branches.count(None),
            n_certified=len(certified.rows) if certified else 0,
            apart=tuple(_apart(certified, dataset)) if certified else (),
            questions=_questions(program, columns, counts),
        )
    return found


def program_of(translation: Translation | None, columns: Columns) -> tuple[Program | None, str]:
    """Return the program, or None and why there is none; no reason if the hypothesis has not been translated yet."""
    if translation is None or translation.code is None:
        return None, (translation.reason or "") if translation else ""
    try:
        return read_program(translation.code, columns.aliases, columns.texts), ""
    except ProgramFault as fault:
        return None, str(fault)


def branch_of(evaluated: Evaluated, slot: int, row: int) -> int | None:
    """Index of the branch by which a particle's program answered a row (id); None if the learner read it itself."""
    branches = evaluated.branches[slot] if evaluated.branches else ()
    return branches[evaluated.rows.index(row)] if branches else None


def _last_answers(
    train: Evaluated | None, scored: Scored | None, hypothesis: str
) -> tuple[Sequence[int], Votes, tuple[int | None, ...]]:
    """(N,) row ids, answers and branches of a program, as they were recorded last; empty if none were."""
    if train and train.branches and hypothesis in train.hypotheses:
        slot = train.hypotheses.index(hypothesis)
        return train.rows, train.predictions[slot], train.branches[slot]
    return (scored.rows, scored.predictions, scored.branches) if scored else ((), (), ())


def _branch_scores(
    program: Program, rows: Sequence[int], values: Votes, branches: Sequence[int | None], dataset: Dataset
) -> tuple[BranchScore, ...]:
    targets = {row.id: row.target for row in dataset.train}
    errors: list[list[float]] = [[] for _ in program.branches]
    for row, value, branch in zip(rows, values, branches, strict=True):
        if branch is not None:
            errors[branch].append(_error(value, targets[row], dataset))
    return tuple(
        BranchScore(
            words=program.words(at),
            condition=branch.condition,
            output=branch.output,
            n=len(own),
            n_right=own.count(0.0) if dataset.classes else None,
            mean_error=None if dataset.classes or not own else sum(own) / len(own),
        )
        for at, (branch, own) in enumerate(zip(program.branches, errors, strict=True))
    )


def _error(value: Value | None, target: Value | None, dataset: Dataset) -> float:
    """Absolute error of a number, an abstention's being the targets' range; for labels 0 if right, else 1."""
    if isinstance(target, str):
        return float(value != target)
    if value is None or target is None or isinstance(value, str):
        return dataset.target_range
    return abs(value - target)


def _apart(certified: Certified, dataset: Dataset) -> Iterator[Apart]:
    def differ(one: Value | None, other: Value | None) -> bool:
        if isinstance(one, int | float) and isinstance(other, int | float):
            return abs(one - other) > ROUNDING * dataset.target_range
        return one != other

    every = map(Apart, certified.rows, certified.program, certified.reading)
    return (each for each in every if differ(each.program, each.reading))


def _yes_counts(answers: JournalAnswers) -> Mapping[str, Counter[bool]]:
    """By question, the texts answered with yes (True) and no. A copy, since the reader's thread may add answers."""
    counts: dict[str, Counter[bool]] = {}
    for each in tuple(answers.texts.values()):
        if each.yes is not None:
            counts.setdefault(each.question, Counter())[each.yes] += 1
    return counts


def _questions(program: Program, columns: Columns, counts: Mapping[str, Counter[bool]]) -> tuple[QuestionShare, ...]:
    found = ((words, columns.names[alias], counts.get(words, Counter())) for words, alias in program.questions)
    return tuple(QuestionShare(question=words, column=name, n=n.total(), n_yes=n[True]) for words, name, n in found)


# In words, which quote models


def branch_rows(branch: BranchScore) -> str:
    """`12 of 14 rows right`, `14 rows, off by 0.52 on average`, or `no training row`."""
    if not branch.n:
        return "no training row"
    if branch.n_right is not None:
        return f"{integer(branch.n_right)} of {counted(branch.n, 'row')} right"
    error = "" if branch.mean_error is None else f", off by {number(branch.mean_error, 3)} on average"
    return f"{counted(branch.n, 'row')}{error}"


def question_words(question: QuestionShare) -> str:
    share = f" ({percent(question.n_yes / question.n)})" if question.n else ""
    of = f"yes for {integer(question.n_yes)} of {counted(question.n, 'text')}{share}"
    return f"“{question.question}” ({question.column}): {of if question.n else 'not answered yet'}"


MOST_APART = 4


def certificate_words(reading: ProgramReading) -> str:
    """`The model reads it alike on 8 of 9 rows (57 % to 98 %). Row 12: Gentoo by the program, Adelie by the model. …`

    Empty without a certificate.
    """
    n, apart = reading.n_certified, reading.apart
    if not n:
        return ""
    n_alike = n - len(apart)
    parts = [f"The model reads it alike on {integer(n_alike)} of {counted(n, 'row')} ({interval_text(n_alike, n)})."]
    parts += [
        f"Row {each.row}: {value_of(each.program)} by the program, {value_of(each.reading)} by the model."
        for each in apart[:MOST_APART]
    ]
    parts += [f"{counted(len(apart) - MOST_APART, 'more row')}."] if len(apart) > MOST_APART else []
    parts += ["The sentence may have two meanings."] if apart else []
    return " ".join(parts)


def program_folds(reading: ProgramReading | None) -> tuple[Fold, ...]:
    """Return a card's fold with the program, or why there is none; empty for a hypothesis that is not read yet."""
    if reading is None or (reading.program is None and not reading.reason):
        return ()
    if reading.program:
        return (Fold(name="program", title="program", blocks=tuple(program_blocks(reading, reading.program))),)
    how = "Read row by row" if reading.by == "rows" else "No answers"
    return (Fold(name="program", title="no program", blocks=(Note(f"{how}: {reading.reason}."),)),)


def program_blocks(reading: ProgramReading, program: Program) -> Iterator[object]:
    yield Code(program.code, is_program=True)
    yield Table(head=("branch", "training rows"), rows=[(each.words, branch_rows(each)) for each in reading.branches])
    if n := reading.n_unanswered:
        yield Note(f"No answer on {counted(n, 'training row')}.")
    if words := certificate_words(reading):
        yield Note(words)
    yield from (Note(question_words(question)) for question in reading.questions)
