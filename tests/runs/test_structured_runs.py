"""Runs whose server may hold answers to a schema: found out once, used, recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.llm.stub import Reply, Request, chat
from tests.processes import Desk, Model, served_by_thread, wait_until
from vpp.llm.check import SCHEMA_QUESTION
from vpp.llm.prompts import ModelLimits
from vpp.llm.protocol import FIELD, SCHEMA

NAMED = ("--method", "vml", "--templates", "paper")
ROOM = 1_400
"""Tokens; a whole batch of penguins and an answer need about 1,550."""


class Holding(Model):
    """The demo model under another name, behind a server that honours a schema or ignores it in silence."""

    def __init__(self, *, honours: bool = True) -> None:
        super().__init__()
        self._honours = honours

    @property
    def options(self) -> tuple[str, ...]:
        return ("--base-url", self.base_url, "--model", "small")

    @property
    def probes(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if is_probe(body)]

    async def behave(self, request: Request) -> Reply | None:
        if is_probe(request.body) and self._honours:
            self.bodies.append(request.body)
            return chat('{"output": "TORVEN"}')
        if request.path.endswith("/chat/completions"):
            request.body["model"] = "demo"
        return await super().behave(request)


def is_probe(body: dict[str, Any]) -> bool:
    return bool(body) and body["messages"][-1]["content"] == SCHEMA_QUESTION


@contextmanager
def holding(*, honours: bool = True) -> Iterator[Holding]:
    with served_by_thread(Holding(honours=honours)) as served:
        yield served


def test_a_schema_that_a_server_honours_is_used_in_every_request_and_recorded(desk: Desk) -> None:
    options = ("--limit", f"context={ROOM}", "--limit", "learner=200", "--limit", "optimizer=300")
    with holding() as served:
        ended = desk.run("run", *served.options, *NAMED, *options).finish()
    assert ended.code == 0
    assert desk.directory("run").spec().structured_as == SCHEMA
    assert ended.result["structured"] == {"option": "auto", "carrier": SCHEMA}
    assert ended.result["calls"]["unparsable"] == 0
    asked = [body for body in served.bodies if not is_probe(body)]
    of_learner = [body for body in asked if FIELD in body]
    of_optimizer = [body for body in asked if FIELD not in body]
    assert {body["max_completion_tokens"] for body in of_learner} == {200}
    assert {body["max_completion_tokens"] for body in of_optimizer} == {300}
    limits = ModelLimits(max_tokens=300, context_length=ROOM)
    assert all(limits.fit(body["messages"]) for body in of_optimizer)
    assert any(proposal.shown for proposal in desk.look("run").view.proposals)


def test_a_resumed_run_is_not_tested_again(desk: Desk) -> None:
    with holding() as served:
        served.hold_after = 40
        running = desk.run("run", *served.options)
        wait_until(lambda: served.is_holding, "the run waits in its first step")
        running.kill()
        served.hold_after = None
        ended = desk.resume("run").finish()
        assert ended.code == 0
        assert len(served.probes) == 1
        assert ended.result["structured"] == {"option": "auto", "carrier": SCHEMA}
