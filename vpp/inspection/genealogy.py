"""Genealogy: parents and descendants of every particle, over every step since the initial population.

A place, the step (-1 is the initial population) and the slot after it, names a particle. A step weighs the particles,
may resample them, and mutates them.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vpp.errors import InputError
from vpp.events import INITIAL_STEP, Proposed
from vpp.inspection.slots import came_from, grouped, weights_of
from vpp.runs.view import RunView, StepView, resampled_at

Happened = Literal["first", "yours", "accepted", "taken", "rejected", "unchanged", "unparsable", "not rewritten"]
"""Origin of a text in its place: drawn initially, or given by a person; its parent mutated, with or without an accept
step; or its parent unchanged, since the proposal was rejected, identical or unreadable, or since none was made.
"""
Fate = Literal["", "resampled away"]
CHANGING: tuple[Happened, ...] = ("first", "yours", "accepted", "taken")
ABBREVIATIONS = frozenset(("e.g", "i.e", "vs", "cf", "approx", "fig", "eq", "dr", "mr", "mrs"))
"""Abbreviations whose full stop does not end a sentence; lower case, without the stop."""
END = re.compile(r"""(?<![.!?])[.!?]+["'”’)\]]*\s+""")
"""Possible end of a sentence: marks, closing quotes and brackets, and the space after; 3.5 has none."""


class Place(NamedTuple):
    step: int
    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    step: int
    slot: int
    hypothesis: str
    text: str
    """With the seed sentence."""
    changed: bool
    """True if the text differs from its parent's, and without a parent."""
    weight: float
    """Weight assigned by the next step, in the last population the one that predictions use; 1/K without weights."""
    parent: int | None
    """Parent's slot at the step before; None for a first hypothesis."""
    happened: Happened
    is_afresh: bool
    """True if its text is a restart, drawn from the prior instead of the parent's text."""
    founder: Place
    """First hypothesis from which it descends."""
    survives: bool
    """True if it has a descendant in the last population, or is in it."""
    fate: Fate
    """Reason why it left no child; empty if it did, and in the last population."""

    @property
    def place(self) -> Place:
        return Place(self.step, self.slot)

    @property
    def copied_from(self) -> int | None:
        """Parent's slot if it was another one, else None."""
        return None if self.parent == self.slot else self.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Founder:
    """A first hypothesis, with its current descendants."""

    place: Place
    text: str
    descendants: tuple[int, ...]
    weight: float
    """Total weight of the descendants; all founders' weights sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Genealogy:
    generations: tuple[tuple[Node, ...], ...]
    """Nodes by step from -1 on, then by slot."""
    resampled_at: tuple[int, ...] = ()
    """Steps that resampled the population before they mutated it."""

    @property
    def last(self) -> tuple[Node, ...]:
        return self.generations[-1]

    @property
    def last_step(self) -> int:
        return self.last[0].step

    @property
    def founders(self) -> tuple[Founder, ...]:
        """First hypotheses by slot; includes those without descendants."""
        families = grouped((node.founder, node) for node in self.last)
        return tuple(
            Founder(
                place=head.place,
                text=head.text,
                descendants=tuple(node.slot for node in families.get(head.place, ())),
                weight=sum(node.weight for node in families.get(head.place, ())),
            )
            for head in self.generations[0]
        )

    def at(self, place: Place) -> Node:
        """Raises InputError for a place without a particle."""
        generation = place.step - INITIAL_STEP
        if not 0 <= generation < len(self.generations):
            raise InputError(f"there is no step {place.step}: give one from {INITIAL_STEP} to {self.last_step}")
        nodes = self.generations[generation]
        if not 0 <= place.slot < len(nodes):
            raise InputError(f"step {place.step} has no particle {place.slot}: give one from 0 to {len(nodes) - 1}")
        return nodes[place.slot]

    def ancestry(self, slot: int, *, step: int | None = None) -> tuple[Node, ...]:
        """Return the particle's line from its founder, one node a step, oldest first.

        slot: in the last population, or in the population after `step`. Raises InputError for an unknown slot.
        """
        node = self.at(Place(self.last_step if step is None else step, slot))
        nodes = [node]
        while node.parent is not None:
            node = self.at(Place(node.step - 1, node.parent))
            nodes.append(node)
        return tuple(reversed(nodes))

    def descendants(self, place: Place) -> tuple[int, ...]:
        *_, last = self._lines(place)
        return tuple(sorted(last))

    def ended_at(self, place: Place) -> int | None:
        return next((step for step, alive in enumerate(self._lines(place), start=place.step) if not alive), None)

    def _lines(self, place: Place) -> Iterator[set[int]]:
        """Yield the slots of the descendants, step by step from the particle itself."""
        alive = {place.slot}
        yield alive
        for generation in self.generations[place.step - INITIAL_STEP + 1 :]:
            alive = {node.slot for node in generation if node.parent in alive}
            yield alive


def genealogy(view: RunView) -> Genealogy | None:
    if view.last_step is None:
        return None
    steps = view.finished_steps
    parents = [[came_from(at, slot) for slot in range(len(at.population))] for at in steps]
    survivors = [set(range(len(parents[-1])))]
    for generation in reversed(parents[1:]):  # the parent of a survivor survives
        survivors.insert(0, {parent for slot in survivors[0] if (parent := generation[slot]) is not None})
    generations: list[tuple[Node, ...]] = []
    for i, at in enumerate(steps):
        before = generations[-1] if generations else ()
        own = [None if parent is None else before[parent] for parent in parents[i]]
        have_children = set(parents[i + 1]) if i + 1 < len(steps) else survivors[i]
        generations.append(_generation(view, at, own, survivors[i], have_children))
    return Genealogy(generations=tuple(generations), resampled_at=tuple(resampled_at(view)))


def _generation(
    view: RunView,
    at: StepView,
    parents: Sequence[Node | None],
    survivors: set[int],
    have_children: AbstractSet[int | None],
) -> tuple[Node, ...]:
    following = view.steps.get(at.step + 1)
    weights = weights_of(view, at.step, is_end=at.step == view.last_step)
    nodes = []
    for slot, (state, parent) in enumerate(zip(at.population, parents, strict=True)):
        proposed = at.proposed.get(slot)
        node = Node(
            step=at.step,
            slot=slot,
            hypothesis=state.hypothesis,
            text=view.texts[state.hypothesis],
            changed=parent is None or parent.hypothesis != state.hypothesis,
            weight=weights[slot],
            parent=parent.slot if parent else None,
            happened=_happened(view, at, slot, proposed),
            is_afresh=proposed is not None and proposed.accepted and proposed.origin == "prior",
            founder=parent.founder if parent else Place(at.step, slot),
            survives=slot in survivors,
            fate="resampled away" if following and slot not in have_children else "",
        )
        nodes.append(node)
    return tuple(nodes)


def _happened(view: RunView, at: StepView, slot: int, proposed: Proposed | None) -> Happened:
    if at.step == INITIAL_STEP:
        return "yours" if slot in view.drawn and view.drawn[slot].origin == "yours" else "first"
    if proposed is None:
        return "not rewritten"
    if proposed.why == "likelihood":
        return "accepted" if proposed.accepted else "rejected"
    return proposed.why


# Origins: which step brought in each sentence of a hypothesis


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    sentence: str
    step: int
    """Step since which every text has had it; -1 is the first hypothesis."""


def origins(ancestry: Sequence[Node], *, seed_text: str = "") -> tuple[Origin, ...]:
    """Return each sentence of the last text, without the seed sentence, and the step since which it is present.

    A sentence that was dropped and written again counts from its return. ancestry: oldest first, at least one.
    """
    found: list[Origin] = []
    for node in ancestry:
        if node.changed:
            since = {_key(each.sentence): each.step for each in found}
            own = sentences(node.text.removeprefix(seed_text).strip() or node.text)
            found = [Origin(sentence=each, step=since.get(_key(each), node.step)) for each in own]
    return tuple(found)


def _key(sentence: str) -> str:
    """Key that is equal for sentences that differ only in spacing."""
    return " ".join(sentence.split())


def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences; a line break ends one too.

    Abbreviations, decimals, list numbers and stops before a lower-case letter do not end a sentence.
    """
    parts: list[str] = []
    for line in map(str.strip, text.splitlines()):
        begin = 0
        for end in END.finditer(line):
            if _ends(line[begin : end.start()], line[end.end() :]):
                parts.append(line[begin : end.end()].strip())
                begin = end.end()
        parts.append(line[begin:].strip())
    return tuple(filter(None, parts))


def _ends(before: str, after: str) -> bool:
    """True if the marks between `before` and `after` end a sentence."""
    word = re.split(r"[\s(\[“\"']", before)[-1].lower()
    numbers = before.strip().isdigit() or (word in ("no", "nos") and after[:1].isdigit())
    return not (after[:1].islower() or word in ABBREVIATIONS or numbers)
