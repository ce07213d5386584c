"""transformers serve, which answers 422 to a field that it does not know, with a model that answers noise."""

from tests.processes import Desk
from tests.servers.served import Served
from tests.servers.whole import ask, finished, settled


def test_a_whole_run_of_noise_ends_in_order(transformers: Served, desk: Desk) -> None:
    usage = finished(desk, "noise", *transformers.options).usage
    assert usage.unparsable > 0.9 * usage.calls
    assert usage.failed == 0


def test_check_endpoint_says_what_is_true(transformers: Served, desk: Desk) -> None:
    outcome = desk.start("check-endpoint", *transformers.options).finish(within_s=300)
    assert outcome.code == 0, outcome.out
    assert "works  answers" in outcome.out
    assert "response_format is" in outcome.out


def test_a_run_of_an_unknown_model_ends_with_3_and_names_it(transformers: Served, desk: Desk) -> None:
    outcome = settled(desk, "unknown", "--base-url", transformers.base_url, "--model", "nobody/nothing")
    assert outcome.code == 3
    assert "nobody/nothing" in outcome.complaint


def test_an_answer_ends_at_its_limit_of_tokens(transformers: Served) -> None:
    assert ask(transformers, "Tell a story.", max_tokens=1).completion_tokens <= 1
