"""The server over real HTTP: the protocol, its options, purity over fresh processes, and how it ends."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.demo.asking import BINARY, ROOT, body, chat, learner_prompt, optimizer_prompt, prior_prompt
from tests.processes import demo_server, wait_until
from vpp.demo import VERSION

ROW = "a: 3\nb: 4\nc: 0\nd: 7"
EVEN = f"{BINARY} Output 1 if the sum of the integers is even, and 0 otherwise."


@contextmanager
def serving() -> Iterator[httpx2.Client]:
    """A client of a demo model of its own, which prints its address alone and ends with its standard input."""
    with demo_server() as (url, process):
        with httpx2.Client(base_url=url, timeout=20) as client:
            yield client
        assert process.communicate(timeout=60) == ("", None)
        assert process.returncode == 0


@pytest.fixture(scope="module")
def server() -> Iterator[httpx2.Client]:
    with serving() as client:
        yield client


def test_it_prints_its_base_url_and_lists_its_one_model(server) -> None:
    assert (server.base_url.scheme, server.base_url.host, server.base_url.path) == ("http", "127.0.0.1", "/v1/")
    [model] = server.get("/models").json()["data"]
    assert (model["id"], model["max_model_len"], model["version"]) == ("demo", 32768, VERSION)
    for path, expected in (("/nothing", 404), ("/chat/completions", 405)):
        assert server.get(path).status_code == expected, path


def test_a_completion_has_the_protocols_shape(server) -> None:
    answer = chat(server, body(learner_prompt(EVEN, ROW, ("0", "1")))).json()
    content = "Explanation: Here the sum of the numbers = 14, so the rule gives 1.\nOutput: 1"
    [choice] = answer["choices"]
    assert (choice["finish_reason"], choice["message"]) == ("stop", {"role": "assistant", "content": content})
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 50


@pytest.mark.parametrize(
    ("payload", "status", "param"),
    [
        (b"{", 400, None),
        (b"\xff\xfe", 400, None),
        ({"model": "gpt-9", "messages": []}, 404, "model"),
        ({"model": "demo", "messages": []}, 400, "messages"),
        ({"model": "demo", "messages": [{"role": "user", "content": 3}]}, 400, "messages"),
        (body("Hi") | {"stream": True}, 400, "stream"),
        (body("Hi") | {"temperature": "hot"}, 400, "temperature"),
        (body("Hi") | {"max_tokens": 0}, 400, "max_tokens"),
        (body("Hi") | {"seed": [1]}, 400, "seed"),
        (b"[" * 100_000, 400, None),
    ],
)
def test_faulty_requests_get_an_error_in_the_protocols_shape(server, payload, status: int, param: str | None) -> None:
    answer = chat(server, payload)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.json()["error"]["param"] == param


def test_answers_are_the_same_in_fresh_processes_and_in_any_order() -> None:
    rows = [f"a: {at % 10}\nb: {at * 7 % 10}\nc: {at * 3 % 10}\nd: 5" for at in range(10)]
    batch = optimizer_prompt(BINARY, rows, ["0"] * 10, list("0110100101"), ("0", "1"))
    requests = [body(batch, temperature=1.0, seed=seed) for seed in range(3)]
    requests += [body(learner_prompt(EVEN, row, ("0", "1"))) for row in rows[:3]]
    requests += [body(prior_prompt(BINARY, [("a", "number")], ("0", "1")))]
    with serving() as one, serving() as another:
        answers = [chat(one, request).raise_for_status().json() for request in requests]
        assert answers == [chat(another, request).json() for request in reversed(requests)][::-1]


def test_it_ends_when_whoever_started_it_is_killed() -> None:
    starter = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-m', 'vpp.demo', '--port', '0', '--exit-with-parent'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n"
        "print(p.stdout.readline().strip(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", starter], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline().strip().removesuffix("/v1").rpartition(":")[2])
        assert reachable(port)
        parent.kill()
    wait_until(lambda: not reachable(port), "the server ends")


def reachable(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
