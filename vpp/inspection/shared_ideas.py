"""Ideas shared by several runs: identical answers, with the weight that each run gives them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from vpp.data.dataset import Row
from vpp.events import Evaluated, Votes
from vpp.inspection.comparison import Candidate, same_row
from vpp.inspection.scores import Score, behaviour, rows_by_id, score
from vpp.posterior.prediction import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One run's share of an idea."""

    weight: float
    """Total weight of its particles in the run."""
    text: str
    """Heaviest wording in the run."""
    n_texts: int
    """Distinct wordings in the run."""
    n_particles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdea:
    """Particles of several runs with the same answers to the rows compared."""

    by_run: Mapping[int, Holding]
    """Share by place of the run; only runs that have the idea."""
    score: Score
    """Score on the test rows."""

    @property
    def held_by(self) -> tuple[int, ...]:
        """Places of the runs that have it."""
        return tuple(sorted(self.by_run))

    @property
    def weight(self) -> float:
        """Sum of its weights in all runs."""
        return sum(holding.weight for holding in self.by_run.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdeas:
    """Ideas of all runs: those of the most runs first, then the heaviest."""

    all: tuple[SharedIdea, ...]
    places: tuple[int, ...]
    """Places of the runs, as in `by_run`."""
    n_rows: int
    """Rows compared: those that every run evaluated."""

    def held_by(self, *places: int) -> tuple[SharedIdea, ...]:
        """Ideas of exactly these runs."""
        return tuple(idea for idea in self.all if idea.held_by == tuple(sorted(places)))

    @property
    def partly(self) -> tuple[SharedIdea, ...]:
        """Ideas of several runs, but not of all."""
        return tuple(idea for idea in self.all if 1 < len(idea.by_run) < len(self.places))

    def weight_of(self, place: int, ideas: Sequence[SharedIdea]) -> float:
        """Total weight of these ideas in a run."""
        return sum(idea.by_run[place].weight for idea in ideas if place in idea.by_run)


def shared_ideas(runs: Mapping[int, Candidate]) -> SharedIdeas:
    """Group the particles of at least one run by their answers to the rows that every run evaluated.

    runs: by place, all with the same evaluated test rows; particles and weights are those of that evaluation.
    """
    known = {place: _known(run) for place, run in runs.items()}
    first = next(iter(runs.values()))
    rows = _common_rows(runs, known)
    test = [row.id for row in first.dataset.test if row.id in rows]
    groups: dict[Hashable, _Group] = {}
    for place, run in runs.items():
        for text, weight, answers in _particles(run, known[place]):
            alike = behaviour(answers[row] for row in rows)
            groups.setdefault(alike, _Group(tuple(answers[row] for row in test))).add(place, text, weight)
    scored = tuple(row for row in first.dataset.test if row.id in rows)
    ideas = [SharedIdea(by_run=g.holdings(), score=score(g.on_test, scored, first.dataset)) for g in groups.values()]
    ideas.sort(key=lambda idea: (-len(idea.by_run), -idea.weight, idea.held_by))
    return SharedIdeas(all=tuple(ideas), places=tuple(runs), n_rows=len(rows))


@dataclass(slots=True)
class _Group:
    on_test: Votes
    texts: dict[int, dict[str, float]] = field(default_factory=dict)
    """Weight by run and text."""
    particles: dict[int, int] = field(default_factory=dict)

    def add(self, place: int, text: str, weight: float) -> None:
        own = self.texts.setdefault(place, {})
        own[text] = own.get(text, 0.0) + weight
        self.particles[place] = self.particles.get(place, 0) + 1

    def holdings(self) -> dict[int, Holding]:
        return {
            place: Holding(
                weight=sum(own.values()),
                text=max(own, key=lambda text: own[text]),
                n_texts=len(own),
                n_particles=self.particles[place],
            )
            for place, own in sorted(self.texts.items())
        }


_Answers = dict[str, dict[int, Value | None]]
"""Answer by hypothesis id and row id."""


def _evaluations(run: Candidate) -> list[Evaluated]:
    """Evaluations that cover the texts of the last test evaluation, itself included."""
    if run.test is None:
        return []
    return [each for each in run.view.evaluated.values() if set(run.test.hypotheses) <= set(each.hypotheses)]


def _known(run: Candidate) -> _Answers:
    known: _Answers = {}
    for each in _evaluations(run):
        for hypothesis, answers in dict(zip(each.hypotheses, each.predictions, strict=True)).items():
            known.setdefault(hypothesis, {}).update(zip(each.rows, answers, strict=True))
    return known


def _common_rows(runs: Mapping[int, Candidate], known: Mapping[int, _Answers]) -> dict[int, Row]:
    """Rows that every run evaluated and that are equal in all of them, by id."""
    tables = [(rows_by_id(run.dataset), _covered(run)) for run in runs.values()]
    table, covered = tables[0]
    return {
        row: table[row]
        for row in sorted(covered)
        if all(row in theirs and same_row(table[row], rows[row]) for rows, theirs in tables[1:])
    }


def _covered(run: Candidate) -> set[int]:
    return {row for each in _evaluations(run) for row in each.rows}


def _particles(run: Candidate, known: _Answers) -> list[tuple[str, float, dict[int, Value | None]]]:
    """(text, weight, answers by row) of each slot, as evaluated."""
    if run.test is None:
        return []
    slots = zip(run.test.hypotheses, run.test.weights, strict=True)
    return [(run.view.texts[hypothesis], weight, known[hypothesis]) for hypothesis, weight in slots]
