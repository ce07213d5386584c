"""Prompts are not stored: templates, data and journal rebuild them to the letter."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.processes import Desk, Model
from vpp.llm.templates import shipped
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker, as_text
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


def cut_after(directory: RunDirectory, step: int) -> None:
    """Leave the journal as a worker does that is killed once the step is complete."""
    lines = directory.journal.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if b'"step_finished"' in line]
    directory.journal.write_bytes(b"".join(lines[: ends[step + 1] + 1]))


def rebuilt(directory: RunDirectory) -> tuple[RunView, PromptMaker, list[Any]]:
    """Return the view, and each proposal's first conversation."""
    reader = RunReader(directory)
    view = reader.refresh().view
    maker = PromptMaker(directory.spec(), reader.dataset())
    return view, maker, [maker.messages(view, p.step, p.particle) for p in view.proposals]


RUNS = {
    "smc": "--method smc",
    "mh": "--method mh",
    "vml": "--method vml",
    "always-accept, with history": "--method always-accept --history 1",
    "smc with history": "--method smc --history 1 --seed 4",
    "smc, filtered, with history": "--method smc --mutate filtered --history 1 --batch-order fixed",
    "smc, filtered, with restarts": "--method smc --mutate filtered --restart 0.5 --deduplicate-buffer --epochs 3",
    "smc, growing": "--method smc --mutate every --particles-max 16 --history 1 --ess-threshold 1 --beta-start 1",
    "smc, incremental": "--method smc --tempering incremental --history 1 --restart 0.5",
    "mh on the buffer": "--method mh --mh-rows buffer --history 1",
    "mh on all rows": "--method mh --mh-rows train --restart 0.5 --initial prior",
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_every_proposals_prompt_is_rebuilt_to_the_letter(options: str, desk: Desk, served: Model) -> None:
    view, maker, conversations = rebuilt(ended(desk, served, *options.split()))
    sizes = [len(view.steps[step - 1].population) for step in range(view.total_steps)]
    assert len(conversations) == sum(sizes)
    assert len(set(sizes)) == (2 if "particles-max" in options else 1)
    assert set(map(json.dumps, conversations)) <= asked(served)
    assert maker.proposal(view, view.total_steps, 0) is None
    assert {len(each) for each in conversations} == ({1, 3} if "history 1" in options else {1})
    assert {p.origin for p in view.proposals} == ({"refined", "prior"} if "restart" in options else {"refined"})


@pytest.mark.parametrize("more", ["--method smc", "--method smc --buffer-size 4", "--method mh --mh-rows train"])
def test_a_resumed_run_reminds_the_optimizer_of_the_same_exchanges(more: str, desk: Desk, served: Model) -> None:
    directory = ended(desk, served, "--history", "1", *more.split())
    complete, undisturbed = rebuilt(directory)[0].proposals, asked(served)
    served.bodies.clear()
    cut_after(directory, 2)
    assert desk.resume("run").finish().code == 0
    view = rebuilt(directory)[0]
    assert [(p.text, p.raw) for p in view.proposals] == [(p.text, p.raw) for p in complete]
    assert any(len(body["messages"]) == 3 for body in served.bodies)
    assert asked(served) <= undisturbed


def test_a_conversation_reads_as_one_text_with_its_parts_headed() -> None:
    question, answer = {"role": "user", "content": "Which?"}, {"role": "assistant", "content": "This."}
    assert as_text([question]) == "Which?"
    assert as_text([question, answer, {"role": "user", "content": "And now?"}]) == (
        "Earlier question\n\nWhich?\n\nEarlier answer\n\nThis.\n\nQuestion\n\nAnd now?"
    )


def test_worked_examples_of_the_template_are_headed_apart_from_earlier_exchanges() -> None:
    said = ("Be brief.", "Red?", "Yes.", "Which?", "This.", "And now?")
    roles = ("system", "user", "assistant", "user", "assistant", "user")
    headings = ("Instructions", "Worked example", "Its answer", "Earlier question", "Earlier answer", "Question")
    turns = [{"role": role, "content": content} for role, content in zip(roles, said, strict=True)]
    expected = "\n\n".join(f"{head}\n\n{content}" for head, content in zip(headings, said, strict=True))
    assert as_text(turns, opening=3) == expected


def test_a_proposals_prompt_heads_the_examples_of_its_template(desk: Desk, served: Model) -> None:
    directory = ended(desk, served, "--method", "vml", "--history", "1")
    template = f"--- user\nOdd?\n--- assistant\nEven.\n--- user\n{shipped('optimizer').text}"
    reader = RunReader(directory)
    view = reader.refresh().view
    spec = replace(directory.spec(), optimizer_template=template)
    text = PromptMaker(spec, reader.dataset()).proposal(view, 1, 0) or ""
    assert text.startswith("Worked example\n\nOdd?\n\nIts answer\n\nEven.\n\nEarlier question\n\n")
    assert text.count("Worked example") == text.count("Earlier question") == 1
