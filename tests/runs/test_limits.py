"""What a run is told of its models' limits, seen at the wire."""

from tests.processes import Desk, Model
from vpp.llm.context import ModelLimits
from vpp.runs.reader import RunReader

ROOM = 1_400
"""Tokens; a whole batch of penguins and an answer need about 1,550."""


def test_a_context_and_a_structure_reach_every_request_of_a_run(desk: Desk, served: Model) -> None:
    options = ("--context-length", str(ROOM), "--learner-max-tokens", "200", "--optimizer-max-tokens", "300")
    ended = desk.run("run", *served.options, *options, "--structured", "choice").finish()
    assert ended.code == 0
    of_learner = [body for body in served.bodies if "structured_outputs" in body]
    of_optimizer = [body for body in served.bodies if "structured_outputs" not in body]
    assert {body["max_completion_tokens"] for body in of_learner} == {200}
    assert {body["max_completion_tokens"] for body in of_optimizer} == {300}
    assert {tuple(body["structured_outputs"]["choice"]) for body in of_learner} == {("Adelie", "Chinstrap", "Gentoo")}
    limits = ModelLimits(max_tokens=300, context_length=ROOM)
    assert all(limits.fit(body["messages"]) for body in of_optimizer)
    proposals = RunReader(desk.directory("run")).refresh().view.proposals
    assert any(proposal.shown for proposal in proposals)
