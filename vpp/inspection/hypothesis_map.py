"""A map of a step's hypotheses: a dot per behaviour; the distance of two dots is near that of their answers.

Particles with the same answers share a dot. Distances lie between 0 and 1: for labels the share of rows answered
differently, for numbers the mean absolute difference of the answers as a share of the target's range. Only recorded
answers count. Each map is aligned to that of the step before, from the first hypotheses on, so that a hypothesis that
stays does not jump.
"""

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Scored, Votes
from vpp.inspection.scaling import NARROWEST, aligned, classical_scaling, frame, stress
from vpp.inspection.similarity import closeness, mean_absolute_differences, share_alike
from vpp.inspection.slots import behaviour, came_from, generation_at, grouped, recorded_answers, weights_of
from vpp.posterior.weights import Floats
from vpp.runs.view import RunView, StepView
from vpp.settings import Config

LOOK_BACK = 10
"""Most steps whose answers are compared, without weights; smc compares those to the rows that weigh the texts."""
ENOUGH = 3
"""Fewest pairs that fix both the turn and the side of a map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A dot: particles with the same answers on all rows compared."""

    x: float
    """Distance to the right of the frame's middle."""
    y: float
    """Distance below the frame's middle."""
    weight: float
    """Total weight of its particles."""
    slots: tuple[int, ...]
    """Slots of its particles, ascending; of a dot that is gone those at the step before."""
    front: int
    """Slot of its heaviest particle."""
    text: str
    """Hypothesis of that particle."""
    apart: float = 0.0
    """Distance from the heaviest dot; 0 if gone."""
    parents: tuple[tuple[float, float], ...] = ()
    """Where its particles' parents are drawn, each once: at a dot of the step, or at one that is gone."""
    is_gone: bool = False
    """True if it is a dot of the step before whose texts are gone, drawn where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisMap:
    """The dots of a step."""

    points: tuple[Point, ...] = ()
    """Heaviest first, then those gone; empty if no row was answered by all particles."""
    n_particles: int = 0
    n_rows: int = 0
    """Rows that every particle has answered: those compared."""
    stress: float = 0.0
    """Kruskal's stress-1; 0 with fewer than two dots."""
    half: float = NARROWEST
    """Half the width of the frame, as a distance."""
    is_weighted: bool = True
    """False if all particles count alike."""
    is_label: bool = True
    """False for regression."""
    seed_text: str = ""

    @property
    def alive(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if not point.is_gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """Places of a population."""

    ids: tuple[str, ...]
    """(K,) hypothesis by slot."""
    weights: tuple[float, ...]
    """(K,) by slot."""
    dots: tuple[int, ...]
    """(K,) number of the dot by slot."""
    places: Floats
    """(n, 2) aligned."""
    apart: Floats
    """(n,) distance from the heaviest dot."""
    stress: float
    n_rows: int
    centre: Floats
    """(2,) middle of the frame."""
    half: float


def hypothesis_map(view: RunView, config: Config, dataset: Dataset, step: int | None) -> HypothesisMap:
    """Map the hypotheses that the cards of `step` show; None is the end. Steps mapped before are remembered."""
    last, mapper = generation_at(view, config, step), _Mapper(view, config, dataset)
    before, placed = None, None
    for at in view.finished_steps:
        if last is not None and at.step <= last:
            before, placed = placed, mapper.place(at, placed, is_end=step is None and at.step == last)
    about = HypothesisMap(
        n_particles=0 if last is None else len(view.steps[last].population),
        is_weighted=config.is_weighted,
        is_label=dataset.task == "classification",
        seed_text=view.started.seed_text if view.started else "",
    )
    return about if last is None or placed is None else _drawn(view, view.steps[last], placed, before, about)


class _Mapper:
    """Places the populations of a run, each aligned to the one before."""

    def __init__(self, view: RunView, config: Config, dataset: Dataset) -> None:
        self._view, self._config, self._dataset = view, config, dataset

    def place(self, at: StepView, before: _Placed | None, *, is_end: bool) -> _Placed | None:
        """Place the population after a step; None if no row was answered by all of it.

        Remember the places with the step that brought the last of their answers.
        """
        holder = self._view.steps.get(self._newest(at.step))
        make = partial(self._placed, at, before, is_end=is_end)
        return make() if is_end or holder is None else holder.once(f"map of {at.step}", make)

    def _newest(self, generation: int) -> int:
        """Step that scores the last texts of a population: mh has scored them before it accepts them."""
        is_judged = self._config.is_filtered and not self._config.is_weighted
        return max(generation, 0) if is_judged else generation + 1

    def _placed(self, at: StepView, before: _Placed | None, *, is_end: bool) -> _Placed | None:
        ids = tuple(state.hypothesis for state in at.population)
        answers = self._answers(ids, at.step, is_end=is_end)
        if not answers[0]:
            return None
        is_label = self._dataset.task == "classification"
        dots = _numbered(answers if is_label else [behaviour(votes) for votes in answers])
        weights = weights_of(self._view, at.step, is_end=is_end)
        distances = self._distances(list(dict(zip(dots, answers, strict=True)).values()))
        raw = classical_scaling(distances)
        places = _aligned(raw, ids, dots, at, before)
        shown = places if before is None else np.vstack((places, before.places[_gone(before, ids)]))
        centre, half = frame(shown, None if before is None else (before.centre, before.half))
        return _Placed(
            ids=ids,
            weights=weights,
            dots=dots,
            places=places,
            apart=distances[np.bincount(dots, weights).argmax()].copy(),
            stress=stress(distances, raw) if len(raw) > 1 else 0.0,
            n_rows=len(answers[0]),
            centre=centre,
            half=half,
        )

    def _answers(self, ids: Sequence[str], generation: int, *, is_end: bool) -> list[Votes]:
        known = recorded_answers(self._events(frozenset(ids), generation, is_end=is_end))
        asked = [known.get(hypothesis, {}) for hypothesis in set(ids)]
        rows = sorted(set(asked[0]).intersection(*asked[1:]))
        by_id = {hypothesis: tuple(map(known[hypothesis].get, rows)) for hypothesis in set(ids) if rows}
        return [by_id.get(hypothesis, ()) for hypothesis in ids]

    def _events(self, ids: AbstractSet[str], generation: int, *, is_end: bool) -> list[Evaluated | Scored]:
        """Answers of a population, oldest first: its evaluation at the end; else those that smc weighed it by.

        Without weights, the answers of the last steps that asked about every text.
        """
        view, newest = self._view, self._newest(generation)
        if is_end:
            both: list[Evaluated | Scored] = [e for after, e in view.evaluations if after == generation]
            both += view.final_scored.values()
            if _covers(both, ids):
                return both
        found: list[Evaluated | Scored] = []
        for step in range(newest, newest - (1 if self._config.is_weighted else LOOK_BACK), -1):
            at = view.steps.get(step, StepView(step=step))
            made = [*at.scored.values(), *(at.proposals_scored.values() if step <= generation else ())]
            ours = {(scored.hypothesis, scored.rows): scored for scored in made if scored.hypothesis in ids}
            if _covers(ours.values(), ids):
                found += reversed(ours.values())
            elif found:
                break  # some text is younger: it has no answers to earlier rows
        return found[::-1]

    def _distances(self, answers: Sequence[Votes]) -> Floats:
        """(n, n) between 0 and 1, by dot."""
        if self._dataset.task == "classification":
            return 1 - share_alike(answers)
        span = self._dataset.target_range
        return 1 - closeness(mean_absolute_differences(answers, span=span), span=span)


def _numbered(keys: Sequence[Hashable]) -> tuple[int, ...]:
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)


def _covers(events: Iterable[Evaluated | Scored], ids: AbstractSet[str]) -> bool:
    asked: set[str] = set()
    for event in events:
        asked.update((event.hypothesis,) if isinstance(event, Scored) else event.hypotheses)
    return ids <= asked


def _aligned(points: Floats, ids: Sequence[str], dots: Sequence[int], at: StepView, before: _Placed | None) -> Floats:
    """Align new places by the hypotheses that both populations have; by each particle's parent if these are few."""
    if before is None:
        return points
    were = dict(zip(before.ids, before.dots, strict=True))
    pairs = {(dot, were[hypothesis]) for dot, hypothesis in zip(dots, ids, strict=True) if hypothesis in were}
    if len(pairs) < ENOUGH:
        parents = [came_from(at, slot) for slot in range(len(ids))]
        pairs = {(dot, before.dots[k]) for dot, k in zip(dots, parents, strict=True) if k is not None}
    if not pairs:
        return points
    now, then = zip(*sorted(pairs), strict=True)
    return aligned(points, points[list(now)], before.places[list(then)])


def _gone(before: _Placed, ids: Sequence[str]) -> list[int]:
    stay = {dot for dot, hypothesis in zip(before.dots, before.ids, strict=True) if hypothesis in ids}
    return sorted({*before.dots} - stay)


def _drawn(view: RunView, at: StepView, placed: _Placed, before: _Placed | None, about: HypothesisMap) -> HypothesisMap:
    alive, gone = _points(view, placed, placed.centre), list[Point]()
    if before:
        were = _points(view, before, placed.centre)
        parents = [came_from(at, slot) for slot in range(len(placed.dots))]
        met = _met(placed, before, alive, were)
        ways = [dict.fromkeys(met[k] for slot in each.slots if (k := parents[slot]) is not None) for each in alive]
        gone = [replace(were[dot], apart=0.0, is_gone=True) for dot in _gone(before, placed.ids)]
        alive = [
            replace(each, parents=tuple(place for place in way if place != (each.x, each.y)))
            for each, way in zip(alive, ways, strict=True)
        ]
    points = (*sorted(alive, key=_heaviest_first), *sorted(gone, key=_heaviest_first))
    return replace(about, points=points, n_rows=placed.n_rows, stress=placed.stress, half=placed.half)


def _met(placed: _Placed, before: _Placed, alive: Sequence[Point], were: Sequence[Point]) -> list[tuple[float, float]]:
    """(K,) by slot of the step before, where its text is drawn; where others of its dot are, if it is rewritten."""
    now = dict(zip(placed.ids, placed.dots, strict=True))
    stays = {dot: alive[now[each]] for each, dot in zip(before.ids, before.dots, strict=True) if each in now}
    met = [
        alive[now[each]] if each in now else stays.get(dot, were[dot])
        for each, dot in zip(before.ids, before.dots, strict=True)
    ]
    return [(point.x, point.y) for point in met]


def _points(view: RunView, of: _Placed, centre: Floats) -> list[Point]:
    """Dots of a population. centre: middle of the frame."""
    by_dot = grouped((dot, slot) for slot, dot in enumerate(of.dots))
    return [_point(view, of, dot, slots, centre) for dot, slots in by_dot.items()]


def _point(view: RunView, of: _Placed, dot: int, slots: Sequence[int], centre: Floats) -> Point:
    front = max(slots, key=lambda slot: (of.weights[slot], -slot))
    x, y = (of.places[dot] - centre).tolist()
    return Point(
        x=x,
        y=y,
        weight=sum(of.weights[slot] for slot in slots),
        slots=tuple(slots),
        front=front,
        text=view.texts[of.ids[front]],
        apart=float(of.apart[dot]),
    )


def _heaviest_first(point: Point) -> tuple[float, tuple[int, ...]]:
    return -point.weight, point.slots
