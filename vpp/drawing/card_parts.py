"""Parts of a particle's card: its badges (how the text came to be), its score, and the folds of its proposals."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from vpp.data.dataset import Dataset, Row
from vpp.drawing.deck import PROMPT, Fold, Hits, Marks, without_seed
from vpp.drawing.ledger import arithmetic
from vpp.events import INITIAL_STEP, ParticleDrawn, Proposed, Scored
from vpp.inspection.ruled_out import decision
from vpp.inspection.slots import batch_places, heirs, kept_as, rewritten_as, scored_rows
from vpp.posterior.metric import mean_squared_error
from vpp.runs.view import RunView, StepView
from vpp.settings import Config
from vpp.wording.counts import cut_words
from vpp.wording.markup import Mark
from vpp.wording.words import fixed, number, particles

MOST_ROWS = 6
"""Contradicting rows that are named."""
PROMPT_UNKNOWN = "Not known yet: what the hypothesis answered on the rows shown is not on disk."
AFRESH = "drawn afresh from the prior, without data"


class Prompts(Protocol):
    """Source of the optimizer's prompts."""

    def proposal(self, view: RunView, step: int, slot: int) -> str | None:
        """Prompt of a slot's proposal at a step; None if it is not known (yet)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A run's texts and proposals by slot."""

    view: RunView
    config: Config
    dataset: Dataset
    rows: Mapping[int, Row]
    """By id."""

    def text(self, hypothesis: str) -> str:
        """A hypothesis without the seed sentence."""
        started = self.view.started
        return without_seed(self.view.texts[hypothesis], started.seed_text if started else "")

    def proposal(self, step: int, slot: int) -> Proposed | None:
        """The proposal that decided what `slot` holds at the end of the step."""
        at = self.view.steps.get(step)
        before = rewritten_as(at, slot) if at else None
        return at.proposed.get(before) if at and before is not None else None

    def parent(self, step: int, slot: int) -> str | None:
        """The text that the slot's text was rewritten from at `step`; None if it was kept or drawn afresh."""
        proposed = self.proposal(step, slot)
        return self.text(proposed.parent) if proposed and proposed.accepted and not is_fresh(proposed) else None


# Badges


def origin_marks(run: History, step: int, slot: int) -> Marks:
    """Badges on the origin of the text at `step`."""
    at = run.view.steps.get(step)
    if step == INITIAL_STEP:
        return (("", "first hypothesis"),)
    if at and slot in at.joined:
        return (("", f"joined at step {step}"),)
    proposed = run.proposal(step, slot)
    if proposed is None:
        return (("same", f"not rewritten at step {step}: only copies are"),)
    return outcome_marks(run, proposed, step)


def outcome_marks(run: History, proposed: Proposed, step: int) -> Marks:
    """Badge on the outcome of a proposal at a step."""
    return ((proposal_mark(proposed), f"{_outcome(run, proposed)} at step {step}"),)


def _outcome(run: History, proposed: Proposed) -> str:
    if proposed.why == "unchanged":
        return "kept word for word"
    if proposed.why == "unparsable":
        return f"kept: the proposal {'was refused' if proposed.refused else 'could not be read'}"
    fresh = is_fresh(proposed)
    if not proposed.accepted:
        return "rejected a proposal drawn afresh from the prior" if fresh else "kept: the proposal was rejected"
    manner = ""
    if run.config.is_weighted:
        manner = " boldly" if proposed.temperature > run.config.cautious_temperature else " cautiously"
    origin = AFRESH if fresh else f"rewritten{manner} (temperature {proposed.temperature:.2g})"
    return f"{origin}{', accepted' if proposed.why == 'likelihood' else ''}"


def fate_marks(run: History, at: StepView, slot: int) -> Marks:
    """Effect of resampling and of the end of the step on the text."""
    copies = heirs(at, slot)
    if not copies:
        return (("gone", f"resampled away at step {at.step}"),)
    spread: Marks = () if copies == (slot,) else (("copy", f"resampled into {particles(copies)}"),)
    kept = at.finished and run.config.mutate == "duplicates" and not at.proposed.keys() & set(copies)
    still: Marks = (("same", "not rewritten: only copies are"),) if kept else ()
    return (*spread, *still, *shrunk(at, copies))


def shrunk(at: StepView, slots: Sequence[int]) -> Marks:
    """Badges of slots dropped or renumbered when all agreed and K fell."""
    if at.shrunk is None:
        return ()
    kept = [new for slot in slots for new in kept_as(at, slot)]
    if not kept:
        return (("gone", f"dropped at step {at.step}: all agreed"),)
    return (("", f"kept as {particles(kept)}"),) if kept != list(slots) else ()


def is_fresh(proposed: Proposed | None) -> bool:
    """True if the text was drawn from the prior, not rewritten from its parent."""
    return proposed is not None and proposed.origin == "prior"


def proposal_mark(proposed: Proposed) -> Mark:
    """Mark of a proposal's outcome."""
    if proposed.why == "unparsable":
        return "abs"
    if proposed.why == "unchanged":
        return "same"
    return "acc" if proposed.accepted else "rej"


# Scores


def hits_of(run: History, scored: Scored) -> Hits:
    """Right or wrong on each row scored."""
    answers = zip(scored.rows, scored.predictions, strict=True)
    return tuple([None if value is None else value == run.rows[row].target for row, value in answers])


def scores(run: History, at: StepView, scored: Scored) -> tuple[Hits, tuple[str, ...]]:
    """Hits on the batch; and the facts at the right: the batch, all rows scored if more, the log-likelihood."""
    places = batch_places(at, scored, run.config, n_train=len(run.dataset.train))
    is_more, is_final = len(scored.rows) > len(places), scored.role == "final" and run.config.final_weights == "train"
    where = "training rows" if is_final else scored_rows(run.config)
    log_lik = f"log-likelihood {fixed(scored.log_likelihood, 1)}"
    if run.dataset.task == "regression":
        off = (f"off by {number(_error(run, scored, places), 3)} on the batch",) if places else ()
        every = _error(run, scored, range(len(scored.rows)))
        of_all = (f"off by {number(every, 3)} on {len(scored.rows)} {where}",) if is_more else ()
        return (), (*off, *of_all, log_lik)
    all_hits = hits_of(run, scored)
    hits = tuple(all_hits[i] for i in places)
    right = (f"{hits.count(True)} of {len(hits)} right",) if hits else ()
    of_all = (f"{all_hits.count(True)} of {len(all_hits)} {where}",) if is_more else ()
    return hits, (*right, *of_all, log_lik)


def _error(run: History, scored: Scored, places: Sequence[int]) -> float:
    """Root mean squared error on some of the rows scored."""
    targets = [run.rows[scored.rows[i]].target for i in places]
    answers = [scored.predictions[i] for i in places]
    return math.sqrt(mean_squared_error(answers, targets, abstention_error=run.dataset.target_range))


# Folds


@dataclass(frozen=True, slots=True, kw_only=True)
class Folds:
    """Folds of a card's proposals: the text, the notes on its decision, prompt and answer."""

    run: History
    prompts: Prompts
    wanted: Collection[int] | None
    """Slots whose prompts are included; None: all. Prompts are most of a deck's size, and seldom opened."""

    def rewritings(self, at: StepView, slot: int) -> tuple[Fold, ...]:
        """The proposals for the slot's copies."""
        proposed = [k for k in heirs(at, slot) if k in at.proposed]
        return tuple(self._rewriting(at, k, name="next" if i == 0 else f"next-{i}") for i, k in enumerate(proposed))

    def _rewriting(self, at: StepView, slot: int, *, name: str) -> Fold:
        proposed = at.proposed[slot]
        is_judged = proposed.why == "likelihood"
        keeps = f"particle {slot} keeps it{': proposal rejected' if is_judged and not proposed.accepted else ''}"
        says = f"what particle {slot} says next{': accepted' if is_judged else ''}"
        return replace(
            self._asked(at, slot),
            name=name,
            mark=proposal_mark(proposed) if proposed.why != "taken" else "",
            title=says if proposed.accepted else keeps,
            sentence=self.run.text(proposed.proposal or proposed.parent),
            notes=self._notes(at, slot),
        )

    def judged(self, at: StepView, slot: int) -> tuple[Fold, ...]:
        """The slot's proposal and, if it was judged, the arithmetic of the decision."""
        proposed = at.proposed.get(slot)
        if proposed is None:
            return ()
        asked = self._asked(at, slot)
        if proposed.why in ("taken", "unchanged"):
            return (asked,)
        judged = replace(asked, mark=proposal_mark(proposed), notes=self._notes(at, slot))
        if proposed.accepted:
            return (replace(judged, name="why", title="why it was accepted"),)
        sentence = self.run.text(proposed.proposal) if proposed.proposal else ""
        how = "rejected" if proposed.why == "likelihood" else "refused" if proposed.refused else "unreadable"
        return (replace(judged, name="rejected", title=f"{how} proposal", sentence=sentence),)

    def _asked(self, at: StepView, slot: int) -> Fold:
        """Prompt and answer of the slot's proposal. The prompt is rebuilt, if the journal has what was shown in it."""
        proposed = at.proposed[slot]
        is_included = self.wanted is None or slot in self.wanted
        prompt = (self.prompts.proposal(self.run.view, at.step, slot) or PROMPT_UNKNOWN) if is_included else None
        return Fold(
            name="asked",
            mark="",
            title="what the optimizer was asked and answered",
            notes=self._shown(at, proposed),
            raw=((PROMPT, prompt), *_answered(proposed)),
            slot=None if self.wanted is None else slot,
        )

    def _shown(self, at: StepView, proposed: Proposed) -> tuple[str, ...]:
        return cut_words(proposed, len(at.finished.batch) if at.finished else None)

    def _notes(self, at: StepView, slot: int) -> tuple[str, ...]:
        """Origin of the proposal, the rows that contradict it, and the decision's arithmetic."""
        proposed = at.proposed[slot]
        notes = (
            AFRESH if is_fresh(proposed) else "",
            *self._shown(at, proposed),
            *self._contradicting(at, slot),
            " ".join(arithmetic(decision(proposed, at))),
            f"refused: {proposed.reason}" if proposed.reason and proposed.refused else proposed.reason,
        )
        return tuple(filter(None, notes))

    def _contradicting(self, at: StepView, slot: int) -> tuple[str, ...]:
        scored = at.proposals_scored.get(slot)
        if scored is None or self.run.dataset.task == "regression":
            return ()
        hits = dict(zip(scored.rows, hits_of(self.run, scored), strict=True))
        wrong = [row for row, hit in hits.items() if not hit]
        if not wrong:
            return (f"no row of {len(hits)} contradicts it",)
        named = ", ".join([*map(str, wrong[:MOST_ROWS]), *(["…"] if len(wrong) > MOST_ROWS else [])])
        verb = "contradicts" if len(wrong) == 1 else "contradict"
        return (f"{len(wrong)} of {len(hits)} {scored_rows(self.run.config)} {verb} it (rows {named})",)


def _answered(event: Proposed | ParticleDrawn) -> tuple[tuple[str, str], ...]:
    """The optimizer's reasoning, if any, and its answer."""
    thoughts = (("what it thought first", event.thoughts),) if event.thoughts else ()
    return (*thoughts, ("the whole answer", event.raw))


def answer_fold(drawn: ParticleDrawn) -> tuple[Fold, ...]:
    """The optimizer's answer behind a first hypothesis."""
    title = "the optimizer’s whole answer"
    return (Fold(name="raw", mark="", title=title, raw=_answered(drawn)),) if drawn.raw else ()
