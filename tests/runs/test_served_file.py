"""Runs on a model file, with a stand-in for llama.cpp: each has a server, which is gone after it, whatever happens."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llama import StandIn, model_file
from tests.processes import PENGUINS, TARGET, Desk, Running, posterior, resumed_steps, wait_until
from vpp.findings.progress import phase
from vpp.runs.directory import Heartbeat

WITHIN_S = 120.0


@pytest.fixture
def stand_in(desk: Desk) -> Iterator[StandIn]:
    library = StandIn(desk.folder / "stand-in")
    desk.environment["PYTHONPATH"] = f"{library.folder}{os.pathsep}{desk.variables['PYTHONPATH']}"
    yield library
    for pid in filter(is_alive, (load[0] for load in library.loads)):
        os.kill(pid, signal.SIGKILL)


def small_run(desk: Desk, name: str, model: Path, *words: str) -> Running:
    """Starts a run of two particles with the response cache."""
    size = ("--particles", "2", "--epochs", "1", "--train-size", "12", "--test-size", "4")
    return desk.start("run", PENGUINS, *TARGET, *size, "--run-dir", desk.folder / name, "--gguf", model, *words)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_run_starts_a_server_without_your_key_and_the_server_ends_with_it(desk: Desk, stand_in: StandIn) -> None:
    desk.environment["OPENAI_API_KEY"] = "sk-yours"
    model = model_file(desk.folder)
    said = small_run(desk, "one", model).finish(within_s=WITHIN_S)
    assert said.code == 0, said.err
    assert said.err.count("demo: 0.0 GB. llama.cpp serves it on this machine: 4 calls at a time") == 1
    assert "loading the model: 0\u00a0s" in said.err
    assert desk.look("one").spec.endpoint.gguf == str(model)
    assert "OPENAI_API_KEY" not in (stand_in.folder / "environment").read_text().split("\n")
    key = (stand_in.folder / "key").read_text()
    assert len(key) == 48
    kept = [path for path in desk.folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert [path.name for path in kept] == ["key"]
    [(pid, slots, tokens)] = stand_in.loads
    assert (slots, tokens) == (4, 4 * 4096)
    assert not is_alive(pid)


def test_the_server_of_a_killed_worker_ends_and_the_run_resumes_to_the_same_posterior(
    desk: Desk, stand_in: StandIn
) -> None:
    model = model_file(desk.folder)
    assert desk.run("whole", "--gguf", str(model)).finish(within_s=WITHIN_S).code == 0
    killed = desk.run("killed", "--gguf", str(model))
    wait_until(lambda: desk.state("killed") and desk.look("killed").view.last_step is not None, "a step is whole")
    killed.kill()
    wait_until(lambda: not is_alive(stand_in.loads[1][0]), "the server is gone")
    assert desk.resume("killed").finish(within_s=WITHIN_S).code == 0
    assert resumed_steps(desk.directory("killed"))
    assert posterior(desk.directory("killed")) == posterior(desk.directory("whole"))


def test_loading_is_shown_and_a_stop_or_a_kill_ends_it(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder)
    stand_in.hold()
    held = small_run(desk, "held", model)
    beat = desk.directory("held").last_beat
    wait_until(lambda: desk.state("held") == "queued" and (beat() or Heartbeat()).loading_s is not None, "it loads")
    snapshot = desk.look("held")
    assert phase(snapshot).startswith("Loading the model: ")
    wait_until(lambda: stand_in.loads, "the server loads")
    assert desk.vpp("stop", desk.folder / "held").code == 0
    assert held.finish(within_s=WITHIN_S).code == 130
    killed = small_run(desk, "killed", model)
    wait_until(lambda: len(stand_in.loads) == 2, "the next server loads")
    killed.kill()
    wait_until(lambda: not any(is_alive(load[0]) for load in stand_in.loads), "the servers are gone")


def test_a_model_that_cannot_be_loaded_ends_the_run_with_its_reason(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder, content=b"refused")
    outcome = small_run(desk, "one", model, "--json", "--quiet").finish(within_s=WITHIN_S)
    assert outcome.code == 3
    assert outcome.complaint == (
        "llama.cpp cannot load demo.gguf (tensor 'blk.2' is corrupted): take another file, or free memory"
    )
