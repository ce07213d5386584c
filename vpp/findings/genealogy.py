"""Genealogy: the parent of every particle, over every step since the initial population.

A place, the step (-1 is the initial population) and the slot after it, names a particle. A step weighs the particles,
may resample them, and mutates them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vpp.errors import InputError
from vpp.events import INITIAL_STEP, Proposed
from vpp.findings.scores import came_from, weights_of
from vpp.runs.view import RunView, StepView
from vpp.show.cards import Fold, Version, Versions
from vpp.show.words import counted, nth_step

Happened = Literal["first", "yours", "accepted", "taken", "rejected", "unchanged", "unparsable", "not rewritten"]
"""Origin of a text in its place: drawn initially, or given by a person; its parent mutated, with or without an accept
step; or its parent unchanged, since the proposal was rejected, identical or unreadable, or since none was made.
"""


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

    @property
    def copied_from(self) -> int | None:
        """Parent's slot if it was another one, else None."""
        return None if self.parent == self.slot else self.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Genealogy:
    generations: tuple[tuple[Node, ...], ...]
    """Nodes by step from -1 on, then by slot."""

    @property
    def last(self) -> tuple[Node, ...]:
        return self.generations[-1]

    def ancestry(self, slot: int) -> tuple[Node, ...]:
        """Return the line of a particle of the last population from its founder, one node a step, oldest first.

        Raises InputError for an unknown slot.
        """
        if not 0 <= slot < len(self.last):
            raise InputError(f"the run has no particle {slot}: give one from 0 to {len(self.last) - 1}")
        nodes = [self.last[slot]]
        for generation in reversed(self.generations[:-1]):
            parent = nodes[-1].parent
            if parent is not None:
                nodes.append(generation[parent])
        return tuple(reversed(nodes))


def genealogy(view: RunView) -> Genealogy | None:
    if view.last_step is None:
        return None
    generations: list[tuple[Node, ...]] = []
    for at in view.finished_steps:
        generations.append(_generation(view, at, generations[-1] if generations else ()))
    return Genealogy(generations=tuple(generations))


def _generation(view: RunView, at: StepView, before: Sequence[Node]) -> tuple[Node, ...]:
    weights = weights_of(view, at.step, is_end=at.step == view.last_step)
    nodes = []
    for slot, state in enumerate(at.population):
        proposed, came = at.proposed.get(slot), came_from(at, slot)
        parent = None if came is None else before[came]
        node = Node(
            step=at.step,
            slot=slot,
            hypothesis=state.hypothesis,
            text=view.texts[state.hypothesis],
            changed=parent is None or parent.hypothesis != state.hypothesis,
            weight=weights[slot],
            parent=came,
            happened=_happened(view, at, slot, proposed),
            is_afresh=proposed is not None and proposed.accepted and proposed.origin == "prior",
            founder=parent.founder if parent else Place(at.step, slot),
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


MOST_VERSIONS = 12
"""Newest versions of a hypothesis that its history holds."""
NOTES: dict[Happened, str] = {"yours": "yours", "accepted": "rewritten, accepted", "taken": "rewritten"}


def history(line: Sequence[Node], seed_text: str) -> tuple[Fold, ...]:
    """Return a fold with a particle's ancestors as versions of its text; empty if it was never rewritten.

    line: oldest first, from `Genealogy.ancestry`.
    """
    changed = [node for node in line if node.changed]
    texts = [node.text.removeprefix(seed_text).strip() or node.text for node in changed]
    versions = [
        Version(
            when=nth_step(node.step),
            before="" if node.is_afresh else before,
            after=after,
            note="drawn afresh, without data" if node.is_afresh else NOTES.get(node.happened, ""),
        )
        for node, before, after in zip(changed, ["", *texts], texts, strict=False)
    ]
    if len(versions) == 1:
        return ()
    title = f"history: {counted(len(versions) - 1, 'change')}"
    return (Fold(name="history", title=title, blocks=(Versions(tuple(versions[-MOST_VERSIONS:])),)),)
