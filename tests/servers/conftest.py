"""Servers, one at a time, each for one module; a failure shows the server's log."""

from collections.abc import Iterator

import pytest

from tests.servers import served
from tests.servers.served import ENVIRONMENTS, Served, tail

LOGS = ENVIRONMENTS / "logs"


@pytest.fixture(scope="module")
def vllm() -> Iterator[Served]:
    with served.tiny_vllm("--max-num-seqs", "64", log=LOGS / "vllm.log") as found:
        yield found


@pytest.fixture(scope="module")
def crowded_vllm() -> Iterator[Served]:
    """Works on two requests at a time and lets eight wait."""
    with served.tiny_vllm("--max-num-seqs", "2", "--max-num-queued-reqs", "8", log=LOGS / "vllm-crowded.log") as found:
        yield found


@pytest.fixture(scope="module")
def transformers() -> Iterator[Served]:
    with served.transformers(log=LOGS / "transformers.log") as found:
        yield found


@pytest.fixture(scope="module")
def litellm() -> Iterator[Served]:
    answers = {
        "labels": "Explanation: told to say so.\nOutput: Adelie",
        "rules": "Reasoning: told to say so.\n\nNew rule:\nEvery penguin is an Adelie.",
        "busy": "litellm.RateLimitError",
        "narrow": "litellm.ContextWindowExceededError",
    }
    with served.litellm(answers, log=LOGS / "litellm.log") as found:
        yield found


@pytest.fixture(scope="module")
def mlflow() -> Iterator[Served]:
    with served.mlflow(log=LOGS / "mlflow.log") as found:
        yield found


@pytest.fixture(scope="module")
def llamacpp() -> Iterator[Served]:
    with served.llamacpp(log=LOGS / "llamacpp.log") as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    servers = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, Served)]
    if report.failed:
        report.sections.extend((f"log of the server: {each.log}", tail(each.log)) for each in servers)
    return report
