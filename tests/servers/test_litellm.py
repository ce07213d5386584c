"""LiteLLM's proxy with mock answers: two models that answer well, one always busy, one with too short a context."""

import pytest

from tests.processes import Desk
from tests.servers.served import Served, finished_view, outcome_of, votes

RULES, ROWS = ("--optimizer-model", "rules"), ("--reading", "rows")


def test_a_run_on_two_models_reads_every_answer(litellm: Served, desk: Desk) -> None:
    view = finished_view(desk, "answered", *litellm.options, *RULES, *ROWS, **litellm.environment)
    assert view.usage.unparsable == 0
    assert set(votes(view)) == {"Adelie"}
    assert all(drawn.text.endswith("Every penguin is an Adelie.") for drawn in view.draws.values())
    check = desk.start("check-endpoint", *litellm.options, *RULES, **litellm.environment).finish(within_s=300)
    assert check.code == 0, check.out
    assert all(model in check.out for model in ("labels", "rules"))


@pytest.mark.parametrize(("model", "says"), [("busy", "429"), ("narrow", "ontext"), ("nobody", "nobody")])
def test_a_model_that_only_fails_ends_the_run_with_3_and_the_reason(
    litellm: Served, desk: Desk, model: str, says: str
) -> None:
    outcome = outcome_of(desk, model, "--base-url", litellm.base_url, "--model", model, **litellm.environment)
    assert outcome.code == 3
    assert says in outcome.complaint


def test_a_key_it_does_not_know_ends_the_run_with_3_and_is_not_repeated(litellm: Served, desk: Desk) -> None:
    outcome = outcome_of(desk, "refused", *litellm.options, *RULES, *ROWS, OPENAI_API_KEY="sk-not-this-one")
    assert outcome.code == 3
    assert "key refused" in outcome.complaint
    assert "not-this-one" not in outcome.err
