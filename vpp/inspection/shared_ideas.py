"""Ideas shared by several runs: identical answers, with the weight that each run gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vpp.data.dataset import Row
from vpp.events import Evaluated
from vpp.inspection.comparison import Candidate, same_row
from vpp.inspection.scores import Score, rows_by_id, score
from vpp.inspection.slots import behaviour, grouped, recorded_answers, totals


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
        return tuple(sorted(self.by_run))

    @property
    def weight(self) -> float:
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
        return tuple(idea for idea in self.all if idea.held_by == tuple(sorted(places)))

    @property
    def partly(self) -> tuple[SharedIdea, ...]:
        return tuple(idea for idea in self.all if 1 < len(idea.by_run) < len(self.places))

    def weight_of(self, place: int, ideas: Sequence[SharedIdea]) -> float:
        return sum(idea.by_run[place].weight for idea in ideas if place in idea.by_run)


def shared_ideas(runs: Mapping[int, Candidate]) -> SharedIdeas:
    """Group the particles of at least one run by their answers to the rows that every run evaluated.

    runs: by place, all with the same evaluated test rows; particles and weights are those of that evaluation.
    """
    evaluations = {place: _evaluations(run) for place, run in runs.items()}
    known = {place: recorded_answers(each) for place, each in evaluations.items()}
    first = next(iter(runs.values())).dataset
    rows = _common_rows([(rows_by_id(run.dataset), evaluations[place]) for place, run in runs.items()])
    groups = grouped(
        (behaviour(known[place][particle.hypothesis][row] for row in rows), particle)
        for place, run in runs.items()
        for particle in _particles(place, run)
    )
    shared = set(rows)
    test = [row for row in first.test if row.id in shared]
    ideas = []
    for particles in groups.values():
        answers = known[particles[0].place][particles[0].hypothesis]
        on_test = score([answers[row.id] for row in test], test, first)
        ideas.append(SharedIdea(by_run=_holdings(particles), score=on_test))
    ideas.sort(key=lambda idea: (-len(idea.by_run), -idea.weight, idea.held_by))
    return SharedIdeas(all=tuple(ideas), places=tuple(runs), n_rows=len(rows))


class _Particle(NamedTuple):
    """One particle of a run's last evaluation of the test rows."""

    place: int
    hypothesis: str
    text: str
    weight: float


def _particles(place: int, run: Candidate) -> list[_Particle]:
    if run.test is None:
        return []
    slots = zip(run.test.hypotheses, run.test.weights, strict=True)
    return [_Particle(place, hypothesis, run.view.texts[hypothesis], weight) for hypothesis, weight in slots]


def _holdings(particles: Sequence[_Particle]) -> dict[int, Holding]:
    holdings = {}
    for place, own in sorted(grouped((particle.place, particle) for particle in particles).items()):
        texts = totals((particle.text, particle.weight) for particle in own)
        holdings[place] = Holding(
            weight=sum(texts.values()),
            text=max(texts, key=lambda text: texts[text]),
            n_texts=len(texts),
            n_particles=len(own),
        )
    return holdings


def _evaluations(run: Candidate) -> list[Evaluated]:
    if run.test is None:
        return []
    return [each for each in run.view.evaluated.values() if set(run.test.hypotheses) <= set(each.hypotheses)]


def _common_rows(tables: Sequence[tuple[Mapping[int, Row], Sequence[Evaluated]]]) -> list[int]:
    """Ids of the rows that every run evaluated and that are equal in all of them. tables: rows by id, evaluations."""
    (table, _), *others = tables
    covered = set.intersection(*({row for each in evaluations for row in each.rows} for _, evaluations in tables))
    return [row for row in sorted(covered) if all(same_row(table[row], rows[row]) for rows, _ in others)]
