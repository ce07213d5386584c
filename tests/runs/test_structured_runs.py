"""Runs whose server honours one field of structured output: it is found out once, used, and recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.llm.stub import Reply, Request, chat, refusal
from tests.processes import Desk, Model, served_by_thread, wait_until
from vpp.llm.check import CARRIER_QUESTION
from vpp.llm.context import ModelLimits
from vpp.llm.forms import CARRIERS, FIELDS

NAMED = ("--method", "vml", "--templates", "paper")
ROOM = 1_400
"""Tokens; a whole batch of penguins and an answer need about 1,550."""


class Holding(Model):
    """The demo model under another name, behind a server that honours one field and refuses or ignores the others."""

    def __init__(self, field: str, *, refuses: bool = False) -> None:
        super().__init__()
        self._field, self._refuses = field, refuses

    @property
    def options(self) -> tuple[str, ...]:
        return ("--base-url", self.base_url, "--model", "small")

    @property
    def probes(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if is_probe(body)]

    async def behave(self, request: Request) -> Reply | None:
        foreign = set(FIELDS.values()) & set(request.body) - {self._field}
        if self._refuses and foreign:
            return refusal(400, f"Unsupported parameter: {foreign.pop()}")
        if is_probe(request.body) and self._field in request.body:
            self.bodies.append(request.body)
            return chat('{"output": "TORVEN"}' if self._field == "response_format" else "TORVEN")
        if request.path.endswith("/chat/completions"):
            request.body["model"] = "demo"
        return await super().behave(request)


def is_probe(body: dict[str, Any]) -> bool:
    return bool(body) and body["messages"][-1]["content"] == CARRIER_QUESTION


@contextmanager
def holding(field: str, *, refuses: bool = False) -> Iterator[Holding]:
    with served_by_thread(Holding(field, refuses=refuses)) as served:
        yield served


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_field_that_a_server_honours_is_used_and_recorded(desk: Desk, carrier: str) -> None:
    field = FIELDS[carrier]  # type: ignore[index]
    with holding(field) as served:
        ended = desk.run("run", *served.options, *NAMED).finish()
    assert ended.code == 0
    assert desk.directory("run").spec().structured_as == carrier
    assert ended.result["structured"] == {"option": "auto", "carrier": carrier}
    asked = [body for body in served.bodies if not is_probe(body)]
    of_learner = [body for body in asked if "New rule:" not in body["messages"][-1]["content"]]
    assert of_learner
    assert all(field in body for body in of_learner)
    assert not any(field in body for body in asked if body not in of_learner)
    assert ended.result["calls"]["unparsable"] == 0
    report = (desk.folder / "run" / "report.md").read_text(encoding="utf-8")
    row = next(line for line in report.splitlines() if "structured answers" in line)
    assert carrier in row.replace("\\", "")
    assert "found by the check" in row


def test_test_calls_count_as_sent_and_as_nothing_else(desk: Desk) -> None:
    with holding("none") as served:
        plain = desk.run("plain", *served.options, *NAMED, "--structured", "off").finish()
        tested = desk.run("tested", *served.options, *NAMED).finish()
    assert len(served.probes) == len(CARRIERS)
    assert tested.result["structured"] == {"option": "auto", "carrier": None}
    assert tested.result["calls"] == plain.result["calls"]
    assert tested.result["tokens"] == plain.result["tokens"]
    assert tested.result["spent"]["requests"] == plain.result["spent"]["requests"] + len(CARRIERS)
    assert desk.look("tested").view.usage.faults == {}


def test_a_resumed_run_is_not_tested_again(desk: Desk) -> None:
    with holding("grammar") as served:
        served.hold_after = 40
        running = desk.run("run", *served.options)
        wait_until(lambda: served.is_holding, "the run waits in its first step")
        running.kill()
        served.hold_after = None
        before = len(served.probes)
        ended = desk.resume("run").finish()
        assert ended.code == 0
        assert before == len(served.probes) == 2
        assert ended.result["structured"] == {"option": "auto", "carrier": "grammar"}


def test_a_context_and_a_structure_reach_every_request_of_a_run(desk: Desk) -> None:
    options = ("--limit", f"context={ROOM}", "--limit", "learner=200", "--limit", "optimizer=300")
    with holding("structured_outputs") as served:
        ended = desk.run("run", *served.options, *NAMED, *options).finish()
    assert ended.code == 0
    asked = [body for body in served.bodies if not is_probe(body)]
    of_learner = [body for body in asked if "structured_outputs" in body]
    of_optimizer = [body for body in asked if "structured_outputs" not in body]
    assert {body["max_completion_tokens"] for body in of_learner} == {200}
    assert {body["max_completion_tokens"] for body in of_optimizer} == {300}
    assert all("Adelie|Chinstrap|Gentoo" in body["structured_outputs"]["regex"] for body in of_learner)
    limits = ModelLimits(max_tokens=300, context_length=ROOM)
    assert all(limits.fit(body["messages"]) for body in of_optimizer)
    proposals = desk.look("run").view.proposals
    assert any(proposal.shown for proposal in proposals)
