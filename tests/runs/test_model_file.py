"""A model file as an endpoint: what a run records of it, and what is refused before it starts."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llama import StandIn, model_file
from tests.processes import PENGUINS, TARGET, Desk, Running, posterior, resumed_steps, wait_until
from vpp.cli import main
from vpp.environment import Environment
from vpp.errors import InputError
from vpp.findings.progress import phase
from vpp.findings.status import model_file_words
from vpp.library.posterior import _endpoint
from vpp.runs.directory import Heartbeat
from vpp.runs.process import TIMEOUT_S, endpoint_for
from vpp.runs.spec import EndpointSpec, Keys, keys_for


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with xllamacpp."""
    monkeypatch.setitem(sys.modules, "xllamacpp", pytest)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    for name in ("VPP_SHARED", "VPP_CACHE_DIR", "VPP_ALLOW_MODEL_FILES", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_run_records_the_files_whole_path_and_how_it_is_served(tmp_path: Path) -> None:
    model_file(tmp_path, "small.gguf")
    found = endpoint_for("small.gguf", EndpointSpec(timeout_s=5, learner_max_tokens=9), may_use=True)
    assert found == EndpointSpec(
        gguf=str(tmp_path / "small.gguf"),
        model="small",
        concurrency=4,
        context_length=4096,
        timeout_s=5,
        learner_max_tokens=9,
    )
    assert model_file_words(found) == (
        "small: 0.0 GB. llama.cpp serves it on this machine: 4 calls at a time, 4,096 tokens of prompt and answer each."
    )


def test_a_file_called_demo_is_not_the_demo_model(tmp_path: Path) -> None:
    found = endpoint_for(str(model_file(tmp_path, "demo.gguf")), EndpointSpec(), may_use=True)
    assert not found.is_demo
    assert found.is_started_here


def test_every_other_file_gets_the_same_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("secret")
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    names = ["text", "empty", "pipe", "circle", "missing", ".", "text/below", "a\0b", "\udcff", "x" * 5000]
    lines = []
    for name in names:
        with pytest.raises(InputError) as refused:
            endpoint_for(f"{tmp_path}/{name}", EndpointSpec(), may_use=True)
        lines.append(str(refused.value).partition(" is no GGUF file")[2])
    assert set(lines) == {" that can be read: give the path of a model file (.gguf)"}


def test_python_takes_a_file_as_endpoint(tmp_path: Path) -> None:
    path = model_file(tmp_path, "small.gguf")
    found = _endpoint(f"file:{path}")
    assert (found.gguf, found.concurrency, found.timeout_s) == (str(path), 4, TIMEOUT_S)
    assert _endpoint(EndpointSpec(gguf=str(path))).model == "small"


def test_a_missing_library_is_one_line_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert main(["check-endpoint", "--gguf", str(model_file(tmp_path))]) == 2
    assert capsys.readouterr().err == (
        "vpp: a model file needs xllamacpp, which is not installed: pip install -r requirements-local.txt\n"
    )


SHARED = ({"VPP_SHARED": "1"}, {"VPP_ALLOWED_ENDPOINTS": "https://llm.lab.org"}, {"VPP_LOGIN": "1"})


@pytest.mark.parametrize("shared", SHARED)
def test_model_files_are_off_where_others_reach_the_app(shared: dict[str, str]) -> None:
    assert not Keys.read(shared).model_files
    assert Keys.read({**shared, "VPP_ALLOW_MODEL_FILES": "1"}).model_files
    with pytest.raises(InputError, match="VPP_ALLOW_MODEL_FILES=1"):
        endpoint_for("any.gguf", EndpointSpec(), may_use=False)


def test_a_model_file_gets_nobodys_key() -> None:
    own = Keys(learner="sk-owner", optimizer="sk-2", model_files=True)
    keys = keys_for(EndpointSpec(gguf="m.gguf"), typed={}, own=own, environment=Environment.of({}))
    assert (keys.learner, keys.optimizer, keys.model_files) == (None, None, True)


# A model file that a run serves itself


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
    assert "Loading the model: 0\u00a0s" in said.err
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
    readable = ("--gguf", str(model), "--templates", "paper")
    assert desk.run("whole", *readable).finish(within_s=WITHIN_S).code == 0
    killed = desk.run("killed", *readable)
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
