"""Graded answers over HTTP: letters with known log-probabilities, and several answers a row."""

import math
from dataclasses import replace

import pytest

from vpp.errors import EndpointRefused, EndpointUnreachable, InputError
from vpp.events import Usage
from vpp.inference.ahead import together
from vpp.llm.learner import NO_LETTER, pooled
from vpp.llm.prompts import LETTERS
from vpp.llm.templates import LETTERED, Template, shipped
from vpp.problem import Prediction
from vpp.runs.preparation import Preparation
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config

from .asking import RULE, Noted, learner_of
from .stub import Reply, Request, as_json, chat, refusal
from .tables import LINE, PARITY

DEMO = EndpointSpec(demo=True, model="demo")


def letter(said: str, **shares: float) -> Reply:
    """An answer of one token with the alternatives of a server."""
    listed = [{"token": token, "logprob": math.log(share)} for token, share in shares.items()]
    choice = {
        "index": 0,
        "finish_reason": "length",
        "message": {"content": said},
        "logprobs": {"content": [{"token": said, "logprob": -0.1, "top_logprobs": listed}]},
    }
    return as_json({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 1}})


async def test_a_letters_probability_is_its_labels() -> None:
    noted: list[Noted] = []
    said = letter("B", A=0.2, B=0.7, C=0.06)
    async with learner_of(said, template=shipped("learner", LETTERED), noted=noted) as (learner, stub, counters):
        (prediction,) = await learner.predict(RULE, PARITY.train[:1])
        assert prediction == Prediction(row=0, value="1", shares=pytest.approx({"0": 0.2, "1": 0.7}))
        assert noted[0][1:] == (prediction, 1)
        (body,) = stub.bodies
        assert (body["max_completion_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, len(LETTERS))
        assert "- A = 0\n- B = 1\n\nAnswer with the letter" in body["messages"][-1]["content"]
        assert counters.snapshot() == Usage(learner=1, prompt_tokens=7, completion_tokens=1)


@pytest.mark.parametrize("share", [0.51, 0.49, 1e-9, 0.0])
async def test_only_an_answer_on_no_letter_is_an_abstention(share: float) -> None:
    listed = {"The": 1 - share} | ({"A": share} if share else {})
    async with learner_of(letter("The", **listed), template=shipped("learner", LETTERED)) as (learner, _, count):
        (prediction,) = await learner.predict(RULE, PARITY.train[:1])
        graded = Prediction(row=0, value="0", shares=pytest.approx({"0": share}))
        assert prediction == (graded if share else Prediction(row=0, value=None, raw="The", reason=NO_LETTER))
        assert count.snapshot().unparsable == (not share)


async def test_a_server_without_log_probabilities_is_refused_with_the_ways_out() -> None:
    async with learner_of(chat("B"), template=shipped("learner", LETTERED)) as (learner, _, _):
        with pytest.raises(EndpointRefused, match="no log-probabilities: use --likelihood"):
            await learner.predict(RULE, PARITY.train[:1])
    async with learner_of(refusal(500), template=shipped("learner", LETTERED)) as (learner, _, _):
        with pytest.raises(EndpointUnreachable, match="if log-probabilities alone fail, use --likelihood"):
            await learner.predict(RULE, PARITY.train[:1])


async def test_first_answers_that_all_name_no_letter_end_a_run_with_what_the_model_said() -> None:
    said = letter("token_id:33", **{"token_id:33": 0.9})
    async with learner_of(said, template=shipped("learner", LETTERED)) as (learner, stub, _):
        with pytest.raises(EndpointRefused, match=r"no letter of a label .*it said 'token_id:33'.*first \d+ calls"):
            await together(learner.predict(f"{RULE} {n}", PARITY.train) for n in range(60))
        assert 100 <= len(stub.requests) <= 180


async def test_several_answers_have_seeds_of_their_own_and_are_pooled() -> None:
    async def by_seed(request: Request) -> Reply:
        return chat({36: "Output: 1", 37: "Output: 0", 38: "Output: 1"}.get(request.body["seed"], "I cannot say"))

    noted: list[Noted] = []
    options = {"samples": 4, "temperature": 0.8}
    async with learner_of(by_seed, noted=noted, **options) as (learner, stub, count):
        (prediction,) = await learner.predict(RULE, PARITY.train[:1])
        assert (prediction.value, prediction.shares) == ("1", {"0": 0.25, "1": 0.5})
        assert sorted(body["seed"] for body in stub.bodies) == [36, 37, 38, 39, 40, 41], "seed 9 of 4 answers"
        assert noted[0][2] == count.snapshot().learner == 6  # the unreadable answer was asked for three times


def test_the_first_answer_with_the_label_gives_the_reason() -> None:
    said = [("b", 1, "second"), (None, 3, ""), ("a", 2, "first"), ("b", 1, "third")]
    prediction, calls = pooled([(Prediction(row=7, value=value, explanation=why), n) for value, n, why in said])
    assert (prediction.value, prediction.explanation, calls) == ("b", "second", 7)
    silent, _ = pooled([(Prediction(row=7, value=None, raw="?", reason="none"), 3)] * 2)
    assert (silent.value, silent.shares, silent.reason) == (None, None, "none")


def prepare(dataset=PARITY, template: str | None = None, **options) -> RunSpec:
    config = Config(**{"batch_size": 2, "likelihood": "logprobs", **options})
    spec = RunSpec(name="", config=config, endpoint=DEMO, templates={"learner": template})
    return Preparation(dataset=dataset, spec=spec).spec


OWN = "Rule: {rule}\n{input}\n"


@pytest.mark.parametrize(
    ("fault", "options"),
    [
        ("exclude each other", {"learner_samples": 2}),
        ("put {answer_form_letter} in the learner template", {"template": OWN + "{answer_form}"}),
        ("add --likelihood logprobs", {"template": OWN + "{answer_form_letter}", "likelihood": "labels"}),
        (
            "read for 20 labels at most, and even has 21",
            {"dataset": replace(PARITY, classes=tuple(f"{i:02}" for i in range(21)))},
        ),
    ],
)
def test_options_that_cannot_be_combined_are_refused_in_one_line(fault: str, options: dict) -> None:
    with pytest.raises(InputError) as refusal:
        prepare(**options)
    assert fault in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_template_of_ones_own_may_ask_for_letters_and_numbers_keep_their_errors() -> None:
    own = Template(OWN + "{answer_form_letter}", role="learner")
    assert prepare(template=own.text).templates == {"learner": own.text}
    numbers = prepare(dataset=LINE).config
    assert (numbers.likelihood, numbers.learner_samples) == ("labels", 1)
