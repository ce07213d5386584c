"""Runs whose server may hold answers to a schema, or has little room for cells of long text."""

import json
from pathlib import Path
from typing import Any

import pytest

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

    honours = True

    @property
    def options(self) -> tuple[str, ...]:
        return ("--base-url", self.base_url, "--model", "small")

    @property
    def probes(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies if is_probe(body)]

    async def behave(self, request: Request) -> Reply | None:
        if is_probe(request.body) and self.honours:
            self.bodies.append(request.body)
            return chat('{"output": "TORVEN"}')
        if request.path.endswith("/chat/completions"):
            request.body["model"] = "demo"
        reply = await super().behave(request)
        return held_to_schema(reply) if reply and self.honours and FIELD in request.body else reply


def held_to_schema(reply: Reply) -> Reply:
    """Put an answer of the demo model into the schema's two fields."""
    explanation, _, output = json.loads(reply.body)["choices"][0]["message"]["content"].rpartition("\nOutput: ")
    return chat(json.dumps({"explanation": explanation.removeprefix("Explanation: "), "output": output}))


def is_probe(body: dict[str, Any]) -> bool:
    return bool(body) and body["messages"][-1]["content"] == SCHEMA_QUESTION


def test_a_schema_that_a_server_honours_is_used_in_every_request_recorded_and_not_tested_again(desk: Desk) -> None:
    options = ("--limit", f"context={ROOM}", "--limit", "learner=200", "--limit", "optimizer=300")
    with served_by_thread(Holding()) as served:
        served.hold_after = 40
        running = desk.run("run", *served.options, *NAMED, *options)
        wait_until(lambda: served.is_holding, "the run waits in its first step")
        running.kill()
        served.hold_after = None
        ended = desk.resume("run").finish()
    assert ended.code == 0
    assert len(served.probes) == 1
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


def test_a_server_that_ignores_a_schema_in_silence_is_asked_without_one(desk: Desk) -> None:
    with served_by_thread(Holding()) as served:
        served.honours = False
        ended = desk.run("run", *served.options, *NAMED).finish()
    assert (ended.code, ended.result["structured"]) == (0, {"option": "auto", "carrier": None})
    assert not any(FIELD in body for body in served.bodies if not is_probe(body))


# Cells are whole where the models’ contexts hold them, else cut with a count of what is cut

SMALL = ("--demo", "--target", "label", "--method", "vml", "--epochs", "1", "--templates", "paper", "--quiet")


def reviews(folder: Path, *, long: int) -> Path:
    """Write 24 labelled reviews with a line break each, 12 of them of `long` characters."""
    path = folder / "reviews.csv"
    lines = [
        f'"{n}: the stay\n{"was fine " * (long // 9 if n % 2 else 1)}",{("bad", "good")[n % 2]}' for n in range(24)
    ]
    path.write_text("\n".join(["review,label", *lines]))
    return path


def test_the_plan_counts_the_cells_that_are_shown_in_part(desk: Desk) -> None:
    data = reviews(desk.folder, long=4_500)
    limited = desk.vpp("run", data, *SMALL, "--plan", "--limit", "cell=1000")
    assert "12 cells of review are shown in part, their first 1,000 characters" in limited.out
    roomy = desk.vpp("run", data, *SMALL, "--plan", "--limit", "context=100000")
    assert "in part" not in roomy.out
    narrow = " ".join(desk.vpp("run", data, *SMALL, "--plan", "--limit", "context=2048").out.split())
    assert "By estimate, 12 cells of review are shown in part, their first" in narrow
    refused = desk.vpp("run", data, *SMALL, "--plan", "--limit", "cell=-1")
    assert "--limit: 'cell=-1' is not NAME=N with one of calls" in refused.complaint


@pytest.mark.parametrize(("long", "cut"), [(4_500, {}), (120_000, {"review": 12})])
def test_a_run_cuts_cells_only_if_its_models_context_is_too_short(desk: Desk, long: int, cut: dict[str, int]) -> None:
    ended = desk.run("run", *SMALL, "--json", data=reviews(desk.folder, long=long)).finish()
    limit = desk.directory("run").spec().cell_limit
    assert ended.result["cells"] == {"limit": limit, "shown_in_part": cut}
    assert bool(limit) == bool(cut)
    report = (desk.directory("run").path / "report.md").read_text()
    assert ("12 cells of review are shown in part" in report) == bool(cut)
    assert "was fine was fine" in (desk.directory("run").path / "data.csv").read_text()
    assert not desk.look("run").view.usage.failed
