"""How a run's server holds the learner's answers to a form: tested once, when the run first opens, and recorded."""

import asyncio
from dataclasses import replace

from vpp.cancellation import cancel
from vpp.llm.budget import Budget
from vpp.llm.carriers import CarrierTest, honoured, try_carriers
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint
from vpp.llm.structure import FREE_TEXT, StructuredAnswers, structured_answers
from vpp.runs.directory import RunDirectory
from vpp.runs.spec import RunSpec

MAX_ATTEMPTS = 2
"""Attempts of a test call."""


def answers_of(spec: RunSpec) -> StructuredAnswers:
    """How the learner's answers are held; free text under `auto` while the server has not been tested."""
    if spec.endpoint.is_demo and spec.endpoint.structured == "auto":
        return FREE_TEXT
    return structured_answers(spec.endpoint.structured, spec.structured_as)


async def with_carrier(directory: RunDirectory, spec: RunSpec, learner: Endpoint, budget: Budget) -> RunSpec:
    """Test which carrier the learner's server honours and record it in run.json; the spec unchanged if it is known.

    Nothing is recorded if the run's cap ends the test or the server answers no test call: the next worker tests again.
    Raises EndpointUnreachable.
    """
    if spec.endpoint.structured == "off" or spec.endpoint.is_demo or spec.structured_as:
        return spec
    tested = await _tested(learner, budget)
    if tested is None or not any(test.is_answered for test in tested):
        return spec
    found = honoured(tested) or "off"
    directory.amend(structured_as=found)
    return replace(spec, structured_as=found)


async def _tested(learner: Endpoint, budget: Budget) -> tuple[CarrierTest, ...] | None:
    """Test the carriers with counters of their own, so that only `sent` and `cost` count; None at the run's cap."""
    endpoint = learner.copy(counters=Counters(), max_attempts=MAX_ATTEMPTS)
    testing = asyncio.ensure_future(try_carriers(endpoint))
    at_cap = asyncio.ensure_future(budget.exhausted.wait())
    try:
        await asyncio.wait((testing, at_cap), return_when=asyncio.FIRST_COMPLETED)
        return testing.result() if testing.done() else None
    finally:
        await cancel((testing, at_cap))
        await endpoint.aclose()
