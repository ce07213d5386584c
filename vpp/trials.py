"""A trial of hypotheses: changed rows, sentences without a clause, the learner without a rule.

A changed row has another value in one cell, so that a sentence's answer must change, or must stay. Which it is follows
from the sentence alone: the built-in reader of plain rules works out both answers (`vpp.demo.reading`). A column that
the sentence does not name must not matter. A sentence that cannot be read completely has no such rows: it may mean a
column by other words. A clause is a branch of the sentence's program: leaving it out costs no call.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.demo.reading import read_rule
from vpp.demo.rules import columns_of, read_row
from vpp.errors import InputError, RunError
from vpp.events import hypothesis_id
from vpp.findings.experiments import ClauseWorth, Obeyed, Trial, TriedIdea, keep
from vpp.findings.hypotheses import Idea, merge_ideas
from vpp.findings.programs import program_readings
from vpp.llm.rendering import render_input
from vpp.posterior.prediction import settled
from vpp.posterior.weights import Floats
from vpp.problem import Prediction, Translation, likelihood_of, losses_of
from vpp.programs.source import Program
from vpp.runs.asking import WITHOUT, Asking, OnProgress
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView

PAIRS = 107
"""Purpose number of the draw of changes: SeedSequence(seed, spawn_key=(PAIRS, sentence's number))."""
TRIES = 40
"""Most draws for each change."""
Rule = Callable[[Row], Value | None]
"""A sentence's answer to a row, worked out without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row of the data with another value in one cell."""

    base: Row
    row: Row
    """Under an id of its own, without a target."""
    column: str
    wanted: tuple[Value, Value] | None
    """The sentence's answers to the base and to the row, which must differ; None if the answer must stay."""

    @property
    def must_change(self) -> bool:
        return self.wanted is not None

    def is_obeyed(self, before: Value | None, after: Value | None) -> bool:
        """Return whether answers to the base and to the row follow the sentence; an unreadable answer does not."""
        if self.wanted is None:
            return agree(before, after)
        return agree(before, self.wanted[0]) and agree(after, self.wanted[1])


def agree(one: Value | None, other: Value | None) -> bool:
    """Return whether two answers are equal, numbers to twelve digits; an unreadable one equals none."""
    if one is None or other is None:
        return False
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return settled(float(one) - float(other), of=max(abs(float(one)), abs(float(other)))) == 0


def plain_rule_of(text: str, dataset: Dataset) -> Rule | None:
    """Return a sentence as a program; None if the reader of plain rules leaves any part of it unread.

    text: the whole hypothesis, seed sentence included.
    """
    columns = columns_of([read_row(render_input(row)) for row in (*dataset.train, *dataset.test)])
    reading = read_rule(text, columns, tuple(dataset.classes))
    if reading.rule is None or reading.unread:
        return None
    rule = reading.rule

    def program(row: Row) -> Value | None:
        answer = rule.answer(read_row(render_input(row)))
        return answer if isinstance(answer, str | float) else None

    return program


def is_named(column: str, sentence: str) -> bool:
    """Return whether a sentence names a column, underscores as spaces too, in any case."""
    words = {column.casefold(), column.replace("_", " ").casefold()}
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence.casefold()) for word in words)


def changes(
    text: str, dataset: Dataset, *, n: int, seed: int, number: int, first_id: int, sentence: str = ""
) -> tuple[Change, ...]:
    """Draw at most n changes that must matter and n that must not, in this order, under ids from `first_id` on.

    text: the whole hypothesis. sentence: the same without the seed sentence, in which columns are looked for.
    """
    program = plain_rule_of(text, dataset)
    if program is None:
        return ()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PAIRS, number)))
    named = {column for column in dataset.inputs if is_named(column, sentence or text)}
    must = _draws(dataset, program, rng, named or dataset.inputs, must_change=True, n=n)
    found = [*must, *_draws(dataset, program, rng, set(dataset.inputs) - named, must_change=False, n=n)]
    return tuple(replace(each, row=replace(each.row, id=first_id + place)) for place, each in enumerate(found))


def _draws(
    dataset: Dataset, program: Rule, rng: np.random.Generator, columns: Collection[str], *, must_change: bool, n: int
) -> Iterable[Change]:
    """Draw at most n changed training rows, each once, whose answer changes, or does not.

    A cell of a column that varies gets another value that some row has.
    """
    kinds = {column.name: column.kind for column in dataset.columns}
    values = {
        name: sorted({row.inputs[place][1] or "" for row in dataset.train} - {""})
        for place, name in enumerate(dataset.inputs)
        if name in columns and kinds[name] != "text"
    }
    varying = sorted(name for name, each in values.items() if len(each) > 1)
    found: dict[object, Change] = {}
    for _ in range(TRIES * n if varying else 0):
        base = dataset.train[int(rng.integers(len(dataset.train)))]
        column = varying[int(rng.integers(len(varying)))]
        others = [value for value in values[column] if value != dict(base.inputs)[column]]
        value = others[int(rng.integers(len(others)))]
        cells = tuple((name, value if name == column else cell) for name, cell in base.inputs)
        row = Row(id=-1, inputs=cells, target=None)
        before, after = program(base), program(row)
        if must_change and before is not None and after is not None and not agree(before, after):
            found.setdefault(cells, Change(base=base, row=row, column=column, wanted=(before, after)))
        elif not must_change and before == after:
            found.setdefault(cells, Change(base=base, row=row, column=column, wanted=None))
        if len(found) == n:
            break
    return found.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a hypothesis that can be left out: a branch of its program that has a condition."""

    text: str
    without: str
    """Stands for the hypothesis without it."""
    code: str
    """The program without it."""


def clauses(program: Program | None, hypothesis: str) -> tuple[Clause, ...]:
    """Return the clauses in order; empty without a program, and if only the whole could be left out."""
    branches = program.branches if program and len(program.branches) > 1 else ()
    return tuple(
        Clause(text=program.words(at), without=f"{hypothesis} (without branch {at})", code=program.without(at))
        for at, branch in enumerate(branches)
        if program and branch.condition
    )


SCORED = 108
"""Purpose number of the draw of scored rows: SeedSequence(seed, spawn_key=(SCORED,))."""
Said = Mapping[tuple[str, int], Prediction]
"""Answers by hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSize:
    """How much a trial asks. Raises InputError for a number below 1."""

    ideas: int = 3
    """Most ideas, the heaviest."""
    changes: int = 20
    """Most changed rows of each kind for each idea."""
    rows: int = 40
    """Most training rows on which sentences are scored, drawn by seed."""

    def __post_init__(self) -> None:
        for name in ("ideas", "changes", "rows"):
            if (value := getattr(self, name)) < 1:
                raise InputError(f"{name} is {value}: give at least 1")


USUAL = TrialSize()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnTrial:
    """An idea, its changes and its clauses."""

    idea: Idea
    changes: tuple[Change, ...]
    clauses: tuple[Clause, ...]


class TrialAsking:
    """The questions of a trial. Another thread may read the counts meanwhile."""

    def __init__(self, reader: RunReader, size: TrialSize = USUAL, *, view: RunView | None = None) -> None:
        """view: the folded journal, read here if not given. Raises RunError before the first complete step."""
        self._view, self._reader, self._dataset = view or reader.refresh().view, reader, reader.dataset()
        spec, ideas = reader.directory.spec(), merge_ideas(self._view, self._dataset)
        if ideas is None or self._view.started is None:
            raise RunError(f"{reader.directory.path} has no particles yet: wait for its first step")
        self._config = spec.config
        self._seed_text = self._view.started.seed_text
        self._no_rule = f"{self._seed_text} {WITHOUT}"
        self._tried = list(self._on_trial(list(ideas)[: size.ideas], size))
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=(SCORED,)))
        drawn = sorted(rng.permutation(len(self._dataset.train))[: size.rows].tolist())
        self._scored = tuple(self._dataset.train[place] for place in drawn)
        changed = {row.id: row for tried in self._tried for each in tried.changes for row in (each.base, each.row)}
        texts = [tried.idea.text for tried in self._tried]
        codes = {clause.without: clause.code for tried in self._tried for clause in tried.clauses}
        programs = [Translation(hypothesis=hypothesis_id(text), code=code, attempts=0) for text, code in codes.items()]
        self._asked = [
            self._asking(tuple(changed.values()), texts),
            self._asking(self._scored, [*texts, *codes], programs),
            self._asking(self._scored, [self._no_rule], None),
        ]
        self.total = sum(asking.total for asking in self._asked)
        """Questions."""
        self.calls = sum(asking.calls for asking in self._asked)
        """Calls needed if every answer can be read."""

    @property
    def done(self) -> int:
        return sum(asking.done for asking in self._asked)

    async def go(self, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None) -> Trial:
        """Ask the run's learner, and keep the result in the run's directory. Raises EndpointError, DiskRefused."""

        def count(*_: int) -> None:
            if on_progress:
                on_progress(self.done, self.total)

        said: dict[tuple[str, int], Prediction] = {}
        for asking in self._asked:
            await asking.go(keys=keys, cache_dir=cache_dir, on_progress=count)
            said |= asking.by_pair
        trial = Trial(
            step=self._view.last_step if self._view.last_step is not None else -1,
            rows=tuple(row.id for row in self._scored),
            no_rule=self._scores(self._no_rule, said)[0],
            ideas=tuple(self._tried_idea(tried, said) for tried in self._tried),
        )
        keep(self._reader.directory, trial)
        return trial

    def _on_trial(self, ideas: Sequence[Idea], size: TrialSize) -> Iterator[_OnTrial]:
        first_id = self._dataset.next_id
        answers, ids = self._reader.read_answers(), [hypothesis_id(idea.text) for idea in ideas]
        programs = [each.program for each in program_readings(self._view, answers, self._dataset, ids).values()]
        for number, (idea, program) in enumerate(zip(ideas, programs, strict=True)):
            sentence = idea.text.removeprefix(self._seed_text).strip()
            found = changes(
                idea.text,
                self._dataset,
                n=size.changes,
                seed=self._config.seed,
                number=number,
                first_id=first_id,
                sentence=sentence,
            )
            first_id += len(found)
            yield _OnTrial(idea=idea, changes=found, clauses=clauses(program, idea.text))

    def _asking(self, rows: Sequence[Row], texts: Sequence[str], programs: Sequence[Translation] | None = ()) -> Asking:
        known = self._reader.read_answers().by_pair
        return Asking(self._reader.directory, rows, view=self._view, texts=texts, known=known, programs=programs)

    # What came of it

    def _scores(self, text: str, said: Said) -> tuple[float, Floats]:
        """Return a sentence's log-likelihood, and its loss on each scored row."""
        answers, targets = [said[hypothesis_id(text), row.id] for row in self._scored], [r.target for r in self._scored]
        log_lik = likelihood_of(self._dataset, self._config).log_likelihood([each.answer for each in answers], targets)
        return log_lik, losses_of(self._dataset, tuple(each.value for each in answers), targets)

    def _tried_idea(self, tried: _OnTrial, said: Said) -> TriedIdea:
        identity, (whole, losses) = hypothesis_id(tried.idea.text), self._scores(tried.idea.text, said)

        def over(text: str) -> tuple[float, Obeyed]:
            """Return the log-likelihood gained over another text, and the rows with a smaller loss."""
            log_lik, others = self._scores(text, said)
            return whole - log_lik, Obeyed(n=int((losses != others).sum()), obeyed=int((losses < others).sum()))

        def obeyed(must_change: bool) -> Obeyed:
            judged = [
                change.is_obeyed(said[identity, change.base.id].value, said[identity, change.row.id].value)
                for change in tried.changes
                if change.must_change == must_change
            ]
            return Obeyed(n=len(judged), obeyed=sum(judged))

        gain, over_no_rule = over(self._no_rule)
        without = [(each, *over(each.without)) for each in tried.clauses]
        return TriedIdea(
            text=tried.idea.text,
            weight=tried.idea.weight,
            must_change=obeyed(must_change=True),
            must_stay=obeyed(must_change=False),
            log_likelihood=whole,
            clauses=tuple(
                ClauseWorth(text=each.text, log_likelihood_lost=lost, rows=rows) for each, lost, rows in without
            ),
            gain_over_no_rule=gain,
            over_no_rule=over_no_rule,
        )
