"""Exchanges with the optimizer, and the population to continue from, rebuilt from a run's events and rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from vpp.data.dataset import Dataset, Row, Value
from vpp.errors import RunError
from vpp.events import ParticleState
from vpp.inference.population import Particle, Population
from vpp.problem import Exchange, Prediction
from vpp.runs.answers import Answer
from vpp.runs.view import RunView, StepView

Address = tuple[int, int]
"""Step and slot of a proposal."""
KnownAnswers = Mapping[tuple[str, int], Value | None]
"""Answers by hypothesis id and row id."""


def exchange_of(
    view: RunView,
    rows: Mapping[int, Row],
    address: Address,
    *,
    batch: Sequence[int] = (),
    answers: Callable[[], KnownAnswers] = dict,
) -> Exchange:
    """Return the exchange about a batch that a proposal came from.

    rows: the training rows by id. batch: row ids, if the step has not finished. answers: returns the learner's answers;
    called only for batch rows that the step's scores leave out. Raises RunError if an answer is unknown.
    """
    step, slot = address
    if step not in view.steps or slot not in view.steps[step].proposed:
        raise RunError(f"the journal has lost what was proposed to particle {slot} in step {step}: start the run anew")
    at = view.steps[step]
    proposed = at.proposed[slot]
    shown = [rows[row] for row in (at.finished.batch if at.finished else batch)][: proposed.shown]
    known = _scored(at, proposed.parent)
    left_out = [row.id for row in shown if row.id not in known]
    if left_out:
        others = answers()
        known |= {row: others[proposed.parent, row] for row in left_out if (proposed.parent, row) in others}
    return Exchange(
        step=step,
        slot=slot,
        hypothesis=view.texts[proposed.parent],
        rows=tuple(shown),
        predictions=tuple(_prediction(known, proposed.parent, row.id, step=step) for row in shown),
        raw=proposed.raw,
    )


def _scored(step: StepView, hypothesis: str) -> dict[int, Value | None]:
    """Return the hypothesis' answers in the step's scores, by row id; they are the same in every slot."""
    return {
        row: value
        for scored in step.scored.values()
        if scored.hypothesis == hypothesis
        for row, value in zip(scored.rows, scored.predictions, strict=True)
    }


def _prediction(known: Mapping[int, Value | None], hypothesis: str, row: int, *, step: int) -> Prediction:
    if row not in known:
        raise RunError(
            f"the journal and answers.jsonl do not hold what {hypothesis} answered on row {row} in step {step}: "
            "start the run anew"
        )
    return Prediction(row=row, value=known[row])


def remembered(view: RunView, step: int, slot: int) -> Address | None:
    """Return the earlier exchange that a proposal's prompt repeated: that of the particle it started from."""
    before, resampled = view.steps.get(step - 1), view.steps[step].resampled
    ancestor = resampled.ancestors[slot] if resampled else slot
    if before is None or ancestor >= len(before.population):
        return None
    return before.population[ancestor].exchange


def population_of(view: RunView, dataset: Dataset, *, answers: Iterable[Answer] = ()) -> Population | None:
    """Return the last finished population; None before the first. Raises RunError."""
    if not view.finished_steps:
        return None
    last = view.finished_steps[-1]
    assert last.finished is not None
    exchanges = _exchanges(view, dataset, last.population, answers)
    particles = tuple(
        Particle(
            text=view.texts[state.hypothesis],
            parent=state.parent,
            log_likelihood=state.log_likelihood,
            log_weight=state.log_weight,
            exchange=exchanges.get(state.exchange),
        )
        for state in last.population
    )
    return Population(
        step=last.step,
        particles=particles,
        tau=last.finished.tau,
        exponent=last.finished.exponent,
        log_evidence=last.finished.log_evidence,
        few_for=last.finished.few_for,
        agreed_for=last.finished.agreed_for,
    )


def _exchanges(
    view: RunView, dataset: Dataset, population: Sequence[ParticleState], answers: Iterable[Answer]
) -> dict[Address | None, Exchange]:
    """Return the exchanges that the next prompts repeat, by step and slot."""
    addresses = {state.exchange for state in population if state.exchange is not None}
    if not addresses:
        return {}
    rows = {row.id: row for row in dataset.train}
    known = {(a.hypothesis, a.prediction.row): a.prediction.value for a in answers}
    return {address: exchange_of(view, rows, address, answers=lambda: known) for address in addresses}
