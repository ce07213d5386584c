"""Runs on a model file, with a stand-in for llama.cpp: one server for all, gone after the last, whatever happens."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gguf.built import StandIn, model_file
from tests.processes import PENGUINS, TARGET, Desk, Running, posterior, resumed_steps, wait_until
from vpp import files
from vpp.gguf.folder import ServerFolder
from vpp.wording.progress import headline, phase

WITHIN_S = 120.0


@pytest.fixture
def stand_in(desk: Desk) -> Iterator[StandIn]:
    library = StandIn(desk.folder / "stand-in")
    desk.environment["PYTHONPATH"] = f"{library.folder}{os.pathsep}{desk.variables['PYTHONPATH']}"
    yield library
    for pid in filter(is_alive, library.loads):
        os.kill(pid, signal.SIGKILL)


def run(desk: Desk, name: str, model: Path, *words: str) -> Running:
    return desk.run(name, "--gguf", str(model), *words)


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


def is_loading(desk: Desk, name: str, worker: Running) -> bool:
    """True if this worker reports that the model loads."""
    beat = desk.directory(name).last_beat()
    return beat is not None and beat.pid == worker.process.pid and beat.loading_s is not None


def test_a_run_starts_a_server_without_your_key_and_the_server_ends_after_it(desk: Desk, stand_in: StandIn) -> None:
    desk.environment["OPENAI_API_KEY"] = "sk-yours"
    model = model_file(desk.folder)
    said = small_run(desk, "one", model).finish(within_s=WITHIN_S)
    assert said.code == 0
    words = "demo: 0 million parameters (llama), 0.0 GB. llama.cpp serves it on this machine: "
    assert said.err.count(words) == 1
    assert "loading the model: 0\u00a0s" in said.err
    endpoint = desk.look("one").spec.endpoint
    assert (endpoint.gguf, endpoint.model, endpoint.context_length) == (str(model), "demo", 4096)
    assert endpoint.slots == endpoint.concurrency > 1
    assert "OPENAI_API_KEY" not in (stand_in.folder / "environment").read_text().split("\n")
    key = (stand_in.folder / "key").read_text()
    assert len(key) == 48
    below = [desk.folder / "cache", *(desk.folder / "cache").rglob("*")]
    assert [path for path in below if path.is_dir() and path.stat().st_mode & 0o077] == []
    kept = [path for path in desk.folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert {path.name for path in kept} <= {"key", "listening.json"}
    [pid] = stand_in.loads
    wait_until(lambda: not is_alive(pid), "the server is gone")


def test_two_runs_share_one_server(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder)
    stand_in.hold()
    first, second = run(desk, "one", model), run(desk, "two", model, "--seed", "1")
    wait_until(lambda: is_loading(desk, "one", first) and is_loading(desk, "two", second), "both wait")
    stand_in.go_on()
    assert [each.finish(within_s=WITHIN_S).code for each in (first, second)] == [0, 0]
    assert len(stand_in.loads) == 1


def test_a_killed_worker_resumes_to_the_same_posterior(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder)
    assert run(desk, "whole", model).finish(within_s=WITHIN_S).code == 0
    killed = run(desk, "killed", model)
    wait_until(lambda: desk.state("killed") and desk.look("killed").view.last_step is not None, "a step is whole")
    killed.kill()
    assert desk.resume("killed").finish(within_s=WITHIN_S).code == 0
    assert resumed_steps(desk.directory("killed"))
    again, whole = posterior(desk.directory("killed")), posterior(desk.directory("whole"))
    assert again == whole


def test_a_killed_server_is_started_again(desk: Desk, stand_in: StandIn) -> None:
    """Its state is left behind: the next run must not take it for a living one."""
    model = model_file(desk.folder)
    slots = len(os.sched_getaffinity(0)) * 4
    place = ServerFolder.of(desk.folder / "cache" / "model-servers", model, slots=min(8, slots), context=4096)
    using = files.locked(place.users, shared=True)
    assert using is not None
    with using:
        assert run(desk, "one", model).finish(within_s=WITHIN_S).code == 0
        os.kill(stand_in.loads[0], signal.SIGKILL)
        wait_until(lambda: not is_alive(stand_in.loads[0]), "the server is gone")
        assert place.listening() is not None
    assert run(desk, "two", model).finish(within_s=WITHIN_S).code == 0
    assert len(stand_in.loads) == 2


def test_a_server_whose_starter_was_killed_is_taken_over(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder)
    stand_in.hold()
    first = run(desk, "one", model)
    wait_until(lambda: stand_in.loads, "the server loads")
    first.kill()
    second = desk.resume("one")
    wait_until(lambda: is_loading(desk, "one", second), "the resumed run waits")
    stand_in.go_on()
    assert second.finish(within_s=WITHIN_S).code == 0
    assert len(stand_in.loads) == 1


def test_loading_is_shown_and_a_stop_ends_it(desk: Desk, stand_in: StandIn) -> None:
    model = model_file(desk.folder)
    stand_in.hold()
    started = desk.start("run", *("iris.csv", "--target", "kind"), "--gguf", model, "--run-dir", desk.folder / "held")
    assert started.finish().code == 2  # there is no such table, and no server was started for it
    assert stand_in.loads == []
    held = run(desk, "held", model)
    wait_until(lambda: desk.state("held") == "queued" and desk.look("held").loading_s is not None, "it loads")
    snapshot = desk.look("held")
    assert phase(snapshot).startswith("Loading the model: ")
    assert headline(snapshot) == "The worker is loading the model file. Large files take minutes."
    wait_until(lambda: stand_in.loads, "the server loads")
    assert desk.vpp("stop", desk.folder / "held").code == 0
    assert held.finish(within_s=WITHIN_S).code == 130
    wait_until(lambda: not is_alive(stand_in.loads[0]), "the server is gone")


def test_a_model_that_cannot_be_loaded_ends_the_run_with_its_reason(desk: Desk, stand_in: StandIn) -> None:
    outcome = run(desk, "one", model_file(desk.folder, content=b"refused")).finish(within_s=WITHIN_S)
    assert outcome.code == 3
    assert outcome.complaint == (
        "llama.cpp cannot load demo.gguf (tensor 'blk.2' is corrupted): download it again, or take another model file"
    )


def test_cached_answers_follow_the_files_content(desk: Desk, stand_in: StandIn) -> None:
    one, moved = model_file(desk.folder), model_file(desk.folder / "elsewhere")
    other = model_file(desk.folder / "finer", content=b"finer")
    counts = []
    for name, model in (("one", one), ("moved", moved), ("other", other)):
        assert small_run(desk, name, model, "--json", "--quiet").finish(within_s=WITHIN_S).code == 0
        usage = desk.look(name).view.usage
        counts.append(usage.calls - usage.cached)
    assert counts[1] == 0
    assert counts[2] == counts[0] > 0
