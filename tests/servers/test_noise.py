"""A model that answers noise, in vLLM and in transformers serve, which answers 422 to a field that it does not know."""

import pytest

from tests.processes import Desk
from tests.servers.served import Served, ask, finished_view, grades, outcome_of, votes
from vpp.errors import EndpointRefused


@pytest.fixture(scope="module", params=["vllm", "transformers"])
def server(request: pytest.FixtureRequest) -> Served:
    found: Served = request.getfixturevalue(request.param)
    return found


def test_a_whole_run_of_noise_ends_in_order(server: Served, desk: Desk) -> None:
    free_text = ("--structured", "off") if server.model == "tiny" else ()
    view = finished_view(desk, "noise", *server.options, *free_text)
    assert view.usage.unparsable > 0.9 * view.usage.calls
    assert view.usage.failed == 0
    assert votes(view).count(None) > 0.9 * len(votes(view))


def test_a_run_of_an_unknown_model_ends_with_3_and_names_it(server: Served, desk: Desk) -> None:
    outcome = outcome_of(desk, "unknown", "--base-url", server.base_url, "--model", "nobody/nothing")
    assert outcome.code == 3
    assert "nobody/nothing" in outcome.complaint


def test_check_endpoint_of_transformers_says_what_is_true(transformers: Served, desk: Desk) -> None:
    outcome = desk.start("check-endpoint", *transformers.options).finish(within_s=300)
    assert outcome.code == 0, outcome.out
    assert "works  answers" in outcome.out
    assert "response_format is" in outcome.out
    assert ask(transformers, "Tell a story.", max_tokens=1).completion_tokens <= 1


def test_a_run_with_structured_answers_gets_them(vllm: Served, desk: Desk) -> None:
    """Noise fills the explanation up to the limit of tokens: answers are cut, but begin as the schema has them."""
    view = finished_view(desk, "structured", *vllm.options, "--reading", "rows")
    assert desk.directory("structured").spec().structured_as == "json_schema"
    assert view.usage.learner > 0
    assert "not as structured" not in view.usage.faults


def test_a_run_on_log_probabilities_of_noise_abstains_in_order(vllm: Served, desk: Desk) -> None:
    assert grades(desk, *vllm.options) == [], "no letter is among the likeliest tokens"


def test_check_endpoint_names_the_context_and_the_models_there_are(vllm: Served, desk: Desk) -> None:
    outcome = desk.start("check-endpoint", *vllm.options).finish(within_s=300)
    assert all(words in outcome.out for words in ("tiny", "2,048", "honoured"))
    outcome = desk.start("check-endpoint", "--base-url", vllm.base_url, "--model", "nobody").finish(within_s=300)
    assert outcome.code == 3
    assert "tiny" in outcome.out


def test_the_same_seed_gives_the_same_answer(vllm: Served) -> None:
    texts = [ask(vllm, "Tell a story.", seed=seed, temperature=1.0).text for seed in (5, 5, 6)]
    assert texts[0] == texts[1] != texts[2]


def test_a_prompt_beyond_the_context_is_refused_in_one_line(vllm: Served) -> None:
    with pytest.raises(EndpointRefused, match=r"context|token") as refused:
        ask(vllm, "word and " * 3000)
    assert "\n" not in str(refused.value)


def test_a_run_outlives_a_full_queue(crowded_vllm: Served, desk: Desk) -> None:
    """The queue does not end it: that a hundred answers of noise cannot be read does."""
    rows = ("--reading", "rows", "--batch-size", "60", "--train-size", "120")
    outcome = outcome_of(desk, "crowded", *crowded_vllm.options, *rows)
    assert "none of the first 100 calls got an answer to use" in outcome.complaint
    view = desk.look("crowded").view
    assert "503 Service Unavailable" in crowded_vllm.log.read_text()
    assert sum(view.usage.faults.values()) > 0
    assert view.usage.prompt_tokens > 10_000
    assert view.usage.failed == 0
