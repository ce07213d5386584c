"""f(x; theta) as a program: asked for once, repaired with its fault, and applied to every row."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.reporting.builders import dataset
from vpp.data.dataset import Column, Dataset, Row
from vpp.errors import EndpointRefused
from vpp.events import Counters, hypothesis_id
from vpp.llm.learner import LearnerOptions, LlmLearner
from vpp.llm.prompts import LearnerPrompts, ProgramPrompts, seed_sentence
from vpp.llm.protocol import Completion
from vpp.llm.templates import Messages, shipped
from vpp.llm.translator import NO_PROGRAM, NO_RULE_YET, ProgramLearner
from vpp.problem import TextAnswer, Translation
from vpp.programs.columns import Columns
from vpp.programs.sandbox import Sandbox

DATA = dataset(["no", "yes", "yes"], ["yes"])
"""Column a is the row's id: 0, 1, 2 for training."""
RULE = "Answer yes above 0."
RIGHT = "def predict(a):\n    if a > 0:\n        return 'yes'\n    return 'no'"
WRONG = "def predict(a):\n    return 'maybe'"


@dataclass
class Learner:
    """A learner behind a scripted model, with everything that it was asked and that it reported."""

    learner: ProgramLearner
    asked: list[Messages] = field(default_factory=list)
    reported: list[Translation | TextAnswer] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)

    async def values(self, rows: Sequence[Row], rule: str = RULE) -> list[Any]:
        return [each.value for each in await self.learner.predict(rule, rows)]


@asynccontextmanager
async def scripted(*answers: str, data: Dataset = DATA, falls_back: bool = True) -> AsyncIterator[Learner]:
    """The model gives these answers in turn, and reads any row as a no."""
    left = list(answers)

    class Model:
        async def complete(self, messages: Messages, **_: Any) -> Completion:
            await asyncio.sleep(0)
            by_row = not messages[0]["content"].startswith(("You translate", "You answer a question"))
            if not by_row:
                made.asked.append(messages)
            text = "Explanation: so.\nOutput: no" if by_row else left.pop(0)
            return Completion(text=text, prompt_tokens=1, completion_tokens=1)

    async with Sandbox() as sandbox:
        options, counters = LearnerOptions(seed=0, max_tokens=100), Counters()
        by_row = LearnerPrompts(dataset=data, template=shipped("learner"))
        made = Learner(
            ProgramLearner(
                LlmLearner(Model(), by_row, options, counters=counters),
                Model(),
                ProgramPrompts(dataset=data, columns=Columns(data)),
                options,
                sandbox,
                counters=counters,
                falls_back=falls_back,
                on_program=lambda entry: made.reported.append(entry),
                on_answer=lambda _, __, attempts: made.attempts.append(attempts),
            ),
            counters=counters,
        )
        yield made
    assert not left, "an answer was not asked for"


async def test_the_first_answer_serves_every_row_and_reports_its_branches() -> None:
    async with scripted(RIGHT) as made:
        said = await made.learner.predict(RULE, DATA.train)
        assert [(each.value, each.branch, each.explanation) for each in said] == [
            ("no", 1, "otherwise: 'no'"),
            *[("yes", 0, "a > 0: 'yes'")] * 2,
        ]
        assert await made.values(DATA.test) == ["yes"]
        assert made.reported == [Translation(hypothesis=hypothesis_id(RULE), code=RIGHT, attempts=1)]
        assert made.attempts == [0] * 4
        usage = made.counters.snapshot()
    assert (usage.learner, usage.unparsable) == (1, 0)


FAULTS = ("def predict(b):\n    return 1", "def predict(a):\n    return 1 / a", WRONG)


async def test_each_fault_is_shown_to_the_model_which_repairs_it() -> None:
    async with scripted(WRONG, RIGHT) as made:
        assert await made.values(DATA.train) == ["no", "yes", "yes"]
    *_, answer, complaint = made.asked[1]
    assert answer == {"role": "assistant", "content": WRONG}
    fault = "on the row with a = 0 it gives 'maybe', which is not one of the labels no, yes"
    assert fault in complaint["content"]
    assert (made.reported[0].attempts, made.counters.snapshot().unparsable) == (2, 1)
    async with scripted(*FAULTS) as made:
        await made.learner.program(RULE)
    second, third = (messages[-1]["content"] for messages in made.asked[1:])
    assert "there is no column b" in second
    assert "on the row with a = 0 it fails: ZeroDivisionError" in third


async def test_a_model_that_writes_no_programs_ends_a_run_that_reads_by_programs_alone() -> None:
    words = r"cannot be read \(.*'maybe', which is not one of .*it said 'def predict.*none of the first 100 calls"
    async with scripted(*[WRONG] * 100, falls_back=False) as made:
        with pytest.raises(EndpointRefused, match=words):
            [await made.values(DATA.train, f"{RULE} {n}") for n in range(50)]
    async with scripted(*[WRONG] * 120) as made:
        said = [await made.values(DATA.train, f"{RULE} {n}") for n in range(40)]
    assert said == [["no"] * 3] * 40, "rows are read in the place of programs"


UNUSABLE = {
    "three faults": (FAULTS, "it gives 'maybe'", 3),
    "a refusal": (("no program",), NO_PROGRAM, 1),
    "a refusal at the second attempt": ((WRONG, "No program."), NO_PROGRAM, 2),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("falls_back", [True, False])
async def test_without_a_program_rows_are_read_or_have_no_answer(name: str, falls_back: bool) -> None:
    answers, reason, attempts = UNUSABLE[name]
    async with scripted(*answers, falls_back=falls_back) as made:
        said = await made.learner.predict(RULE, DATA.train)
        assert await made.learner.predict(RULE, DATA.train) == said
    (entry,) = made.reported
    assert isinstance(entry, Translation)
    assert (entry.code, entry.attempts) == (None, attempts)
    assert reason in str(entry.reason)
    assert [each.value for each in said] == [("no" if falls_back else None)] * 3
    assert falls_back or all(reason in str(each.reason) for each in said)


async def test_a_sentence_without_a_rule_is_no_program_and_costs_no_call() -> None:
    async with scripted() as made:
        assert await made.learner.program(seed_sentence(DATA)) is None
    assert made.reported[0].reason == NO_RULE_YET  # type: ignore[union-attr]


async def test_the_last_attempt_may_leave_rows_with_a_missing_cell_unanswered() -> None:
    first = replace(DATA.train[0], inputs=(("a", None),))
    data = replace(DATA, train=(first, *DATA.train[1:]))
    async with scripted(*[RIGHT] * 3, data=data) as made:
        said = await made.learner.predict(RULE, data.train)
    assert [each.value for each in said] == [None, "yes", "yes"]
    assert "TypeError" in str(said[0].reason)
    assert made.reported[0].attempts == 3
    assert all("a = None" in messages[-1]["content"] for messages in made.asked[1:])


async def test_labels_of_digits_may_be_given_as_numbers() -> None:
    data = dataset(["0", "1", "1"], ["1"])
    async with scripted("def predict(a):\n    return 1.0 if a > 1 else a > 0", data=data) as made:
        assert await made.values(data.train) == ["0", "1", "1"]


async def test_a_number_is_finite() -> None:
    data = dataset([0.0, 1.0, 2.0], [1.0])
    wrong, right = "def predict(a):\n    return float('inf')", "def predict(a):\n    return 2 * a"
    async with scripted(wrong, right, data=data) as made:
        assert await made.values(data.train) == [0.0, 2.0, 4.0]
    assert "it gives inf, which is not a finite number" in made.asked[1][-1]["content"]


NOTES = replace(
    DATA,
    columns=(Column(name="a", kind="text", n_missing=0, n_distinct=3), DATA.columns[1]),
    train=tuple(
        replace(row, inputs=(("a", text),)) for row, text in zip(DATA.train, ("fog", "rain", "fog"), strict=True)
    ),
)
ASKING = "def predict(a):\n    return 'yes' if ask('Is it wet?', a) else 'no'"


async def test_a_question_is_asked_once_a_text_and_shared_by_programs() -> None:
    async with scripted(ASKING, "No.", "yes", ASKING, data=NOTES) as made:
        first = await made.values(NOTES.train)
        assert await made.values(NOTES.train, "Another sentence.") == first
    assert sorted(first) in (["no", "no", "yes"], ["no", "yes", "yes"])
    assert [len([e for e in made.reported if isinstance(e, kind)]) for kind in (TextAnswer, Translation)] == [2, 2]
    answers = {e.text: e.yes for e in made.reported if isinstance(e, TextAnswer)}
    assert first == [("yes" if answers[hypothesis_id(text)] else "no") for text in ("fog", "rain", "fog")]


async def test_an_answer_that_is_neither_yes_nor_no_counts_as_no_and_is_said() -> None:
    async with scripted(ASKING, "perhaps", "yes", data=NOTES) as made:
        said = await made.values(NOTES.train)
    assert set(said) == {"no", "yes"}
    assert sorted(str(e.yes) for e in made.reported if isinstance(e, TextAnswer)) == ["None", "True"]
    assert made.counters.snapshot().unparsable == 1


async def test_programs_of_an_earlier_session_make_no_call() -> None:
    wet = [
        TextAnswer(question="Is it wet?", text=hypothesis_id(t), yes=t == "rain", attempts=1) for t in ("fog", "rain")
    ]
    async with scripted(data=NOTES) as made:
        made.learner.preload_programs([Translation(hypothesis=hypothesis_id(RULE), code=ASKING, attempts=1), *wet])
        assert await made.values(NOTES.train) == ["no", "yes", "no"]
    assert made.reported == []


async def test_two_callers_share_one_translation() -> None:
    async with scripted(RIGHT) as made:
        both = await asyncio.gather(made.values(DATA.train[:2]), made.values(DATA.train))
    assert both == [["no", "yes"], ["no", "yes", "yes"]]
    assert len(made.asked) == 1
