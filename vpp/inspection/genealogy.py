"""Genealogy: who descends from whom, over every step since the first hypotheses. No ancestor is ever dropped.

A particle is named by its place: the step after which it stood (-1 is the initial population) and its slot. What a
step does to a particle, in order: it is weighed, resampling may copy it into other slots, it is rewritten, and where K
changes its slot is numbered anew or newcomers join.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vpp.errors import InputError
from vpp.events import INITIAL_STEP, Proposed
from vpp.inspection.slots import came_from, grew_at, heirs, rewritten_as, shrank_at
from vpp.runs.view import RunView, StepView

Happened = Literal[
    "first", "joined", "accepted", "taken", "rejected", "unchanged", "unparsable", "not rewritten", "lost"
]  # fmt: skip
"""What brought a text to its place: drawn at first, or later as a newcomer; its parent rewritten, with or without a
filter; or its parent kept, since the proposal was rejected, the same words, or unreadable, or since none was asked for;
or what the journal has lost.
"""
Fate = Literal["", "resampled away", "dropped"]
CHANGING: tuple[Happened, ...] = ("first", "joined", "accepted", "taken")
"""What brings in a text."""


class Place(NamedTuple):
    """Where a particle stands."""

    step: int
    """The whole step after which it stood; -1 is the initial population."""
    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A particle after one step."""

    step: int
    slot: int
    hypothesis: str
    """Id of its text."""
    weight: float
    """As it was next weighed, by the step after; in the last population the weight that predictions use."""
    parent: int | None
    """The slot it came from at the step before; None of a first hypothesis, of a newcomer, and after a lost step."""
    happened: Happened
    is_afresh: bool
    """Whether its text was drawn from the prior in place of its parent's, and owes it no word."""
    founder: Place
    """The first hypothesis, or newcomer, at the head of its line."""
    survives: bool
    """Whether a particle of the last population descends from it, or is it."""
    fate: Fate
    """Why it left no child; empty where it did, and in the last population."""

    @property
    def place(self) -> Place:
        """Its name."""
        return Place(self.step, self.slot)

    @property
    def is_copied(self) -> bool:
        """Whether it stands in another slot than its parent did."""
        return self.parent is not None and self.parent != self.slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Founder:
    """A first hypothesis or a newcomer, and who descends from it now."""

    place: Place
    text: str
    descendants: tuple[int, ...]
    """Slots of the last population, ascending."""
    weight: float
    """Summed over them; all founders' weights sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """One step of the way from a first hypothesis to a particle."""

    step: int
    """-1 is the initial population."""
    slot: int
    """In which it stood after that step."""
    text: str
    """The whole hypothesis, the seed sentence included."""
    weight: float
    """As it was next weighed; the share of one where a method has no weights."""
    happened: Happened
    is_afresh: bool
    """Whether the text was drawn from the prior in place of the one before."""
    copied_from: int | None
    """The slot it came from, where that was another one."""
    changed: bool
    """Whether the text is another than the step before; true of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Genealogy:
    """Every particle of every whole step."""

    generations: tuple[tuple[Node, ...], ...]
    """By step from -1 on, then by slot; empty where the journal has lost the step."""
    texts: Mapping[str, str]
    """By hypothesis id."""
    resampled_at: tuple[int, ...] = ()
    """Steps that redrew the population before they rewrote it."""
    grew_at: tuple[int, ...] = ()
    shrank_at: tuple[int, ...] = ()

    @property
    def last(self) -> tuple[Node, ...]:
        """The last whole population, by slot."""
        return self.generations[-1]

    @property
    def last_step(self) -> int:
        """-1 for the initial population."""
        return self.last[0].step

    @property
    def founders(self) -> tuple[Founder, ...]:
        """The first hypotheses by slot, then newcomers as they joined; those without descendants too."""
        heads = [node for generation in self.generations for node in generation if node.parent is None]
        return tuple(self._founder(head) for head in heads)

    def at(self, place: Place) -> Node:
        """Raises InputError where no particle ever stood."""
        generation = place.step - INITIAL_STEP
        if not 0 <= generation < len(self.generations):
            raise InputError(f"there is no step {place.step}: whole steps go from {INITIAL_STEP} to {self.last_step}")
        nodes = self.generations[generation]
        if not 0 <= place.slot < len(nodes):
            raise InputError(f"there is no particle {place.slot}: after step {place.step} the last is {len(nodes) - 1}")
        return nodes[place.slot]

    def line(self, place: Place) -> tuple[Node, ...]:
        """From the founder to the particle, a node a step. Raises InputError where no particle ever stood."""
        node = self.at(place)
        found = [node]
        while node.parent is not None:
            node = self.at(Place(node.step - 1, node.parent))
            found.append(node)
        return tuple(reversed(found))

    def descendants(self, place: Place) -> tuple[int, ...]:
        """Slots of the last population that descend from the particle, or are it."""
        alive = {place.slot}
        for generation in self.generations[place.step - INITIAL_STEP + 1 :]:
            alive = {node.slot for node in generation if node.parent in alive}
        return tuple(sorted(alive))

    def ended_at(self, place: Place) -> int | None:
        """The step in which its last descendant, or it, was left without a child; None while one lives."""
        alive = {place.slot}
        for step, generation in enumerate(self.generations[place.step - INITIAL_STEP + 1 :], start=place.step + 1):
            alive = {node.slot for node in generation if node.parent in alive}
            if not alive:
                return step
        return None

    def ancestry(self, slot: int, *, step: int | None = None) -> tuple[Ancestor, ...]:
        """The particle's way from the first hypothesis to now, a record a step, oldest first.

        slot: of the last population, or of the population after `step`. Raises InputError where none stands.
        """
        line = self.line(Place(self.last_step if step is None else step, slot))
        before = [None, *(node.hypothesis for node in line)]
        return tuple(self._ancestor(node, node.hypothesis != h) for node, h in zip(line, before, strict=False))

    def _ancestor(self, node: Node, changed: bool) -> Ancestor:
        return Ancestor(
            step=node.step,
            slot=node.slot,
            text=self.texts[node.hypothesis],
            weight=node.weight,
            happened=node.happened,
            is_afresh=node.is_afresh,
            copied_from=node.parent if node.is_copied else None,
            changed=changed,
        )

    def _founder(self, head: Node) -> Founder:
        family = [node for node in self.last if node.founder == head.place]
        return Founder(
            place=head.place,
            text=self.texts[head.hypothesis],
            descendants=tuple(node.slot for node in family),
            weight=sum(node.weight for node in family),
        )


def genealogy(view: RunView) -> Genealogy | None:
    """The genealogy of all whole steps; None before the first population is whole."""
    if view.last_step is None:
        return None
    whole = {at.step: at for at in view.finished_steps}
    steps = [whole.get(step, StepView(step=step)) for step in range(INITIAL_STEP, view.last_step + 1)]
    parents = [_parents(at, before) for at, before in zip(steps, [None, *steps], strict=False)]
    founders, survivors = _founders(parents), _survivors(parents)
    return Genealogy(
        generations=tuple(
            _generation(view, at, parents[i], founders[i], survivors[i], _children(parents, i))
            for i, at in enumerate(steps)
        ),
        texts=view.texts,
        resampled_at=tuple(view.resampled_at),
        grew_at=tuple(grew_at(view)),
        shrank_at=tuple(shrank_at(view)),
    )


Parents = Sequence[Sequence[int | None]]
"""By generation and slot."""


def _parents(at: StepView, before: StepView | None) -> list[int | None]:
    size_before = len(before.population) if before else 0
    return [came_from(at, slot, size_before=size_before) for slot in range(len(at.population))]


def _founders(parents: Parents) -> list[list[Place]]:
    """Forward: each particle's founder is its parent's."""
    found: list[list[Place]] = []
    for step, generation in enumerate(parents, start=INITIAL_STEP):
        before = found[-1] if found else []
        found.append([Place(step, k) if parent is None else before[parent] for k, parent in enumerate(generation)])
    return found


def _survivors(parents: Parents) -> list[set[int]]:
    """Backward: who has a child that survives, survives."""
    found = [set(range(len(parents[-1])))]
    for generation in reversed(parents[1:]):
        found.append({parent for k in found[-1] if (parent := generation[k]) is not None})
    return found[::-1]


def _children(parents: Parents, i: int) -> Counter[int | None] | None:
    """How many children each slot of a generation has; None for the last."""
    return Counter(parents[i + 1]) if i + 1 < len(parents) else None


def _generation(
    view: RunView,
    at: StepView,
    parents: Sequence[int | None],
    founders: Sequence[Place],
    survivors: set[int],
    children: Counter[int | None] | None,
) -> tuple[Node, ...]:
    following = view.steps.get(at.step + 1)
    weights = _weights(view, at, following)
    return tuple(
        Node(
            step=at.step,
            slot=slot,
            hypothesis=state.hypothesis,
            weight=weights[slot],
            parent=parents[slot],
            happened=happened(at, slot),
            is_afresh=_is_afresh(_proposed(at, slot)),
            founder=founders[slot],
            survives=slot in survivors,
            fate=_fate(following, slot) if following and children is not None and not children[slot] else "",
        )
        for slot, state in enumerate(at.population)
    )


def _weights(view: RunView, at: StepView, following: StepView | None) -> tuple[float, ...]:
    """(K,) as the particles after a step were next weighed."""
    if at.step == view.last_step:
        return view.weights
    return following.reweighted.weights if following and following.reweighted else at.weights


def happened(at: StepView, slot: int) -> Happened:
    """What brought what stands in `slot` at a step's end."""
    if at.step == INITIAL_STEP:
        return "first"
    if slot in at.joined:
        return "joined"
    if at.is_torn:
        return "lost"
    proposed = _proposed(at, slot)
    if proposed is None:
        return "not rewritten"
    if proposed.why == "likelihood":
        return "accepted" if proposed.accepted else "rejected"
    return proposed.why


def _proposed(at: StepView, slot: int) -> Proposed | None:
    before = rewritten_as(at, slot)
    return None if before is None else at.proposed.get(before)


def _is_afresh(proposed: Proposed | None) -> bool:
    return proposed is not None and proposed.accepted and proposed.origin == "prior"


def _fate(following: StepView, slot: int) -> Fate:
    return "dropped" if heirs(following, slot) and not following.is_torn else "resampled away"
