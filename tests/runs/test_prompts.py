"""Prompts are not stored: templates, data and journal rebuild them to the letter."""

import json
import re
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


def test_mistakes_of_a_program_are_listed_by_branch_in_the_rebuilt_prompt_too(desk: Desk, served: Model) -> None:
    template = desk.folder / "own" / "optimizer.txt"
    template.parent.mkdir()
    template.write_text(f"{shipped('optimizer').text}\nIts mistakes:\n{{mistakes}}")
    options = ("--templates", str(template.parent), "--method", "mh", "--reading", "auto")
    _, _, conversations = rebuilt(ended(desk, served, *options))
    assert set(map(json.dumps, conversations)) <= asked(served)
    listed = [each[-1]["content"].partition("\nIts mistakes:\n")[2] for each in conversations]
    assert any(re.search(r"^\w.*: '\w+' is wrong on \d+ of \d+ rows?:\n.* \(the rule gave ", each) for each in listed)


def test_a_conversation_reads_as_one_text_with_its_parts_headed() -> None:
    question, answer = {"role": "user", "content": "Which?"}, {"role": "assistant", "content": "This."}
    assert as_text([question]) == "Which?"
    assert as_text([question, answer, {"role": "user", "content": "And now?"}]) == (
        "Worked example\n\nWhich?\n\nIts answer\n\nThis.\n\nQuestion\n\nAnd now?"
    )


def test_a_proposals_prompt_heads_the_examples_of_its_template(desk: Desk, served: Model) -> None:
    directory = ended(desk, served, "--method", "vml")
    template = f"--- user\nOdd?\n--- assistant\nEven.\n--- user\n{shipped('optimizer').text}"
    reader = RunReader(directory)
    view = reader.refresh().view
    spec = replace(directory.spec(), optimizer_template=template)
    text = PromptMaker(spec, reader.dataset(), answers=reader.read_answers).proposal(view, 1, 0) or ""
    assert text.startswith("Worked example\n\nOdd?\n\nIts answer\n\nEven.\n\nQuestion\n\n")
    assert text.count("Worked example") == 1
