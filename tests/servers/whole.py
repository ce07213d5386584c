"""Whole runs and single answers against a server."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.processes import PENGUINS, TARGET, Desk, Outcome
from tests.servers.served import Served
from vpp.llm.endpoint import Endpoint, Limits, Server
from vpp.llm.protocol import Completion
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView

TINY_RUN = ("--particles", "2", "--epochs", "1", "--train-size", "20", "--test-size", "6", "--limit", "call=300")
TINY_RUN += ("--limit", "learner=64", "--limit", "optimizer=128")
"""Two steps and, where no answer can be read, some 150 calls."""
WITHIN_S = 600.0


def settled(desk: Desk, name: str, *words: str | Path, **environment: str) -> Outcome:
    """Return the outcome of a small run in a directory of this name, whatever its exit code."""
    where = ("--no-cache", "--json", "--quiet", "--run-dir", desk.folder / name)
    command = ("run", PENGUINS, *TARGET, *TINY_RUN, "--limit", "wait=5", *where, *words)
    return desk.start(*command, **environment).finish(within_s=WITHIN_S)


def finished(desk: Desk, name: str, *words: str | Path, **environment: str) -> RunView:
    """Return the view of a run that must finish: exit code 0, its last event, its report."""
    outcome = settled(desk, name, *words, **environment)
    assert outcome.code == 0, outcome.err
    view = desk.look(name).view
    assert view.phase == "finished"
    assert "Adelie" in (desk.folder / name / "report.md").read_text(encoding="utf-8")
    return view


def graded(desk: Desk, *words: str) -> list[float]:
    """Return the probabilities that a run on log-probabilities records; `verify` must find the same weights."""
    view = finished(desk, "graded", *words, "--likelihood", "logprobs")
    shares = [share or {} for evaluated in view.evaluated.values() for row in evaluated.shares for share in row]
    assert all(set(share) <= {"Adelie", "Chinstrap", "Gentoo"} for share in shares)
    assert all(sum(share.values()) <= 1 + 1e-9 for share in shares)
    assert desk.vpp("verify", desk.folder / "graded").code == 0
    return [probability for share in shares for probability in share.values()]


def votes(view: RunView) -> list[Value | None]:
    """Return every particle's answer for every row that it was evaluated on, one at least."""
    found = [vote for evaluated in view.evaluated.values() for row in evaluated.predictions for vote in row]
    assert found
    return found


def with_endpoint(served: Served, call: Callable[[Endpoint], Awaitable[Completion]]) -> Completion:
    """Return the answer to a call of a new endpoint, which attempts it once."""

    async def scene() -> Completion:
        server = Server(base_url=served.base_url, model=served.model)
        endpoint = Endpoint(server, limits=Limits(max_attempts=1, timeout_s=120))
        try:
            return await call(endpoint)
        finally:
            await endpoint.aclose()

    return asyncio.run(scene())


def ask(served: Served, text: str, *, seed: int = 0, temperature: float = 0.0, max_tokens: int = 64) -> Completion:
    message = {"role": "user", "content": text}
    options: Any = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
    return with_endpoint(served, lambda endpoint: endpoint.complete([message], **options))
