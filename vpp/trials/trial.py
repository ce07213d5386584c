"""The result of a trial, and the file that keeps it: trial.json in the run's directory.

A trial being asked: changed rows of each idea, its sentence without each clause, and the learner without a rule."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp import files
from vpp.data.dataset import Dataset, Row, Value
from vpp.data.labelling import input_key
from vpp.errors import InputError, RunError
from vpp.events import hypothesis_id
from vpp.inspection.ideas import Idea, merge_ideas
from vpp.posterior.likelihood import Likelihood
from vpp.posterior.metric import wilson
from vpp.problem import Prediction, likelihood_of
from vpp.runs.asking import WITHOUT, Answers, Asking, OnProgress
from vpp.runs.directory import RunDirectory, write_or_refuse
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView, last_finished
from vpp.trials.counterfactuals import Change, Clause, agree, changes, clauses

FILE = "trial.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obeyed:
    """How many of n changed rows the learner answered as the sentence demands."""

    n: int
    obeyed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseWorth:
    """A clause of a sentence, and what its loss costs."""

    start: int
    end: int
    """Its place in the sentence, without the seed sentence."""
    text: str
    log_likelihood_lost: float
    """Log-likelihood of the whole sentence, minus that of the sentence without the clause; natural log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedIdea:
    """An idea's heaviest wording on trial."""

    text: str
    """The whole hypothesis, seed sentence included."""
    weight: float
    """The idea's."""
    must_change: Obeyed
    """Rows with a cell changed so that the sentence's answer changes."""
    must_stay: Obeyed
    """Rows with a cell changed that the sentence does not name."""
    log_likelihood: float
    """Over the trial's rows, natural log."""
    clauses: tuple[ClauseWorth, ...]
    gain_over_no_rule: float
    """Its log-likelihood minus that of the learner without a rule, on the same rows."""

    @property
    def faithful(self) -> Obeyed:
        """Both kinds of changed rows together."""
        n = self.must_change.n + self.must_stay.n
        return Obeyed(n=n, obeyed=self.must_change.obeyed + self.must_stay.obeyed)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalPair:
    """A row on which two ideas agree, and one cell's change that parts them."""

    inputs: tuple[tuple[str, str | None], ...]
    """The changed row."""
    column: str
    before: str | None
    after: str | None
    ideas: tuple[int, int]
    """Places in `Trial.ideas`."""
    answers: tuple[Value | None, Value | None]
    """Theirs to the changed row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Content of trial.json."""

    step: int
    """The run's last complete step then."""
    rows: tuple[int, ...]
    """(M,) ids of the training rows that clauses and the learner without a rule were scored on."""
    no_rule: float
    """Log-likelihood of the learner without a rule on these rows, natural log."""
    ideas: tuple[TriedIdea, ...]
    """Heaviest first."""
    pairs: tuple[MinimalPair, ...]


_CONTENT: TypeAdapter[Trial] = TypeAdapter(Trial)


def keep(directory: RunDirectory, trial: Trial) -> None:
    """Write trial.json. Raises DiskRefused."""
    write_or_refuse(directory.path / FILE, to_json(trial, inf_nan_mode="strings"))


def read_trial(directory: RunDirectory, view: RunView) -> Trial | None:
    """Read trial.json; None if it is missing, unreadable or from an earlier step."""
    try:
        trial = _CONTENT.validate_python(files.read_json(directory.path / FILE))
    except (OSError, ValueError, ValidationError):
        return None
    return trial if trial.step == view.last_step else None


def parting_rows(trial: Trial | None, dataset: Dataset, n: int) -> tuple[Row, ...]:
    """Return at most n distinct unlabelled rows on which two ideas part, under new ids; none without a trial."""
    known = {input_key(row) for row in dataset.labelled}
    rows = (Row(id=0, inputs=pair.inputs, target=None) for pair in (trial.pairs if trial else ()))
    new = {input_key(row): row for row in rows if input_key(row) not in known}
    return tuple(replace(row, id=dataset.next_id + place) for place, row in enumerate(list(new.values())[:n]))


def trial_json(run: str, trial: Trial) -> dict[str, Any]:
    """Return the object that `vpp trial --json` prints; rates have Wilson's 95 % interval, logarithms are natural."""
    return {
        "run": run,
        "step": trial.step,
        "rows": len(trial.rows),
        "log_likelihood_no_rule": trial.no_rule,
        "ideas": [_idea_json(idea) for idea in trial.ideas],
        "pairs": [asdict(pair) | {"inputs": dict(pair.inputs)} for pair in trial.pairs],
    }


def _idea_json(idea: TriedIdea) -> dict[str, Any]:
    return {
        "text": idea.text,
        "weight": idea.weight,
        "faithfulness": _rate(idea.faithful),
        "must_change": _rate(idea.must_change),
        "must_stay": _rate(idea.must_stay),
        "log_likelihood": idea.log_likelihood,
        "clauses": [{"text": each.text, "log_likelihood_lost": each.log_likelihood_lost} for each in idea.clauses],
        "gain_over_no_rule": idea.gain_over_no_rule,
    }


def _rate(found: Obeyed) -> dict[str, float | None]:
    if not found.n:
        return {"rate": None, "low": None, "high": None, "n": 0}
    low, high = wilson(found.obeyed, found.n)
    return {"rate": found.obeyed / found.n, "low": low, "high": high, "n": found.n}


SCORED = 108
"""Purpose number of the draw of scored rows: SeedSequence(seed, spawn_key=(SCORED,))."""
MOST_PAIRS = 20
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
    sentence: str
    """Without the seed sentence."""
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
        self._tried = list(self._on_trial(list(ideas)[: size.ideas], size))
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=(SCORED,)))
        drawn = sorted(rng.permutation(len(self._dataset.train))[: size.rows].tolist())
        self._scored = tuple(self._dataset.train[place] for place in drawn)
        changed = {row.id: row for tried in self._tried for each in tried.changes for row in (each.base, each.row)}
        self._asked = [
            self._asking(tuple(changed.values()), [tried.idea.text for tried in self._tried]),
            self._asking(self._scored, list(dict.fromkeys(self._sentences()))),
        ]
        self.total = sum(asking.total for asking in self._asked)
        """Questions."""
        self.calls = sum(asking.calls for asking in self._asked)
        """Calls needed if every answer can be read."""

    @property
    def done(self) -> int:
        """Answered questions."""
        return sum(asking.done for asking in self._asked)

    async def go(self, *, keys: Keys, cache_dir: Path, on_progress: OnProgress | None = None) -> Trial:
        """Ask the run's learner, and keep the result in the run's directory. Raises EndpointError, DiskRefused."""

        def count(*_: int) -> None:
            if on_progress:
                on_progress(self.done, self.total)

        said: dict[tuple[str, int], Prediction] = {}
        for asking in self._asked:
            said |= _by_pair(await asking.go(keys=keys, cache_dir=cache_dir, on_progress=count))
        trial = self._found(said)
        keep(self._reader.directory, trial)
        return trial

    def _on_trial(self, ideas: Sequence[Idea], size: TrialSize) -> Iterator[_OnTrial]:
        first_id = self._dataset.next_id
        for number, idea in enumerate(ideas):
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
            yield _OnTrial(idea=idea, sentence=sentence, changes=found, clauses=clauses(sentence))

    def _asking(self, rows: Sequence[Row], texts: Sequence[str]) -> Asking:
        known = self._reader.read_answers().by_pair
        return Asking(self._reader.directory, rows, view=self._view, texts=texts, known=known)

    def _whole(self, sentence: str) -> str:
        return f"{self._seed_text} {sentence}".strip()

    def _sentences(self) -> Iterator[str]:
        """Yield every text that is scored: the learner without a rule, and each idea whole and without each clause."""
        yield self._whole(WITHOUT)
        for tried in self._tried:
            yield tried.idea.text
            yield from (self._whole(clause.without) for clause in tried.clauses)

    # What came of it

    def _found(self, said: Said) -> Trial:
        at = last_finished(self._view).finished
        likelihood = likelihood_of(self._dataset, epsilon=self._config.epsilon, tau=at.tau if at else None)
        no_rule = self._score(self._whole(WITHOUT), said, likelihood)
        return Trial(
            step=self._view.last_step if self._view.last_step is not None else -1,
            rows=tuple(row.id for row in self._scored),
            no_rule=no_rule,
            ideas=tuple(self._tried_idea(tried, said, likelihood, no_rule) for tried in self._tried),
            pairs=tuple(self._pairs(said))[:MOST_PAIRS],
        )

    def _score(self, text: str, said: Said, likelihood: Likelihood) -> float:
        identity = hypothesis_id(text)
        answers = [said[identity, row.id].answer for row in self._scored]
        return float(likelihood.terms(answers, [row.target for row in self._scored]).sum())

    def _tried_idea(self, tried: _OnTrial, said: Said, likelihood: Likelihood, no_rule: float) -> TriedIdea:
        whole, identity = self._score(tried.idea.text, said, likelihood), hypothesis_id(tried.idea.text)

        def obeyed(must_change: bool) -> Obeyed:
            judged = [
                change.is_obeyed(said[identity, change.base.id].value, said[identity, change.row.id].value)
                for change in tried.changes
                if change.must_change == must_change
            ]
            return Obeyed(n=len(judged), obeyed=sum(judged))

        return TriedIdea(
            text=tried.idea.text,
            weight=tried.idea.weight,
            must_change=obeyed(must_change=True),
            must_stay=obeyed(must_change=False),
            log_likelihood=whole,
            clauses=tuple(
                ClauseWorth(
                    start=each.start,
                    end=each.end,
                    text=each.text,
                    log_likelihood_lost=whole - self._score(self._whole(each.without), said, likelihood),
                )
                for each in tried.clauses
            ),
            gain_over_no_rule=whole - no_rule,
        )

    def _pairs(self, said: Said) -> Iterator[MinimalPair]:
        """Yield changed rows that part two ideas which agree on the row before the change, the heaviest ideas first."""
        every = {change.row.inputs: change for tried in self._tried for change in tried.changes}.values()
        identities = [hypothesis_id(tried.idea.text) for tried in self._tried]
        for one, other in combinations(range(len(self._tried)), 2):
            for change in every:
                before = [said[identities[place], change.base.id].value for place in (one, other)]
                after = [said[identities[place], change.row.id].value for place in (one, other)]
                if agree(*before) and None not in after and not agree(*after):
                    yield MinimalPair(
                        inputs=change.row.inputs,
                        column=change.column,
                        before=change.cells[0],
                        after=change.cells[1],
                        ideas=(one, other),
                        answers=(after[0], after[1]),
                    )


def _by_pair(answers: Answers) -> Said:
    identities = map(hypothesis_id, answers.texts)
    return {
        (identity, row.id): prediction
        for identity, said in zip(identities, answers.predictions, strict=True)
        for row, prediction in zip(answers.rows, said, strict=True)
    }
