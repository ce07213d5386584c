"""Prompts are not stored: templates, data and journal rebuild them to the letter."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.processes import Desk, Model
from vpp.llm.templates import shipped
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.runs.view import RunView

SIZES = ("--particles", "4", "--epochs", "2", "--train-size", "25", "--test-size", "5")


def ended(desk: Desk, served: Model, *options: str) -> RunDirectory:
    """Return a finished run."""
    assert desk.run("run", *served.options, *SIZES, *options).finish().code == 0
    return desk.directory("run")


def asked(served: Model) -> set[str]:
    """Return every conversation that the server was sent, as JSON."""
    return {json.dumps(body["messages"]) for body in served.bodies}


def rebuilt(directory: RunDirectory) -> tuple[RunView, PromptMaker, list[Any]]:
    """Return the view, and each proposal's first conversation."""
    reader = RunReader(directory)
    view = reader.refresh().view
    maker = PromptMaker(directory.spec(), reader.dataset(), answers=reader.read_answers)
    return view, maker, [maker.messages(view, p.step, p.particle) for p in view.proposals]


RUNS = {"smc": "--method smc", "mh": "--method mh --reading rows"}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_every_proposals_prompt_is_rebuilt_to_the_letter(options: str, desk: Desk, served: Model) -> None:
    view, maker, conversations = rebuilt(ended(desk, served, *options.split()))
    assert len(conversations) == view.size * view.total_steps
    assert set(map(json.dumps, conversations)) <= asked(served)
    assert maker.proposal(view, view.total_steps, 0) is None
    assert {len(each) for each in conversations} == {1}
    kinds = {(p.origin, bool(p.rows)) for p in view.proposals}
    assert kinds >= ({("refined", True)} if "smc" in options else {("refined", False), ("prior", False)})


def test_a_proposals_prompt_heads_the_examples_of_its_template(desk: Desk, served: Model) -> None:
    directory = ended(desk, served, "--method", "vml")
    template = f"--- user\nOdd?\n--- assistant\nEven.\n--- user\n{shipped('optimizer').text}"
    reader = RunReader(directory)
    view = reader.refresh().view
    spec = replace(directory.spec(), optimizer_template=template)
    text = PromptMaker(spec, reader.dataset(), answers=reader.read_answers).proposal(view, 1, 0) or ""
    assert text.startswith("Worked example\n\nOdd?\n\nIts answer\n\nEven.\n\nQuestion\n\n")
    assert text.count("Worked example") == 1
