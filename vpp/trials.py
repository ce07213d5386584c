"""A trial of hypotheses: changed rows, sentences without a clause, the learner without a rule, or with examples.

A changed row has another value in one cell, so that a sentence's answer must change, or must stay. Which it is follows
from the sentence alone: the built-in reader of plain rules works out both answers (`vpp.demo.reading`). A column that
the sentence does not name must not matter. A sentence that cannot be read completely has no such rows: it may mean a
column by other words. A clause is a branch of the sentence's program: leaving it out costs no call.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from vpp.data.dataset import Dataset, Row, Value
from vpp.demo.reading import read_rule
from vpp.demo.rules import columns_of, read_row
from vpp.errors import InputError, RunError
from vpp.events import hypothesis_id
from vpp.findings.asking import FILE, ClauseWorth, Obeyed, Trial, TriedIdea
from vpp.findings.baselines import PROMPTED, Prompted, PromptedBaselines
from vpp.findings.hypotheses import Idea, merge_ideas
from vpp.findings.programs import program_readings
from vpp.inference.ahead import together
from vpp.llm.prompts import LearnerPrompts, prompt_tokens, render_input, render_rows, tokens_at_most
from vpp.posterior.prediction import Mixture, settled
from vpp.posterior.weights import Floats
from vpp.problem import Prediction, Translation, averages_of, likelihood_of, losses_of
from vpp.programs.source import Program
from vpp.runs.asking import Access, Asking, Session, open_session
from vpp.runs.directory import RunDirectory, RunReader, read_view, write_json
from vpp.runs.preparation import learner_prompts
from vpp.runs.spec import Keys

PAIRS = 107
"""Purpose number of the draw of changes: SeedSequence(seed, spawn_key=(PAIRS, sentence's number))."""
TRIES = 40  # most draws for each change
Rule = Callable[[Row], Value | None]
"""A sentence's answer to a row, worked out without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row of the data with another value in one cell."""

    base: Row
    row: Row
    """Under an id of its own, without a target."""
    column: str
    expected: tuple[Value, Value] | None
    """The sentence's answers to the base and to the row, which must differ; None if the answer must stay."""

    @property
    def must_change(self) -> bool:
        return self.expected is not None

    def is_obeyed(self, before: Value | None, after: Value | None) -> bool:
        """Return whether answers to the base and to the row follow the sentence; an unreadable answer does not."""
        if self.expected is None:
            return agree(before, after)
        return agree(before, self.expected[0]) and agree(after, self.expected[1])


def agree(one: Value | None, other: Value | None) -> bool:
    """Return whether two answers are equal, numbers to twelve digits; an unreadable one equals none."""
    if one is None or other is None:
        return False
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return settled(float(one) - float(other), of=max(abs(float(one)), abs(float(other)))) == 0


def plain_rule_of(text: str, dataset: Dataset) -> Rule | None:
    """Return a whole hypothesis as a program; None if the reader of plain rules leaves any part of it unread."""
    columns = columns_of([read_row(render_input(row)) for row in (*dataset.train, *dataset.test)])
    reading = read_rule(text, columns, tuple(dataset.classes))
    rule = None if reading.unread else reading.rule
    return None if rule is None else lambda row: rule.answer(read_row(render_input(row)))


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
    must = _draw(dataset, program, rng, named or dataset.inputs, must_change=True, n=n)
    stay = _draw(dataset, program, rng, set(dataset.inputs) - named, must_change=False, n=n)
    both = enumerate((*must, *stay), first_id)
    return tuple(replace(each, row=replace(each.row, id=id_)) for id_, each in both)


def _draw(
    dataset: Dataset, program: Rule, rng: np.random.Generator, columns: Collection[str], *, must_change: bool, n: int
) -> Iterable[Change]:
    """Draw at most n training rows with another value of some row in one cell, by whether the answer changes."""
    kinds = {column.name: column.kind for column in dataset.columns}
    values = {
        name: sorted({row.inputs[place][1] or "" for row in dataset.train} - {""})
        for place, name in enumerate(dataset.inputs)
        if name in columns and kinds[name] != "text"
    }
    varying = sorted(name for name, each in values.items() if len(each) > 1)
    rows: dict[object, Change] = {}
    for _ in range(TRIES * n if varying else 0):
        base = dataset.train[int(rng.integers(len(dataset.train)))]
        column = varying[int(rng.integers(len(varying)))]
        others = [value for value in values[column] if value != dict(base.inputs)[column]]
        value = others[int(rng.integers(len(others)))]
        cells = tuple((name, value if name == column else cell) for name, cell in base.inputs)
        row = Row(id=-1, inputs=cells, target=None)
        before, after = program(base), program(row)
        if must_change and before is not None and after is not None and not agree(before, after):
            rows.setdefault(cells, Change(base=base, row=row, column=column, expected=(before, after)))
        elif not must_change and before == after:
            rows.setdefault(cells, Change(base=base, row=row, column=column, expected=None))
        if len(rows) == n:
            break
    return rows.values()


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


SCORED = 108  # purpose number of the draw of scored rows: SeedSequence(seed, spawn_key=(SCORED,))
Answers = Mapping[tuple[str, int], Prediction]
"""By hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    idea: Idea
    changes: tuple[Change, ...]
    clauses: tuple[Clause, ...]


class TrialAsking:
    """The questions of a trial. Another thread may read the counts meanwhile."""

    def __init__(self, reader: RunReader, *, ideas: int = 3, changes: int = 20, rows: int = 40) -> None:
        """ideas: most ideas, the heaviest. changes: most changed rows of each kind for each of them.

        rows: most training rows on which sentences are scored, drawn by seed. Raises InputError for a number below 1,
        and RunError before the first complete step.
        """
        for name, value in (("ideas", ideas), ("changes", changes), ("rows", rows)):
            if value < 1:
                raise InputError(f"{name} is {value}: give at least 1")
        self._view, self._reader, self._dataset = reader.refresh().view, reader, reader.dataset()
        every = merge_ideas(self._view, self._dataset).all
        if not every:
            raise RunError(f"{reader.directory.path} has no particles yet: wait for its first step")
        self._config, self._no_rule = reader.directory.spec().config, f"{self._view.seed_text} {WITHOUT}"
        self._items = list(self._put_on_trial(every[:ideas], changes))
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=(SCORED,)))
        places = sorted(rng.permutation(len(self._dataset.train))[:rows].tolist())
        self._rows = tuple(self._dataset.train[place] for place in places)
        changed = {row.id: row for item in self._items for each in item.changes for row in (each.base, each.row)}
        texts = [item.idea.text for item in self._items]
        codes = {clause.without: clause.code for item in self._items for clause in item.clauses}
        programs = [Translation(hypothesis=hypothesis_id(text), code=code, attempts=0) for text, code in codes.items()]
        self._parts = [
            self._part(tuple(changed.values()), texts),
            self._part(self._rows, [*texts, *codes], programs),
            self._part(self._rows, [self._no_rule], None),
        ]
        self.total = sum(part.total for part in self._parts)
        """Questions."""
        self.calls = sum(part.calls for part in self._parts)
        """Calls needed if every answer can be read."""

    @property
    def done(self) -> int:
        return sum(part.done for part in self._parts)

    async def go(self, *, keys: Keys, cache_dir: Path) -> Trial:
        """Ask the run's learner, and keep the result in the run's directory. Raises EndpointError, DiskRefused."""
        answers: dict[tuple[str, int], Prediction] = {}
        for part in self._parts:
            await part.go(keys=keys, cache_dir=cache_dir)
            answers |= part.by_pair
        trial = Trial(
            step=self._view.last_step if self._view.last_step is not None else -1,
            rows=tuple(row.id for row in self._rows),
            no_rule=self._scores(self._no_rule, answers)[0],
            ideas=tuple(self._judge(item, answers) for item in self._items),
        )
        write_json(self._reader.directory.path / FILE, trial)
        return trial

    def _put_on_trial(self, ideas: Sequence[Idea], n: int) -> Iterator[_Item]:
        first_id = self._dataset.next_id
        answers, ids = self._reader.read_answers(), [hypothesis_id(idea.text) for idea in ideas]
        readings = program_readings(self._view, answers, self._dataset, ids)
        for number, (idea, identity) in enumerate(zip(ideas, ids, strict=True)):
            sentence, seed = idea.text.removeprefix(self._view.seed_text).strip(), self._config.seed
            options = {"n": n, "seed": seed, "number": number, "first_id": first_id}
            rows = changes(idea.text, self._dataset, **options, sentence=sentence)
            first_id += len(rows)
            yield _Item(idea=idea, changes=rows, clauses=clauses(readings[identity].program, idea.text))

    def _part(self, rows: Sequence[Row], texts: Sequence[str], programs: Sequence[Translation] | None = ()) -> Asking:
        answers = self._reader.read_answers().by_pair
        return Asking(self._reader, rows, texts=texts, answers=answers, programs=programs)

    def _scores(self, text: str, answers: Answers) -> tuple[float, Floats]:
        """Return a sentence's log-likelihood, and its loss on each scored row."""
        predictions = [answers[hypothesis_id(text), row.id] for row in self._rows]
        targets = [row.target for row in self._rows]
        likelihood = likelihood_of(self._dataset, self._config)
        log_lik = likelihood.log_likelihood([each.answer for each in predictions], targets)
        return log_lik, losses_of(self._dataset, tuple(each.value for each in predictions), targets)

    def _judge(self, item: _Item, answers: Answers) -> TriedIdea:
        identity, (whole, losses) = hypothesis_id(item.idea.text), self._scores(item.idea.text, answers)

        def gain_over(text: str) -> tuple[float, Obeyed]:
            """Return the log-likelihood gained over another text, and the rows with a smaller loss."""
            log_lik, others = self._scores(text, answers)
            return whole - log_lik, Obeyed(n=int((losses != others).sum()), obeyed=int((losses < others).sum()))

        def count(must_change: bool) -> Obeyed:
            judged = [
                change.is_obeyed(answers[identity, change.base.id].value, answers[identity, change.row.id].value)
                for change in item.changes
                if change.must_change == must_change
            ]
            return Obeyed(n=len(judged), obeyed=sum(judged))

        gain, over_no_rule = gain_over(self._no_rule)
        worth = ((clause.text, *gain_over(clause.without)) for clause in item.clauses)
        return TriedIdea(
            text=item.idea.text,
            weight=item.idea.weight,
            must_change=count(must_change=True),
            must_stay=count(must_change=False),
            log_likelihood=whole,
            clauses=tuple(ClauseWorth(text=text, log_likelihood_lost=lost, rows=rows) for text, lost, rows in worth),
            gain_over_no_rule=gain,
            over_no_rule=over_no_rule,
        )


# The learner without a rule, and with examples instead

EXAMPLES = 105
"""Purpose number of a draw of examples: SeedSequence(seed, spawn_key=(EXAMPLES, draw))."""
ASSUMED_CONTEXT = 8192
WITHOUT = "No rule is known: give the output that you expect for this input."
WITH = "No rule is known: answer as in these examples, each an input and its correct output."


class PromptedAsking:
    """The prompted baselines of a run being asked. Another thread may read the count meanwhile."""

    def __init__(self, directory: RunDirectory, *, calls: int | None = None) -> None:
        """calls: learner calls of the vote, by default the run's. Raises InputError without calls or test rows."""
        if calls is not None and calls < 1:
            raise InputError(f"calls is {calls}: give at least 1")
        self._directory, self._spec = directory, directory.spec()
        self._run_calls, self._n_test = read_view(directory.journal).usage.learner, self._spec.dataset["n_test"]
        if not self._run_calls:
            raise InputError(f"{directory.path} has asked its learner nothing yet: wait for its first step")
        if not self._n_test:
            raise InputError(f"{directory.path} has no test rows: it used every row to weigh hypotheses")
        self._n_draws = max(1, (calls or self._run_calls) // (self._spec.config.learner_samples * self._n_test))
        self.total, self.done = (self._n_draws + 1) * self._n_test, 0

    async def go(self, *, keys: Keys, cache_dir: Path) -> PromptedBaselines:
        """Ask the run's learner and keep the answers in the run's directory. Raises EndpointError."""
        calls: Counter[str] = Counter()

        def count(hypothesis: str, _: Prediction, attempts: int) -> None:
            calls[hypothesis] += attempts
            self.done += 1

        async with open_session(self._directory, Access(keys=keys, cache_dir=cache_dir, on_answer=count)) as session:
            dataset, seed_text = session.problem.dataset, session.problem.seed_text
            prompts, text = learner_prompts(self._spec, dataset), f"{seed_text} {WITH}"
            draws = [self._examples(draw, session, prompts, text) for draw in range(self._n_draws)]
            zero = f"{seed_text} {WITHOUT}"
            few = [f"{text}\n{render_rows(map(prompts.display, rows))}" for rows in draws]
            answers = await together(session.by_row.predict(each, dataset.test) for each in (zero, *few))

        def prompted(name: Any, places: Sequence[int], examples: int) -> Prompted:
            votes = [[prediction.answer for prediction in answers[place]] for place in places]
            equal = Mixture(weights=(1 / len(votes),) * len(votes), classes=dataset.classes)
            n_calls = sum(calls[hypothesis_id((zero, *few)[place])] for place in places)
            return Prompted(name=name, calls=n_calls, examples=examples, answers=averages_of(equal, votes))

        models = (
            prompted("zero-shot", [0], 0),
            prompted("few-shot", [1], len(draws[0])),
            prompted("few-shot vote", range(1, 1 + len(few)), min(map(len, draws))),
        )
        baselines = PromptedBaselines(
            rows=tuple(row.id for row in dataset.test), run_calls=self._run_calls, models=models
        )
        write_json(self._directory.path / PROMPTED, baselines)
        return baselines

    def _examples(self, draw: int, session: Session, prompts: LearnerPrompts, text: str) -> list[Row]:
        """Draw training rows in random order, as many as fit beside the longest test row and the answer."""
        dataset, limits = session.problem.dataset, session.learner_limits
        sequence = np.random.SeedSequence(self._spec.config.seed, spawn_key=(EXAMPLES, draw))
        order = np.random.default_rng(sequence).permutation(len(dataset.train)).tolist()
        longest = max(dataset.test, key=lambda row: len(render_input(row)))
        room = (limits.context_length or ASSUMED_CONTEXT) - limits.max_tokens
        room -= prompt_tokens(prompts.messages(text, longest))
        rows: list[Row] = []
        for row in (dataset.train[place] for place in order):
            room -= 1 + tokens_at_most(render_rows([prompts.display(row)]))
            if room < 0:
                break
            rows.append(row)
        return rows
