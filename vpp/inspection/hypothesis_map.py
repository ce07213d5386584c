"""A map of a step's hypotheses: a dot per behaviour; the distance of two dots is near that of their answers.

Particles with the same answers share a dot. Distances lie between 0 and 1: for labels the share of rows answered
differently, for numbers the mean absolute difference of the answers as a share of the target's range. Only recorded
answers count. Each map is aligned to that of the step before, from the first hypotheses on, so that a hypothesis that
stays does not jump.

Torgerson (1952) for the points, Schönemann (1966) for the alignment, Kruskal (1964) for the stress.
"""

from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from vpp.data.dataset import Dataset
from vpp.events import Evaluated, Scored
from vpp.inspection.ideas import closeness, mean_absolute_differences, share_alike
from vpp.inspection.slots import behaviour, came_from, generation_at, grouped, recorded_answers, weights_of
from vpp.posterior.weights import Floats
from vpp.runs.view import RunView, StepView
from vpp.settings import Config

LOOK_BACK = 10
"""Most steps whose answers are compared, without weights; smc compares those to the rows that weigh the texts."""
ENOUGH = 3
"""Fewest pairs that fix both the turn and the side of a map."""
DIGITS = 9
"""Decimals to which coordinates are compared, so that rounding errors decide nothing."""
FLAT = 1e-9
"""Share of the largest singular value below which paired points count as lying on a line."""
ASPECT = 0.45
"""Height of the frame as a share of its width."""
NARROWEST = 0.02
"""Half the width of the smallest frame, as a distance."""
WIDER, NARROWER, EMPTY = 1.25, 0.7, 0.5
"""Factors by which a frame widens until all dots fit, and narrows once they fit into this share of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A dot: particles with the same answers on all rows compared."""

    x: float
    """Distance to the right of the frame's middle."""
    y: float
    """Distance below the frame's middle."""
    weight: float
    slots: tuple[int, ...]
    """Slots of its particles, ascending; of a dot that is gone those at the step before."""
    front: int
    """Slot of its heaviest particle."""
    text: str
    apart: float = 0.0
    """Distance from the heaviest dot; 0 if gone."""
    parents: tuple[tuple[float, float], ...] = ()
    """Where its particles' parents are drawn, each once: at a dot of the step, or at one that is gone."""
    is_gone: bool = False
    """True if it is a dot of the step before whose texts are gone, drawn where it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisMap:
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
    seed_text: str = ""

    @property
    def alive(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if not point.is_gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    ids: tuple[str, ...]
    """(K,) hypothesis by slot."""
    weights: tuple[float, ...]
    dots: tuple[int, ...]
    """(K,) number of the dot by slot."""
    places: Floats
    """(n, 2) aligned."""
    apart: Floats
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
        seed_text=view.seed_text,
    )
    if last is None or placed is None:
        return about
    points = tuple(_points(view, placed, placed.centre))
    if before:
        points = _with_parents(points, placed, before, view, view.steps[last])
    points = tuple(sorted(points, key=lambda point: (point.is_gone, -point.weight, point.slots)))
    return replace(about, points=points, n_rows=placed.n_rows, stress=placed.stress, half=placed.half)


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
        known = recorded_answers(self._events(frozenset(ids), at.step, is_end=is_end))
        common = set.intersection(*(set(known.get(hypothesis, ())) for hypothesis in ids))
        if not common:
            return None
        answers = [tuple(map(known[hypothesis].get, sorted(common))) for hypothesis in ids]
        numbers: dict[Hashable, int] = {}
        dots = tuple(numbers.setdefault(behaviour(votes), len(numbers)) for votes in answers)
        weights = weights_of(self._view, at.step, is_end=is_end)
        by_dot = list(dict(zip(dots, answers, strict=True)).values())
        if self._dataset.task == "classification":
            distances = 1 - share_alike(by_dot)
        else:
            span = self._dataset.target_range
            distances = 1 - closeness(mean_absolute_differences(by_dot, span=span), span=span)
        raw = classical_scaling(distances)
        places = _aligned(raw, ids, dots, at, before)
        visible = places if before is None else np.vstack((places, before.places[_gone(before, ids)]))
        centre, half = frame(visible, None if before is None else (before.centre, before.half))
        return _Placed(
            ids=ids,
            weights=weights,
            dots=dots,
            places=places,
            apart=distances[np.bincount(dots, weights).argmax()].copy(),
            stress=stress(distances, raw) if len(raw) > 1 else 0.0,
            n_rows=len(common),
            centre=centre,
            half=half,
        )

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


def _with_parents(
    alive: Sequence[Point], placed: _Placed, before: _Placed, view: RunView, at: StepView
) -> tuple[Point, ...]:
    """Return the dots with the places of their parents, and those that are gone.

    A parent is drawn where its text is now; where others of its dot are, if it is rewritten; else where it was.
    """
    were = _points(view, before, placed.centre)
    now = dict(zip(placed.ids, placed.dots, strict=True))
    stays = {dot: alive[now[each]] for each, dot in zip(before.ids, before.dots, strict=True) if each in now}
    met = [
        alive[now[each]] if each in now else stays.get(dot, were[dot])
        for each, dot in zip(before.ids, before.dots, strict=True)
    ]
    points = []
    for point in alive:
        parents = [met[k] for slot in point.slots if (k := came_from(at, slot)) is not None]
        ways = dict.fromkeys((parent.x, parent.y) for parent in parents)
        points.append(replace(point, parents=tuple(place for place in ways if place != (point.x, point.y))))
    gone = [replace(were[dot], apart=0.0, is_gone=True) for dot in _gone(before, placed.ids)]
    return (*points, *gone)


def _points(view: RunView, of: _Placed, centre: Floats) -> list[Point]:
    """Dots of a population. centre: middle of the frame."""
    points = []
    for dot, slots in grouped((dot, slot) for slot, dot in enumerate(of.dots)).items():
        front = max(slots, key=lambda slot: (of.weights[slot], -slot))
        x, y = (of.places[dot] - centre).tolist()
        point = Point(
            x=x,
            y=y,
            weight=sum(of.weights[slot] for slot in slots),
            slots=tuple(slots),
            front=front,
            text=view.texts[of.ids[front]],
            apart=float(of.apart[dot]),
        )
        points.append(point)
    return points


# The plane


def classical_scaling(distances: Floats) -> Floats:
    """Points in the plane, centred, the first axis the longer. The coordinate farthest from 0 on each axis is positive.

    distances: (n, n) symmetric, n at least 1. Returns (n, 2).
    """
    n = len(distances)
    centring = np.eye(n) - 1 / n
    # B = -1/2 J D^2 J, whose largest eigenvalues and eigenvectors give the points
    values, vectors = np.linalg.eigh(-0.5 * centring @ np.square(distances) @ centring)
    points = np.zeros((n, 2))
    for axis, value in enumerate(values[::-1][:2]):
        points[:, axis] = vectors[:, n - 1 - axis] * np.sqrt(max(0.0, float(value)))
    farthest = np.abs(points).round(DIGITS).argmax(axis=0)
    return np.asarray(points * np.where(points[farthest, [0, 1]] < 0, -1.0, 1.0), dtype=np.float64)


def aligned(points: Floats, moving: Floats, fixed: Floats) -> Floats:
    """Rotate or reflect, and shift, all points so that `moving` comes closest to `fixed` (least squares, no scaling).

    points: (n, 2). moving, fixed: (m, 2) pairs, m at least 1; pairs on a line are never reflected.
    """
    centre, target = moving.mean(axis=0), fixed.mean(axis=0)
    # R = U V' with U S V' = (X - mean X)' (Y - mean Y)
    u, s, vt = np.linalg.svd((moving - centre).T @ (fixed - target))
    if s[1] <= FLAT * s[0] and np.linalg.det(u @ vt) < 0:
        u[:, 1] *= -1
    return np.asarray((points - centre) @ (u @ vt) + target, dtype=np.float64)


def stress(distances: Floats, points: Floats) -> float:
    """Kruskal's stress-1 of the points: 0 if their distances are those given.

    distances: (n, n). points: (n, 2), not all in one place.
    """
    between = np.linalg.norm(points[:, None] - points[None], axis=2)
    # sqrt( sum (shown - given)^2 / sum shown^2 )
    return float(np.sqrt(np.square(between - distances).sum() / np.square(between).sum()))


def frame(points: Floats, before: tuple[Floats, float] | None) -> tuple[Floats, float]:
    """Middle and half width of a frame around the points: the one before, unless they leave it, or most of it.

    points: (n, 2). before: middle and half width.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    half, reach = (before[1] if before else NARROWEST), np.array([1.0, ASPECT])
    needed = float(((high - low) / 2 / reach).max())
    middle = before[0] if before is not None and needed >= EMPTY * half else (low + high) / 2
    while needed < EMPTY * half and half * NARROWER >= NARROWEST:
        half *= NARROWER
    while needed > half:
        half *= WIDER
    return np.clip(middle, high - half * reach, low + half * reach), half
