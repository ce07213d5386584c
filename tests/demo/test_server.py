"""The server over real HTTP: the protocol, its options, purity over fresh processes, and how it ends."""

import http.client
import json
import random
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.demo.asking import BINARY, REGRESSION, ROOT, body, learner_prompt, optimizer_prompt, serving
from vpp.demo import VERSION
from vpp.demo.server import FILES, Options

ROW = "a: 3\nb: 4\nc: 0\nd: 7"
EVEN = f"{BINARY} Output 1 if the sum of the integers is even, and 0 otherwise."


def learner(hypothesis: str = EVEN, row: str = ROW) -> dict[str, Any]:
    return body(learner_prompt(hypothesis, row, ("0", "1")))


def optimizer(seed: int, temperature: float = 1.0) -> dict[str, Any]:
    rows = [f"a: {at % 10}\nb: {at * 7 % 10}\nc: {at * 3 % 10}\nd: 5" for at in range(10)]
    targets = ["0", "1", "1", "0", "1", "0", "0", "1", "0", "1"]
    return body(optimizer_prompt(BINARY, rows, ["0"] * 10, targets, ("0", "1")), temperature=temperature, seed=seed)


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


def test_it_takes_the_connections_of_a_large_run_where_the_limit_it_comes_with_is_low() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    serve = [sys.executable, "-m", "vpp.demo", "--port", "0", "--exit-with-parent"]
    command = ["sh", "-c", 'ulimit -Sn 256; exec "$@"', "sh", *serve]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        soft, _ = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        process.communicate()
    assert soft == (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard))


def test_it_prints_its_base_url_and_lists_its_one_model(server) -> None:
    assert server.address.startswith("http://127.0.0.1:")
    assert server.address.endswith("/v1")
    status, answer, _ = server.request("GET", "/v1/models")
    assert status == 200
    [model] = answer["data"]
    assert (model["id"], model["max_model_len"], model["version"]) == ("demo", 32768, VERSION)
    assert server.request("GET", "/health")[0] == 200


def test_a_completion_has_the_protocols_shape(server) -> None:
    status, answer, headers = server.chat(learner())
    assert status == 200
    assert headers["content-type"] == "application/json"
    [choice] = answer["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"] == {
        "role": "assistant",
        "content": "Explanation: The sum 3 + 4 + 0 + 7 is 14, which is even, so the rule gives 1.\nOutput: 1",
    }
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 50


def test_an_answer_is_cut_at_max_tokens(server) -> None:
    _, answer, _ = server.chat(learner() | {"max_tokens": 4})
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["choices"][0]["message"]["content"] == "Explanation: The sum"


def test_a_second_asking_gets_the_same_answer(server) -> None:
    first = learner()
    again = dict(first)
    again["messages"] = [
        *first["messages"],
        {"role": "assistant", "content": "hm"},
        {"role": "user", "content": "There was no Output: line. Answer in exactly the asked form."},
    ]
    assert server.say(again) == server.say(first)


@pytest.mark.parametrize(
    ("payload", "status", "param"),
    [
        (b"{", 400, None),
        (b"[]", 400, None),
        (b"\xff\xfe", 400, None),
        ({"model": "gpt-9", "messages": []}, 404, "model"),
        ({}, 404, "model"),
        ({"model": "demo"}, 400, "messages"),
        ({"model": "demo", "messages": [{"role": "system", "content": "x"}]}, 400, "messages"),
        ({"model": "demo", "messages": [{"role": "user", "content": 3}]}, 400, "messages"),
        ({"model": "demo", "messages": "hello"}, 400, "messages"),
        (learner() | {"stream": True}, 400, "stream"),
        (learner() | {"temperature": "hot"}, 400, "temperature"),
        (learner() | {"max_tokens": 0}, 400, "max_tokens"),
        (learner() | {"seed": [1]}, 400, "seed"),
        (b"[" * 100_000, 400, None),
        (b"x" * 5_000_000, 413, None),
    ],
)
def test_faulty_requests_get_an_error_in_the_protocols_shape(server, payload, status: int, param: str | None) -> None:
    given, answer, _ = server.chat(payload)
    assert given == status
    assert set(answer["error"]) == {"message", "type", "param", "code"}
    assert answer["error"]["param"] == param


def test_unknown_paths_and_methods(server) -> None:
    assert server.request("GET", "/v1/nothing")[0] == 404
    assert server.request("GET", "/v1/chat/completions")[0] == 405


@pytest.mark.parametrize("content", ["", "hello", "Rule:\n", "Input:\n<<<\n", ">>>\n<<<\n" * 500, "\x00\ud83d"])
def test_a_message_that_asks_nothing_gets_an_honest_answer(server, content: str) -> None:
    assert "Output: " in server.say(body(content))


def test_answers_are_the_same_in_fresh_processes_and_in_any_order() -> None:
    requests = [optimizer(seed) for seed in range(3)]
    requests += [learner(row=f"a: {at}\nb: 1\nc: 2\nd: 3") for at in range(3)]
    requests.append(body(learner_prompt(f"{REGRESSION} y = 2x", "x: 3")))
    answers: list[dict[int, str]] = []
    for shuffle in range(2):
        order = list(range(len(requests)))
        random.Random(shuffle).shuffle(order)
        answers.append({})
        for at in order if shuffle else order[:3]:
            with serving() as fresh:
                answers[-1][at] = fresh.say(requests[at])
    with serving() as one:
        together = {at: one.say(request) for at, request in enumerate(requests)}
    assert all(together[at] == said for part in answers for at, said in part.items())


def timed(server, requests: list[dict[str, Any]]) -> tuple[float, list[float]]:
    """Seconds for all, sent at once, and for each."""

    def one(request: dict[str, Any]) -> float:
        started = time.perf_counter()
        server.say(request)
        return time.perf_counter() - started

    with ThreadPoolExecutor(len(requests)) as pool:
        started = time.perf_counter()
        each = list(pool.map(one, requests))
        return time.perf_counter() - started, each


def test_every_answer_waits_for_the_latency_and_calls_wait_side_by_side() -> None:
    with serving("--latency-ms", "300") as slow:
        together, each = timed(slow, [*[learner()] * 7, optimizer(0)])
        assert min(each) >= 0.3
        assert together < 1.5


def test_answers_on_a_kept_connection_do_not_wait_for_acknowledgements(server) -> None:
    host, port = server.address.removeprefix("http://").removesuffix("/v1").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    payload, waits = json.dumps(learner()).encode(), []
    for _ in range(50):
        started = time.perf_counter()
        connection.request("POST", "/v1/chat/completions", payload)
        assert connection.getresponse().read()
        waits.append(time.perf_counter() - started)
    connection.close()
    assert sorted(waits)[12] < 0.03  # an acknowledgement's 40 ms would be on most; a busy machine delays some


def test_capacity_makes_the_rest_wait() -> None:
    with serving("--latency-ms", "150", "--capacity", "2") as narrow:
        together, _ = timed(narrow, [learner()] * 6)
        assert 0.45 <= together < 2


def test_jitter_spreads_the_latency() -> None:
    with serving("--latency-ms", "200", "--jitter", "1") as uneven:
        _, each = timed(uneven, [learner()] * 12)
        assert max(each) - min(each) > 0.05


def test_fail_rate_fails_that_share() -> None:
    with serving("--fail-rate", "0.5") as failing:
        answers = [failing.chat(learner()) for _ in range(80)]
    statuses = {status for status, _, _ in answers}
    failed = [answer for status, answer, _ in answers if status != 200]
    assert statuses == {200, 429, 500, 503}
    assert 15 < len(failed) < 65  # outside with odds below one in ten million
    assert all(set(answer["error"]) == {"message", "type", "param", "code"} for answer in failed)
    assert all("retry-after" in headers for status, _, headers in answers if status == 429)


def test_garble_rate_garbles_answers() -> None:
    with serving("--garble-rate", "1") as garbling:
        assert all("Output: 1" not in garbling.say(learner()) for _ in range(10))


def test_what_is_garbled_is_decided_by_the_request_alone() -> None:
    with serving("--garble-rate", "0.5") as one, serving("--garble-rate", "0.5") as another:
        questions = [{**learner(), "seed": seed} for seed in range(12)]
        said = [one.say(question) for question in questions]
        assert said == [another.say(question) for question in reversed(questions)][::-1]
        assert 0 < sum("Output: 1" in text for text in said) < len(said)


def test_it_ends_when_its_standard_input_closes() -> None:
    with serving() as running:
        assert running.process.poll() is None


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
    deadline = time.monotonic() + 10
    while reachable(port) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not reachable(port)


def reachable(port: int) -> bool:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    "wrong",
    [{"jitter": 2}, {"fail_rate": -0.1}, {"garble_rate": 1.1}, {"latency_ms": -1}, {"capacity": -1}, {"port": 99999}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]
