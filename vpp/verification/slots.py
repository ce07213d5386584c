"""The particles of a step from phase to phase, as they follow from what is told."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vpp.events import ParticleState, Votes
from vpp.settings import Config
from vpp.verification.chapters import Chapter
from vpp.verification.ground import Ground


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One particle."""

    hypothesis: str
    parent: int
    log_likelihood: float | None = None
    log_weight: float = 0.0
    exchange: tuple[int, int] | None = None
    rows: tuple[int, ...] = ()
    """That it was last scored on."""
    said: Votes | None = None
    """Its answers to them; None where they are not told."""

    @property
    def state(self) -> ParticleState:
        """As the step's end keeps it."""
        return ParticleState(
            hypothesis=self.hypothesis,
            parent=self.parent,
            log_likelihood=self.log_likelihood,
            log_weight=self.log_weight,
            exchange=self.exchange,
        )


Slots = tuple[Slot, ...]


def standing(states: Sequence[ParticleState]) -> Slots:
    """As the step before left them."""
    return tuple(
        Slot(
            hypothesis=state.hypothesis,
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
            exchange=state.exchange,
        )
        for state in states
    )


def scored(slots: Slots, chapter: Chapter) -> Slots:
    """With what they answered; as they were where that is not told."""

    def known(slot: int, particle: Slot) -> Slot:
        told = chapter.scored.get(slot)
        if told is None:
            return replace(particle, log_likelihood=None)
        event = told.event
        return replace(particle, log_likelihood=event.log_likelihood, rows=event.rows, said=event.predictions)

    return tuple(known(k, particle) for k, particle in enumerate(slots))


def selected(slots: Slots, chapter: Chapter, config: Config) -> Slots:
    """Weighed, and resampled where that is told: text, answers and log-likelihood are the ancestor's."""
    if not config.is_weighted:
        return tuple(replace(particle, parent=k) for k, particle in enumerate(slots))
    log_w = chapter.reweighted.event.log_weights if chapter.reweighted else ()
    weighed = tuple(
        replace(particle, parent=k, log_weight=log_w[k] if k < len(log_w) else particle.log_weight)
        for k, particle in enumerate(slots)
    )
    if chapter.resampled is None:
        return weighed
    ancestors = [a for a in chapter.resampled.event.ancestors if 0 <= a < len(weighed)]
    return tuple(replace(weighed[a], parent=a, log_weight=0.0) for a in ancestors)


def moved(slots: Slots, chapter: Chapter, config: Config) -> Slots:
    """After the optimizer's proposals."""
    return tuple(_moved(k, particle, chapter, config) for k, particle in enumerate(slots))


def _moved(slot: int, particle: Slot, chapter: Chapter, config: Config) -> Slot:
    told = chapter.proposed.get(slot)
    if told is None:
        return particle if config.is_weighted else _settled(particle)
    event = told.event
    # What the optimizer said of a particle is what it is reminded of, where it is reminded at all.
    refined = event.origin == "refined"
    remembers = config.history > 0 and refined and event.text is not None
    exchange = (chapter.step, slot) if remembers else particle.exchange if refined else None
    after = replace(particle, exchange=exchange or particle.exchange)
    if event.accepted and event.proposal is not None:
        after = replace(particle, hypothesis=event.proposal, exchange=exchange)
        judged = chapter.judged.get(slot)
        if event.why == "likelihood" and judged is not None:
            # VPP-SMC keeps the ancestor's log-likelihood; carried weights stand for the text that was taken.
            log_lik = judged.event.log_likelihood if config.is_telescoping else particle.log_likelihood
            after = replace(after, log_likelihood=log_lik, rows=judged.event.rows, said=judged.event.predictions)
    return after if config.is_weighted else _settled(after)


def _settled(particle: Slot) -> Slot:
    """A chain keeps no log-likelihood: it was of one batch."""
    return replace(particle, log_likelihood=None, log_weight=0.0)


def after_moves(ground: Ground, chapter: Chapter) -> Slots | None:
    """The step's particles before K changes; None where those that it began with are not told."""
    if chapter.before is None:
        return None
    config = ground.config
    return moved(selected(scored(standing(chapter.before.population), chapter), chapter, config), chapter, config)
