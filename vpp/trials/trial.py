"""A trial of ideas: each without a clause, and the learner without a rule; and trial.json, its result.

A clause is a branch of the sentence's program: leaving it out costs no call.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from vpp import files
from vpp.errors import InputError, RunError
from vpp.events import hypothesis_id
from vpp.inspection.ideas import Idea, merge_ideas
from vpp.inspection.programs import program_readings
from vpp.posterior.metric import CHANCE, sign_test, wilson
from vpp.posterior.weights import Floats
from vpp.problem import Prediction, Translation, likelihood_of, losses_of
from vpp.programs.source import Program
from vpp.runs.asking import WITHOUT, Asking, OnProgress
from vpp.runs.directory import RunDirectory, write_or_refuse
from vpp.runs.keys import Keys
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a hypothesis that can be left out: a branch of its program that has a condition."""

    text: str
    without: str
    """Stands for the sentence without it."""
    code: str
    """The program without it."""


def clauses(program: Program | None, sentence: str) -> tuple[Clause, ...]:
    """Return the clauses in order; empty without a program, and if only the whole could be left out."""
    branches = program.branches if program and len(program.branches) > 1 else ()
    return tuple(
        Clause(text=program.words(at), without=f"{sentence} (without branch {at})", code=program.without(at))
        for at, branch in enumerate(branches)
        if program and branch.condition
    )


FILE = "trial.json"


FINDINGS = ("undecided", "it helps", "it hurts")
"""What the rows say of a clause, by `Trial.sign`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wins:
    """How many of n rows a sentence answers better than another."""

    n: int = 0
    wins: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; 0 to 1 without a row."""
        return wilson(self.wins, self.n) if self.n else (0.0, 1.0)

    def sign(self, *, best_of: int = 1) -> int:
        """Return 1 if more rows speak for it than luck explains, -1 if fewer, else 0: so for fewer than six rows."""
        against = self.n - self.wins
        return (sign_test(self.wins, against, best_of=best_of) < CHANCE) * (1 if self.wins > against else -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseWorth:
    """A clause of a sentence, and what its loss costs."""

    text: str
    log_likelihood_lost: float
    """Log-likelihood of the whole sentence, minus that of the sentence without the clause; natural log."""
    rows: Wins = Wins()
    """Rows with a smaller loss with the clause, of those where it changes the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedIdea:
    """An idea's heaviest wording on trial."""

    text: str
    """The whole hypothesis, seed sentence included."""
    weight: float
    log_likelihood: float
    """Over the trial's rows, natural log."""
    clauses: tuple[ClauseWorth, ...]
    gain_over_no_rule: float
    """Its log-likelihood minus that of the learner without a rule, on the same rows."""
    over_no_rule: Wins = Wins()
    """Rows with a smaller loss than without a rule, of those that differ."""


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

    def sign(self, clause: ClauseWorth) -> int:
        """Return 1 if the clause helps beyond luck, among all clauses on trial, -1 if it hurts, else 0."""
        return clause.rows.sign(best_of=sum(len(idea.clauses) for idea in self.ideas))


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


def trial_json(run: str, trial: Trial) -> dict[str, Any]:
    """Return the object that `vpp trial --json` prints; rates have Wilson's 95 % interval, logarithms are natural."""
    return {
        "run": run,
        "step": trial.step,
        "rows": len(trial.rows),
        "log_likelihood_no_rule": trial.no_rule,
        "ideas": [
            {
                "text": idea.text,
                "weight": idea.weight,
                "log_likelihood": idea.log_likelihood,
                "clauses": [
                    {"text": c.text, "log_likelihood_lost": c.log_likelihood_lost, "rows": _rate(c.rows)}
                    | {"finding": FINDINGS[trial.sign(c)]}
                    for c in idea.clauses
                ],
                "gain_over_no_rule": idea.gain_over_no_rule,
                "rows_over_no_rule": _rate(idea.over_no_rule),
            }
            for idea in trial.ideas
        ],
    }


def _rate(found: Wins) -> dict[str, float | None]:
    if not found.n:
        return {"rate": None, "low": None, "high": None, "n": 0}
    low, high = found.interval
    return {"rate": found.wins / found.n, "low": low, "high": high, "n": found.n}


SCORED = 108
"""Purpose number of the draw of scored rows: SeedSequence(seed, spawn_key=(SCORED,))."""
Said = Mapping[tuple[str, int], Prediction]
"""Answers by hypothesis id and row id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSize:
    """How much a trial asks. Raises InputError for a number below 1."""

    ideas: int = 3
    """Most ideas, the heaviest."""
    rows: int = 40
    """Most training rows on which sentences are scored, drawn by seed."""

    def __post_init__(self) -> None:
        for name in ("ideas", "rows"):
            if (value := getattr(self, name)) < 1:
                raise InputError(f"{name} is {value}: give at least 1")


USUAL = TrialSize()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnTrial:
    """An idea and its clauses."""

    idea: Idea
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
        self._tried = list(self._on_trial(list(ideas)[: size.ideas]))
        rng = np.random.default_rng(np.random.SeedSequence(self._config.seed, spawn_key=(SCORED,)))
        drawn = sorted(rng.permutation(len(self._dataset.train))[: size.rows].tolist())
        self._scored = tuple(self._dataset.train[place] for place in drawn)
        self._asked = [
            self._asking(list(dict.fromkeys(self._sentences())), tuple(self._programs())),
            self._asking([self._whole(WITHOUT)], None),
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
        trial = self._found(said)
        keep(self._reader.directory, trial)
        return trial

    def _on_trial(self, ideas: Sequence[Idea]) -> Iterator[_OnTrial]:
        answers, ids = self._reader.read_answers(), [hypothesis_id(idea.text) for idea in ideas]
        programs = [each.program for each in program_readings(self._view, answers, self._dataset, ids).values()]
        for idea, program in zip(ideas, programs, strict=True):
            yield _OnTrial(idea=idea, clauses=clauses(program, idea.text.removeprefix(self._seed_text).strip()))

    def _asking(self, texts: Sequence[str], programs: Sequence[Translation] | None) -> Asking:
        directory, known = self._reader.directory, self._reader.read_answers().by_pair
        return Asking(directory, self._scored, view=self._view, texts=texts, known=known, programs=programs)

    def _programs(self) -> Iterator[Translation]:
        """Yield what each sentence without a branch is read as."""
        for each in (clause for tried in self._tried for clause in tried.clauses):
            yield Translation(hypothesis=hypothesis_id(self._whole(each.without)), code=each.code, attempts=0)

    def _whole(self, sentence: str) -> str:
        return f"{self._seed_text} {sentence}".strip()

    def _sentences(self) -> Iterator[str]:
        """Yield every text that is scored: each idea whole and without each clause."""
        for tried in self._tried:
            yield tried.idea.text
            yield from (self._whole(clause.without) for clause in tried.clauses)

    # What came of it

    def _found(self, said: Said) -> Trial:
        return Trial(
            step=self._view.last_step if self._view.last_step is not None else -1,
            rows=tuple(row.id for row in self._scored),
            no_rule=self._scores(self._whole(WITHOUT), said)[0],
            ideas=tuple(self._tried_idea(tried, said) for tried in self._tried),
        )

    def _scores(self, text: str, said: Said) -> tuple[float, Floats]:
        """Return a sentence's log-likelihood, and its loss on each scored row."""
        answers, targets = [said[hypothesis_id(text), row.id] for row in self._scored], [r.target for r in self._scored]
        log_lik = likelihood_of(self._dataset, self._config).log_likelihood([each.answer for each in answers], targets)
        return log_lik, losses_of(self._dataset, tuple(each.value for each in answers), targets)

    def _tried_idea(self, tried: _OnTrial, said: Said) -> TriedIdea:
        whole, losses = self._scores(tried.idea.text, said)

        def over(sentence: str) -> tuple[float, Wins]:
            """Return the log-likelihood gained over another sentence, and the rows with a smaller loss."""
            log_lik, others = self._scores(self._whole(sentence), said)
            return whole - log_lik, Wins(n=int((losses != others).sum()), wins=int((losses < others).sum()))

        gain, over_no_rule = over(WITHOUT)
        without = [(each, *over(each.without)) for each in tried.clauses]
        return TriedIdea(
            text=tried.idea.text,
            weight=tried.idea.weight,
            log_likelihood=whole,
            clauses=tuple(
                ClauseWorth(text=each.text, log_likelihood_lost=lost, rows=rows) for each, lost, rows in without
            ),
            gain_over_no_rule=gain,
            over_no_rule=over_no_rule,
        )
