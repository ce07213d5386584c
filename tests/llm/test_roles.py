import asyncio
import re
from typing import Any

import pytest

from vpp.events import Usage, hypothesis_id
from vpp.llm.learner import CUT_OFF, REFUSED, contradicts
from vpp.llm.optimizer import LlmOptimizer
from vpp.llm.prompts import seed_sentence
from vpp.problem import Prediction

from .asking import RULE, SEED_TEXT, Noted, learner_of, optimizer_of
from .stub import Reply, Request, chat
from .tables import LINE, PARITY


async def even_sum(request: Request) -> Reply:
    """Applies the rule to the row in the prompt."""
    prompt = request.body["messages"][0]["content"]
    total = sum(int(number) for number in re.findall(r"^[ab]: (\d+)$", prompt, re.MULTILINE))
    return chat(f"Explanation: the sum is {total}.\nOutput: {int(total % 2 == 0)}")


async def test_predictions_come_in_the_order_of_the_rows() -> None:
    async with learner_of(even_sum) as (learner, stub, counters):
        rows = (PARITY.train[1], PARITY.train[0], PARITY.train[2], PARITY.train[0])
        predictions = await learner.predict(RULE, rows)
        assert [(p.row, p.value) for p in predictions] == [(1, "0"), (0, "1"), (2, "1"), (0, "1")]
        assert predictions[0].explanation == "the sum is 7."
        assert predictions[0].raw is None
        assert counters.snapshot() == Usage(learner=3, prompt_tokens=21, completion_tokens=9)
        assert {(body["temperature"], body["seed"]) for body in stub.bodies} == {(0.0, 9)}


async def test_the_same_question_is_asked_and_reported_once() -> None:
    noted: list[Noted] = []
    async with learner_of(even_sum, noted=noted) as (learner, stub, _):
        await learner.predict(RULE, PARITY.train)
        await asyncio.gather(learner.predict(RULE, PARITY.train), learner.predict(RULE, PARITY.train[:1]))
        assert len(stub.requests) == 3
        assert sorted((rule, one.row, n) for rule, one, n in noted) == [(hypothesis_id(RULE), at, 1) for at in range(3)]
        await learner.predict("Another rule.", PARITY.train[:1])
        assert len(stub.requests) == 4


async def test_an_unreadable_answer_is_asked_for_again_with_its_fault_and_another_seed() -> None:
    noted: list[Noted] = []
    async with learner_of(chat("Output: maybe"), chat(), noted=noted) as (learner, stub, counters):
        (prediction,) = await learner.predict(RULE, PARITY.train[:1])
        assert prediction.value == "1"
        assert [attempts for _, _, attempts in noted] == [2]
        (first,), (second,) = (body["messages"] for body in stub.bodies)
        fault, _, rest = second["content"].partition("\n")
        assert fault == "An earlier answer was refused: 'maybe' is none of the labels 0, 1."
        assert rest == first["content"]
        assert [body["seed"] for body in stub.bodies] == [9, 10]
        assert counters.snapshot() == Usage(learner=2, unparsable=1, prompt_tokens=14, completion_tokens=6)


async def test_an_answer_that_contradicts_its_explanation_is_counted_and_kept() -> None:
    async with learner_of(chat("Explanation: Is a odd? 3: holds. So answer 1.\nOutput: 0")) as (learner, _, counters):
        (prediction,) = await learner.predict(RULE, PARITY.train[:1])
        assert prediction.value == "0"
        assert counters.snapshot().contradictory == 1


async def test_a_number_in_doubt_is_asked_about_again() -> None:
    """A comma that may separate thousands, and an answer that stops within its number."""
    cut = chat("Explanation: so.\nOutput: 7", finish="length")
    for doubtful, words in ((chat("Output: 7,250"), "'7,250' may be 7.25 or 7250"), (cut, "cut off at its limit")):
        async with learner_of(doubtful, chat("Output: 7.250"), dataset=LINE) as (learner, stub, _):
            (prediction,) = await learner.predict("y is 3 x + 4", LINE.train[:1])
            assert prediction.value == 7.25
            assert words in stub.bodies[1]["messages"][-1]["content"]


async def test_the_learner_abstains_after_two_re_asks_which_are_brief_after_a_cut_answer() -> None:
    cut = chat("Explanation: the first is 3, the second", finish="length")
    for said, words, reason, raw in (
        (cut, CUT_OFF, "the answer was cut off at its limit of tokens; a higher limit gives it room", None),
        (chat(""), "the answer is empty", "the answer is empty", ""),
    ):
        async with learner_of(said) as (learner, stub, counters):
            (prediction,) = await learner.predict(RULE, PARITY.train[:1])
            assert (prediction.value, prediction.reason, raw in (None, prediction.raw)) == (None, reason, True)
            first, second, third = (body["messages"][0]["content"] for body in stub.bodies)
            assert (second, third) == (f"{REFUSED} {words}.\n{first}", f"{REFUSED} {words}.\n" * 2 + first)
            assert await learner.predict(RULE, PARITY.train[:1]) == (prediction,)
            assert (len(stub.requests), counters.snapshot().unparsable) == (3, 3)


PREDICTIONS = (Prediction(row=0, value="0"), Prediction(row=1, value=None), Prediction(row=2, value="1"))


async def propose(optimizer: LlmOptimizer, seed: int = 40) -> Any:
    return await optimizer.propose(SEED_TEXT, PARITY.train, PREDICTIONS, temperature=0.7, seed=seed)


async def test_a_proposal_is_the_seed_text_and_the_new_rule() -> None:
    said = chat("Reasoning: so.\nNew rule: If a + b is even, output 1.")
    async with optimizer_of(said) as (optimizer, stub, counters):
        proposal = await propose(optimizer)
        assert proposal.text == f"{SEED_TEXT} If a + b is even, output 1."
        assert (proposal.temperature, proposal.seed, proposal.reason) == (0.7, 40, None)
        assert (stub.bodies[0]["temperature"], stub.bodies[0]["seed"]) == (0.7, 40)
        prompt = stub.bodies[0]["messages"][0]["content"]
        assert "[2] no answer" in prompt
        assert "The output is even." in prompt
        assert counters.snapshot() == Usage(optimizer=1, prompt_tokens=7, completion_tokens=3)


SENTENCE = seed_sentence(PARITY)


UNREADABLE = (
    (chat("I would not change it."), "there is no 'New rule:' heading"),
    (chat(f"New rule: {SEED_TEXT}"), "only repeats its first sentence"),
    (chat("New rule: If a +", finish="length"), "cut off at its limit"),
    (chat("New rule: " + "a" * 9000), "9000 characters"),
)


async def test_an_unreadable_proposal_is_asked_for_again_with_another_seed() -> None:
    for unreadable, fault in UNREADABLE:
        async with optimizer_of(unreadable, chat("New rule: Output 1.")) as (optimizer, stub, counters):
            proposal = await propose(optimizer)
            assert (proposal.text, proposal.seed) == (f"{SEED_TEXT} Output 1.", 40)
            assert [body["seed"] for body in stub.bodies] == [40, 41]
            (first,), (again,) = (body["messages"] for body in stub.bodies)
            reason, _, rest = again["content"].partition("\n")
            assert reason.startswith("An earlier answer was refused: ")
            assert fault in reason
            assert rest == first["content"]
            assert counters.snapshot().unparsable == 1


PLACEHOLDER = chat("New rule: the whole new rule, complete in itself, and nothing after it")


async def test_a_text_that_is_no_rule_is_asked_for_again_with_its_reason() -> None:
    async with optimizer_of(PLACEHOLDER, chat("New rule: Output 1.")) as (optimizer, stub, counters):
        proposal = await propose(optimizer)
        assert (proposal.text, proposal.reason, proposal.refused) == (f"{SEED_TEXT} Output 1.", None, False)
        again = stub.bodies[1]["messages"][-1]["content"]
        assert again.startswith("An earlier answer was refused: it names no label")
        assert (counters.snapshot().refused, counters.snapshot().unparsable) == (1, 0)


async def test_a_parents_own_words_may_be_kept() -> None:
    async with optimizer_of(PLACEHOLDER) as (optimizer, _, _):
        text = f"{SEED_TEXT} The whole new rule, complete in itself, and nothing after it."
        proposal = await optimizer.propose(text, PARITY.train, PREDICTIONS, temperature=0.7, seed=40)
        assert (proposal.text or "").casefold() == text.casefold().removesuffix(".")


async def test_after_two_re_asks_there_is_no_proposal_and_the_last_reason_is_kept() -> None:
    async with optimizer_of(chat("first"), chat("second"), chat("third")) as (optimizer, stub, counters):
        proposal = await propose(optimizer)
        assert (proposal.text, proposal.raw) == (None, "third")
        assert proposal.reason == "there is no 'New rule:' heading"
        assert [body["seed"] for body in stub.bodies] == [40, 41, 42]
        assert counters.snapshot().optimizer == 3
    async with optimizer_of(PLACEHOLDER) as (optimizer, stub, counters):
        for proposal in (await propose(optimizer), await optimizer.draw(temperature=1.0, seed=7)):
            assert (proposal.text, proposal.refused) == (None, True)
            assert "it names no label" in (proposal.reason or "")
        assert counters.snapshot().refused == 6
        reasons = [body["messages"][-1]["content"].count("An earlier answer was refused") for body in stub.bodies]
        assert reasons == [0, 1, 2] * 2


async def test_a_draw_from_the_prior_shows_the_columns_and_no_row() -> None:
    said = chat(f"Reasoning: so.\nNew rule: {SEED_TEXT} Output 1.")
    async with optimizer_of(chat("Let me see."), said) as (optimizer, stub, counters):
        proposal = await optimizer.draw(temperature=1.0, seed=7)
        assert proposal.text == f"{SEED_TEXT} Output 1."
        assert (proposal.temperature, proposal.seed, proposal.reason) == (1.0, 7, None)
        assert [(body["temperature"], body["seed"]) for body in stub.bodies] == [(1.0, 7), (1.0, 8)]
        prompt = stub.bodies[0]["messages"][0]["content"]
        assert f"<<<\n{SEED_TEXT}\n>>>" in prompt
        assert "<<<\na: number\nb: number\n\nLabels:\n- 0\n- 1\n>>>" in prompt
        assert "a: 3" not in prompt
        assert "there is no 'New rule:' heading" in stub.bodies[1]["messages"][-1]["content"]
        assert (counters.snapshot().optimizer, counters.snapshot().unparsable) == (2, 1)


async def test_a_thought_without_an_end_abstains_and_says_what_would_help() -> None:
    cut = chat(None, finish="length", reasoning="Let me see. Output: 0. " * 200)
    async with learner_of(chat(), cut) as (learner, _, _):
        await learner.predict(RULE, PARITY.train[:1])
        (prediction,) = await learner.predict(RULE, PARITY.train[1:2])
        assert prediction.value is None
        assert "cut off at its limit of tokens while it thought; a higher limit" in (prediction.reason or "")


CONTRADICTIONS = {
    "Is soil dry? dry: holds. So answer lush.": True,
    "The soil is dry, therefore the output is Lush": True,
    "Is soil wet? dry: fails. So otherwise answer lush.": True,
    "Is soil wet? dry: no. So answer bare.": True,
    "Is soil wet? dry: holds. So answer bare.": False,
    "Is soil wet? dry: fails. Is it May? May: holds. So bare.": False,
    "So not lush.": False,
    "So lush or bare.": False,
    "Lush grows here.": False,
    "Is soil wet? dry: fails. Rain comes.": False,
    "": False,
}


@pytest.mark.parametrize("explanation", CONTRADICTIONS)
def test_an_answer_contradicts_another_conclusion_and_a_failed_condition(explanation: str) -> None:
    rule = "If soil is wet or it is May, answer bare; otherwise answer lush."
    for label, is_odd in (("bare", CONTRADICTIONS[explanation]), (None, False)):
        prediction = Prediction(row=0, value=label, explanation=explanation)
        assert contradicts(prediction, rule, ("bare", "lush")) == is_odd
    other = Prediction(row=0, value="bare", explanation="Is soil wet? dry: fails. So bare.")
    assert not contradicts(other, "Wet soil is lush, the rest is bare.", ("bare", "lush"))
