"""What the plan says of tokens, time and money: by hand on small cases, and against what a run really sent."""

from dataclasses import replace
from typing import Any

import pytest

from tests.processes import Desk, Model
from tests.reporting.builders import dataset as small
from tests.reporting.builders import drawn, finished, started
from tests.runs.conftest import penguins
from vpp.data.dataset import Dataset
from vpp.data.split import SplitPlan
from vpp.events import Usage
from vpp.findings.cost import cost
from vpp.inference.plan import plan, step_items
from vpp.llm.limits import NO_CAP, Cap, Price
from vpp.runs.budget import (
    BYTES_A_TOKEN,
    HYPOTHESIS,
    LEARNER_ANSWER,
    Pace,
    call_sizes,
    cap_words,
    ending_share,
    estimate,
    money,
    seconds_left,
    time_s,
)
from vpp.runs.directory import Record
from vpp.runs.preparation import optimizer_prompts, program_prompts
from vpp.runs.spec import NO_PRICES, EndpointSpec, Prices, RunSpec
from vpp.runs.view import RunView
from vpp.settings import Config
from vpp.show.markup import lines

DATA = small(["yes", "no", "yes", "no"], ["yes", "no"])
CONFIG = Config(
    method="smc", reading="rows", particles=2, batch_size=2, epochs=1, buffer_size=4, mutate="every",
    final_weights="paper",
)  # fmt: skip
PROGRAMS = Config(method="smc", particles=2, batch_size=2, epochs=1, certify=3)


def spec(config: Config = CONFIG, *, data: Dataset = DATA, prices: Prices = NO_PRICES, cap: Cap = NO_CAP) -> RunSpec:
    rows: dict[str, Any] = {"n_train": len(data.train), "n_test": len(data.test)}
    return RunSpec(name="", config=config, endpoint=EndpointSpec(demo=True), dataset=rows, prices=prices, cap=cap)


def test_the_fewest_and_the_most_calls_of_a_small_run() -> None:
    """T = 2: first batch 2 and 2 drawn; 2 and 4 rows by 2 particles; 2 proposals a step; 2 x (2 + 4) rows."""
    whole = plan(CONFIG, n_train=4, n_test=2)
    assert whole.calls == (2 + 2) + 2 * (2 + 4) + 2 * 2 + 2 * (2 + 4)
    assert (whole.least_learner_calls, whole.optimizer_calls) == (4 + 2, 2 + 2 * 2)
    assert [sum(step_items(CONFIG, step, n_train=4).values()) for step in (0, 1)] == [4 + 2, 8 + 2]


def test_programs_cost_a_call_a_text_and_are_sized_by_their_own_prompt() -> None:
    """T = 2: 2 drawn; 2 + 2 x 2 texts; 2 proposals a step; 2 texts on 3 rows for certificates."""
    made = estimate(spec(PROGRAMS), DATA)
    assert made.plan.calls == 2 + (2 + 2 * 2) + 2 * 2 + 2 * 3
    assert [sum(step_items(PROGRAMS, step, n_train=4).values()) for step in (0, 1)] == [4 + 2, 2 + 2]
    assert made.plan.least_calls == 1 + (2 + 2 * 2)
    (line,) = (line for line in made.lines if line.what.startswith("Programs"))
    assert (line.calls, line.most_calls) == (6 * made.plan.expected_share, 6)
    text = f"{optimizer_prompts(spec(), DATA).seed_text} {HYPOTHESIS}"
    size = sum(len(message["content"].encode()) for message in program_prompts(spec(PROGRAMS), DATA).translation(text))
    assert call_sizes(spec(PROGRAMS), DATA)["program"] == (size / BYTES_A_TOKEN, LEARNER_ANSWER)
    assert "each hypothesis that cannot be a program costs up to 6 calls instead." in words(PROGRAMS)
    assert "program" not in words(CONFIG)
    assert ["Rows read" in words(replace(PROGRAMS, certify=n)) for n in (3, 0)] == [True, False]
    with_texts = replace(DATA, columns=(replace(DATA.columns[0], kind="text"), DATA.columns[1]))
    assert words(PROGRAMS, with_texts).count("about texts") == 1


def words(config: Config, data: Dataset = DATA) -> str:
    """Return the cost as a terminal shows it."""
    return "\n".join(lines(cost(estimate(spec(config), data), spec(config), data)))


def test_time_is_that_of_the_start_the_rounds_and_the_calls() -> None:
    whole = plan(CONFIG, n_train=4, n_test=2)
    assert time_s(whole, Pace(round_trip_s=0.5)) == whole.rounds * 0.5
    assert time_s(whole, Pace(round_trip_s=0.5, calls_per_s=2)) == whole.rounds * 0.5 + whole.expected_calls / 2
    assert time_s(whole, Pace(round_trip_s=0.0, start_s=3.0)) == 3.0


def test_the_demo_models_time_follows_from_its_delay_and_another_servers_from_its_measured_pace() -> None:
    fast, slow = (
        estimate(replace(spec(), endpoint=EndpointSpec(demo=True, demo_latency_ms=ms)), DATA) for ms in (0, 900)
    )
    assert fast.seconds is not None
    assert slow.seconds == pytest.approx(fast.seconds + 0.9 * fast.plan.rounds)
    other, pace = replace(spec(), endpoint=EndpointSpec(base_url="http://h/v1", model="m")), Pace(round_trip_s=0.5)
    assert estimate(other, DATA).seconds is None
    assert estimate(other, DATA, pace).seconds == time_s(fast.plan, pace)


def test_money_is_tokens_at_each_roles_price() -> None:
    """2 drawn and 2 x 2 proposed, each of 250 tokens."""
    found = estimate(spec(prices=Prices(learner=Price(), optimizer=Price(completion=2.0))), DATA)
    assert found.cost == pytest.approx(2 * 6 * 250 / 1e6)
    one = estimate(spec(prices=Prices(learner=Price(prompt=1.0))), DATA)
    assert one.cost == pytest.approx(sum(line.prompt for line in one.lines) / 1e6)
    assert estimate(spec(), DATA).cost is None


def test_an_amount_has_two_decimals_or_two_digits() -> None:
    assert [money(cost) for cost in (0.0, 0.0123, 0.5, 1234.5)] == ["0.00", "0.012", "0.50", "1,234.50"]
    assert cap_words(Cap(calls=4000, cost=2.5)) == "4,000 calls or a cost of 2.50"


def test_the_time_left_has_the_calls_of_the_end_and_none_once_these_are_made() -> None:
    """6 calls in 5 s, then 8; the one text of the end is asked about 8 + 2 rows."""
    data = small(["yes", "no"] * 4, ["yes", "no"])
    view, made = RunView(), spec(CONFIG, data=data)
    texts = ("one rule", "one rule")
    events = [started(CONFIG, data, steps=3), *drawn(*texts), *(finished(step, texts) for step in range(3))]
    left = []
    for event, calls, at in zip(events, (0, 0, 0, 0, 4, 10, 18), (0, 0, 0, 0, 2, 7, 12), strict=True):
        view.apply(Record(at=at, usage=Usage(learner=calls), event=event))
        left.append(seconds_left(made, view, view.usage))
    assert left == [None] * 5 + [pytest.approx(5 + 10 * 5 / 6), pytest.approx(10 * 10 / 14)]
    assert seconds_left(made, view, Usage(learner=18 + 4)) == pytest.approx(6 * 10 / 14)
    assert seconds_left(made, view, Usage(learner=18 + 10)) is None
    assert ending_share(made, view, Usage(learner=18 + 4)) == pytest.approx(0.4)


def test_the_pace_is_that_of_the_last_five_steps() -> None:
    """Five steps of 1 s take 5 s, and 10 s with one of 6 s among them."""

    def left(slow: int) -> float:
        view, at = RunView(), 0.0
        view.apply(Record(at=0, usage=Usage(), event=started(CONFIG, DATA, steps=8)))
        for step in range(7):
            at += 6 if step == slow else 1
            view.apply(Record(at=at, usage=Usage(learner=10 + 10 * step), event=finished(step, ("a", "b"))))
        return seconds_left(spec(), view, view.usage) or 0.0

    assert left(1) == pytest.approx(left(2) / 2) == pytest.approx(left(6) / 2)


@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_a_run_sends_no_more_than_was_estimated(desk: Desk, served: Model, method: Any) -> None:
    assert desk.run("run", "--method", method, "--structured", "off", *served.options).finish().code == 0
    split = SplitPlan(train_size=30, test_size=10)
    prepared = penguins(split=split, method=method, reading="rows", particles=3, epochs=1)
    expected = estimate(prepared.spec, prepared.dataset)
    assert expected.plan.least_calls <= len(served.bodies) <= expected.plan.calls
    sent = sum(len(message["content"]) for body in served.bodies for message in body["messages"])
    assert sum(line.prompt for line in expected.lines) * BYTES_A_TOKEN == pytest.approx(sent, rel=0.5)
