"""Tests of an endpoint's servers before a run: the learner's, and the optimizer's if it is another."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from vpp.llm.budget import Budget
from vpp.llm.check import Finding, Role, Trial, check
from vpp.llm.counters import Counters
from vpp.llm.endpoint import Endpoint
from vpp.runs.keys import Keys
from vpp.runs.session import Connection, open_endpoints
from vpp.runs.spec import EndpointSpec

LONGEST_S = 60.0
"""Seconds a call of a check may take."""
LONGEST_OF_FILE_S = 600.0
"""Seconds a call may take for a model file, which a laptop's processor may serve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A finding about a server."""

    roles: tuple[Role, ...]
    base_url: str
    model: str
    finding: Finding


async def check_servers(spec: EndpointSpec, keys: Keys) -> AsyncGenerator[Checked, None]:
    """Yield each finding as it is made. Raises InputError for an address or a key that no request can carry."""
    async with AsyncExitStack() as stack:
        longest_s = LONGEST_OF_FILE_S if spec.gguf else LONGEST_S
        quick = replace(spec, timeout_s=min(spec.timeout_s, longest_s))
        counters = Counters()
        budget = Budget(counters)
        connection = Connection(counters=counters, budget=budget, max_attempts=1)
        learner, optimizer = await open_endpoints(stack, quick, keys, connection)
        servers: dict[Endpoint, tuple[Role, ...]] = {learner: ("learner",)}
        servers[optimizer] = (*servers.get(optimizer, ()), "optimizer")
        for endpoint, roles in servers.items():
            trial = Trial(
                roles=roles,
                concurrency=spec.in_flight,
                learner_max_tokens=spec.learner_max_tokens,
                optimizer_max_tokens=spec.optimizer_max_tokens,
                structured="off" if spec.is_demo else spec.structured,
            )
            async for finding in check(endpoint, trial):
                yield Checked(roles=roles, base_url=endpoint.base_url, model=endpoint.model, finding=finding)


def checking(spec: EndpointSpec, keys: Keys) -> Iterator[Checked]:
    """Yield the findings to a caller without an event loop; closing it early closes its connections."""
    with asyncio.Runner() as runner:
        findings = check_servers(spec, keys)
        try:
            while (one := runner.run(_next(findings))) is not None:
                yield one
        finally:
            runner.run(findings.aclose())


async def _next(findings: AsyncGenerator[Checked, None]) -> Checked | None:
    return await anext(findings, None)
