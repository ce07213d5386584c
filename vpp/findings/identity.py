"""The phases of a step, the particles in each, and the number that every hypothesis keeps for the whole run.

A step weighs the particles on the last rows, may copy the heavy ones in place of the light ones, and rewrites each.
Particles with the same answers are one hypothesis. It gets its number when it first appears. The shortest of its texts
stands for it, and stays while a particle holds it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from vpp.events import Proposed, Scored
from vpp.findings.ideas import compare
from vpp.findings.scores import answers_of, grouped, totals
from vpp.runs.view import RunView, StepView

Phase = Literal["weigh", "copy", "rewrite"]
Moment = tuple[int, Phase] | Literal["first", "end"]
Groups = Sequence[Sequence[str]]
"""Hypothesis ids with the same answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A particle in a phase of a step."""

    slot: int
    hypothesis: str
    parent: str
    """The hypothesis that it was when the step weighed it."""
    scored: Scored | None
    """None if it is not scored yet, as a text that a method without an accept step has just taken."""
    weight: float | None
    """None before the first weights, and of a chain."""
    proposed: Proposed | None = None
    """The rewriting of this slot, in the last phase."""


def phases(at: StepView) -> tuple[Phase, ...]:
    """Return the phases that a step has begun, in order; a chain has the last alone."""
    if not at.scored:
        return ()
    if at.reweighted is None:
        return ("rewrite",)
    copied: tuple[Phase, ...] = ("copy",) if at.resampled else ()
    return ("weigh", *copied, *(("rewrite",) if at.proposed else ()))


def held(at: StepView, phase: Phase) -> list[Held]:
    """Return the particles in a phase, by slot."""
    weights = at.reweighted.weights if at.reweighted else None
    if phase == "weigh" or at.resampled is None:
        ancestors: Sequence[int] = sorted(at.scored)
    else:
        ancestors, weights = at.resampled.ancestors, (1 / len(at.resampled.ancestors),) * len(at.resampled.ancestors)
    found = []
    for place, ancestor in enumerate(ancestors):
        scored = at.scored[ancestor]
        slot = ancestor if at.resampled is None or phase == "weigh" else place
        proposed = at.proposed.get(slot) if phase == "rewrite" else None
        weight = weights[slot] if weights else None
        now: Scored | None = scored
        hypothesis = parent = scored.hypothesis
        if proposed and proposed.accepted and proposed.proposal:
            hypothesis, now = proposed.proposal, at.proposals_scored.get(slot)
        found.append(
            Held(slot=slot, hypothesis=hypothesis, parent=parent, scored=now, weight=weight, proposed=proposed)
        )
    return found


@dataclass(frozen=True, slots=True)
class Named:
    """The hypotheses of a moment."""

    numbers: Mapping[str, int]
    """By hypothesis id: that of the hypothesis with its answers."""
    faces: Mapping[int, str]
    """Id of the text that stands for each."""


class Names:
    """The numbers of a run's hypotheses, and the texts that stand for them."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._own: dict[str, int] = {}
        self._faces: dict[int, str] = {}
        first = dict.fromkeys(each.hypothesis for each in view.drawn.values())
        self._moments: dict[Moment, Named] = {"first": self._take([[text] for text in first])}
        for step, at in sorted(view.steps.items()):
            for phase in phases(at):
                if phase != "copy":
                    self._moments[step, phase] = self._take(at.once(f"groups {phase}", partial(_groups, at, phase)))
        if found := compare(view):
            self._moments["end"] = self._take(_grouped(zip(found.population, found.keys, strict=True)))

    def at(self, moment: Moment) -> Named:
        return self._moments[(moment[0], "weigh") if not isinstance(moment, str) and moment[1] == "copy" else moment]

    def before(self, step: int) -> Named:
        """Return the names at the end of the step before, or of the first hypotheses."""
        return self._moments.get((step - 1, "rewrite")) or self._moments["first"]

    def numbers_at(self, step: int) -> set[int]:
        return set(self.at((step, phases(self._view.steps[step])[0])).numbers.values())

    def heaviest(self, step: int) -> tuple[int | None, float]:
        """Return the number of the heaviest hypothesis of a step, and its weight; (None, 0) without weights."""
        at = self._view.steps[step]
        if at.reweighted is None:
            return None, 0.0
        numbers = self.at((step, "weigh")).numbers
        shares = totals((numbers[each.hypothesis], each.weight or 0.0) for each in held(at, "weigh"))
        number = max(shares, key=lambda each: (shares[each], -each))
        return number, shares[number]

    def _take(self, groups: Groups) -> Named:
        """Number the hypotheses of the next moment."""
        numbers: dict[str, int] = {}
        faces: dict[int, str] = {}
        group_of = {text: place for place, group in enumerate(groups) for text in group}
        for place, group in enumerate(groups):
            number = self._number(place, group, group_of, faces)
            if self._faces.get(number) not in group:
                self._faces[number] = min(group, key=lambda each: (len(self._view.texts[each]), each))
            faces[number] = self._faces[number]
            numbers |= dict.fromkeys(group, number)
        return Named(numbers, faces)

    def _number(self, place: int, group: Sequence[str], group_of: Mapping[str, int], taken: Iterable[int]) -> int:
        """Return the number of a group: the first of its texts' own, unless another group holds what stands for it."""
        own = sorted({self._own[text] for text in group if text in self._own})
        free = [n for n in own if n not in taken and group_of.get(self._faces[n], place) == place]
        number = free[0] if free else len(self._faces) + 1
        for text in group:
            if not free or text not in self._own:
                self._own[text] = number
        return number


def _groups(at: StepView, phase: Phase) -> Groups:
    """Return the hypotheses of a phase by their answers; one that is not scored yet is alone."""
    particles = held(at, phase)
    return _grouped((each.hypothesis, answers_of(each.scored) if each.scored else each.slot) for each in particles)


def _grouped(keyed: Iterable[tuple[str, Hashable]]) -> Groups:
    """Group hypotheses by their keys. One that was scored on several sets of rows counts with the first."""
    keys: dict[str, Hashable] = {}
    for hypothesis, key in keyed:
        keys.setdefault(hypothesis, key)
    return list(grouped((key, hypothesis) for hypothesis, key in keys.items()).values())
