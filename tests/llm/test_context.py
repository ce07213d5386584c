"""Prompts and the context: shortened by rule, or refused, and never the end of a run that has begun."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.errors import InputError
from vpp.events import Counters
from vpp.llm.prompts import LearnerPrompts, ModelLimits, check_fit, prompt_tokens, seed_sentence, tokens_at_most
from vpp.llm.templates import shipped
from vpp.problem import Prediction

from .asking import RULE, optimizer_of
from .stub import Reply, Request, chat, refusal
from .tables import optimizer_prompts, row, table

TABLE = table(
    "classification",
    tuple(row(n, str(n % 2), a=str(n), b="x" * 30) for n in range(8)),
    target="even",
    classes=("0", "1"),
)
SEED = seed_sentence(TABLE)
ANSWERS = [Prediction(row=each.id, value="0") for each in TABLE.train]


async def propose(said: Any, *, context_length: int = 0, **options: Any) -> tuple[Any, list[str], Counters]:
    """A proposal, the prompts that were sent for it, and the counts."""
    async with optimizer_of(said, dataset=TABLE, seed_text=SEED, context_length=context_length) as (
        asked,
        stub,
        counts,
    ):
        proposal = await asked.propose(RULE, TABLE.train, ANSWERS, temperature=0.0, seed=1, **options)
        return proposal, [body["messages"][-1]["content"] for body in stub.bodies], counts


def asked_about(count: int) -> str:
    return optimizer_prompts(TABLE).about_batch(RULE, TABLE.train[:count], ANSWERS[:count])[0]["content"]


def room_for(count: int) -> int:
    """Return the tokens of a question about `count` rows and of its answer."""
    return prompt_tokens([{"role": "user", "content": asked_about(count)}]) + 64


async def test_rows_that_do_not_fit_are_left_out() -> None:
    for room, shown in ((32_000, None), (room_for(5), 4)):
        proposal, asked, counters = await propose(chat("New rule: Output 1."), context_length=room)
        assert (proposal.shown, asked) == (shown, [asked_about(shown or 8)])
        assert proposal.text is not None
        assert counters.snapshot().unparsable == 0


def too_long(limit: int) -> Callable[[Request], Awaitable[Reply]]:
    """Refuse prompts of more than `limit` characters, as vLLM does."""
    words = "This model's maximum context length is 99 tokens. However, you requested 120 input tokens."

    async def answer(request: Request) -> Reply:
        is_long = sum(len(message["content"]) for message in request.body["messages"]) > limit
        return refusal(400, words, param="input_tokens", code=400) if is_long else chat("New rule: Output 1.")

    return answer


async def test_a_server_that_finds_it_too_long_is_shown_half_as_much() -> None:
    proposal, asked, counters = await propose(too_long(len(asked_about(3))))
    assert (proposal.shown, asked) == (2, [asked_about(8), asked_about(4), asked_about(2)])
    assert proposal.text is not None
    assert counters.snapshot().unparsable == 2


async def test_one_row_that_does_not_fit_is_a_proposal_that_cannot_be_read() -> None:
    proposal, asked, counters = await propose(too_long(10))
    assert proposal.text is None
    assert "the prompt does not fit" in proposal.reason
    assert (len(asked), counters.snapshot().unparsable) == (4, 4)


async def test_an_optimizer_that_gives_nothing_costs_three_calls_a_proposal() -> None:
    proposal, asked, _ = await propose(chat(""))
    assert (proposal.text, proposal.reason, len(asked)) == (None, "the answer is empty", 3)


ROOMY = ModelLimits(context_length=8_000, max_tokens=512)


def check(*, learner: ModelLimits = ROOMY, optimizer: ModelLimits = ROOMY) -> None:
    asked = LearnerPrompts(dataset=TABLE, template=shipped("learner"))
    check_fit(asked, optimizer_prompts(TABLE), (learner, optimizer))


def test_a_run_that_cannot_fit_is_refused_before_it_starts() -> None:
    check()
    check(learner=ModelLimits(context_length=0, max_tokens=10**6))
    with pytest.raises(
        InputError, match=r"learner's prompt about row 1 takes up to \d+ tokens and its answer up to 512"
    ):
        check(learner=replace(ROOMY, context_length=600))
    with pytest.raises(InputError, match="optimizer's prompt about row 1 alone"):
        check(optimizer=replace(ROOMY, context_length=700))


def test_an_answer_takes_half_of_a_known_context_at_most() -> None:
    assert ModelLimits(context_length=1_000, max_tokens=1_536).bounded().max_tokens == 500
    assert ModelLimits(context_length=0, max_tokens=1_536).bounded().max_tokens == 1_536


COUNTED = {
    "The label is 1 if the sum of a and b is even, and 0 otherwise.": 18,
    "height: 181.5\nweight: 74.25\nname: Østergård": 24,
    "身長は百八十センチです。": 11,
    "": 0,
}
"""Tokens that a tokenizer of 128,000 words takes, rounded up."""


def test_the_estimate_is_above_the_count_of_tokenizers() -> None:
    for text, tokens in COUNTED.items():
        assert tokens_at_most(text) >= tokens, text


@given(st.text(), st.text())
def test_the_estimate_grows_with_the_text_and_never_passes_its_bytes(one: str, other: str) -> None:
    assert tokens_at_most(one + other) >= max(tokens_at_most(one), tokens_at_most(other))
    assert tokens_at_most(one) <= len(one.encode("utf-8", "replace"))
