"""The population that an interrupted run continues from, rebuilt from its journal and answers."""

from collections.abc import Iterable, Sequence

from vpp.data.dataset import Dataset
from vpp.events import ParticleState
from vpp.inference.population import Particle, Population
from vpp.problem import Exchange
from vpp.runs.answers import Answer
from vpp.runs.exchanges import Address, exchange_of
from vpp.runs.view import RunView


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
