"""A model file as an endpoint: what a run records of it, and what is refused before it starts."""

import asyncio
import sys
from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest

from tests.gguf.built import MODEL, U32, gguf, model_file
from tests.processes import WITHIN_S
from vpp.cli import main
from vpp.environment import Environment
from vpp.errors import InputError
from vpp.gguf.folder import CHUNK_BYTES, Listening, ServerFolder, content_hash
from vpp.library.fitting import _endpoint
from vpp.runs import model_file as module
from vpp.runs.keys import Keys, keys_for
from vpp.runs.model_file import TIMEOUT_S, check_allowed, endpoint_for, model_server
from vpp.runs.spec import EndpointSpec
from vpp.wording.status import model_file_words

GB = 10**9


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Four cores, 16 GB and xllamacpp."""
    monkeypatch.setattr(module, "machine_memory", lambda: 16 * GB)
    monkeypatch.setattr(module, "machine_cores", lambda: 4)
    monkeypatch.setitem(sys.modules, "xllamacpp", pytest)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    for name in ("VPP_SHARED", "VPP_CACHE_DIR", "VPP_ALLOW_MODEL_FILES", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_run_records_the_files_whole_path_and_how_it_is_served(tmp_path: Path) -> None:
    model_file(tmp_path, "small.gguf")
    found, header, plan = endpoint_for("small.gguf", EndpointSpec(timeout_s=5, learner_max_tokens=9))
    assert found == EndpointSpec(
        gguf=str(tmp_path / "small.gguf"),
        model="small",
        slots=8,
        concurrency=8,
        context_length=4096,
        timeout_s=5,
        learner_max_tokens=9,
    )
    assert model_file_words(header, plan, memory_bytes=16 * GB) == (
        "small: 0 million parameters (llama), 0.0 GB. llama.cpp serves it on this machine: 8 calls at a time, 4,096 "
        "tokens of prompt and answer each. That takes about 1.3 GB of the machine’s 16.0 GB of memory."
    )


def test_calls_in_flight_and_context_are_kept_where_they_are_given(tmp_path: Path) -> None:
    path = model_file(tmp_path)
    found, _, _ = endpoint_for(str(path), EndpointSpec(concurrency=3, context_length=2048))
    assert (found.slots, found.concurrency, found.context_length) == (8, 3, 2048)


def test_a_file_called_demo_is_not_the_demo_model(tmp_path: Path) -> None:
    found, _, _ = endpoint_for(str(model_file(tmp_path, "demo.gguf")), EndpointSpec())
    assert not found.is_demo
    assert found.is_started_here


def test_python_takes_a_file_as_endpoint(tmp_path: Path) -> None:
    path = model_file(tmp_path, "small.gguf")
    found = _endpoint(f"file:{path}", Environment.of({}))
    assert (found.gguf, found.slots, found.timeout_s) == (str(path), 8, TIMEOUT_S)
    assert _endpoint(EndpointSpec(gguf=str(path)), Environment.of({})).slots == 8


def test_a_missing_library_is_one_line_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert main(["check-endpoint", "--gguf", str(model_file(tmp_path))]) == 2
    assert capsys.readouterr().err == (
        "vpp: a model file needs the package xllamacpp, which is not installed: pip install -r requirements-local.txt\n"
    )


def test_a_model_that_is_too_large_for_the_machine_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = {**MODEL, "llama.embedding_length": (U32, 2**22), "llama.block_count": (U32, 1000)}
    (tmp_path / "wide.gguf").write_bytes(gguf(wide))
    assert main(["check-endpoint", "--gguf", "wide.gguf"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("vpp: the model 'wide' takes about ")
    assert "16.0 GB of memory: take a smaller model" in said
    assert said.count("\n") == 1


SHARED = ({"VPP_SHARED": "1"}, {"VPP_ALLOWED_ENDPOINTS": "https://llm.lab.org"}, {"VPP_LOGIN": "1"})


@pytest.mark.parametrize("shared", SHARED)
def test_model_files_are_off_where_others_reach_the_app(shared: dict[str, str]) -> None:
    assert Keys.read(shared).model_files is None
    assert Keys.read({**shared, "VPP_ALLOW_MODEL_FILES": "1"}).model_files == Path("runs/.cache/model-servers")
    with pytest.raises(InputError, match="VPP_ALLOW_MODEL_FILES=1"):
        check_allowed(Keys.read(shared).model_files)


def test_the_command_line_keeps_to_the_owners_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VPP_SHARED", "1")
    assert main(["check-endpoint", "--gguf", str(model_file(tmp_path))]) == 2
    assert capsys.readouterr().err.startswith("vpp: model files are not used on this shared app")


def test_a_model_file_gets_nobodys_key(tmp_path: Path) -> None:
    own = Keys(learner="sk-owner", optimizer="sk-2", model_files=tmp_path)
    keys = keys_for(EndpointSpec(gguf="m.gguf"), typed={}, own=own, environment=Environment.of({}))
    assert (keys.learner, keys.optimizer, keys.model_files) == (None, None, tmp_path)


def test_a_stop_ends_the_hashing_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_file(tmp_path)
    hashing, stopped = Event(), list[bool]()

    def hash_until_stopped(home: Path, model: Path, *, stop: Event) -> str:
        hashing.set()
        stopped.append(stop.wait(30))
        return ""

    async def never_listens(*_: object) -> Listening:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(module, "content_hash", hash_until_stopped)
    monkeypatch.setattr(module, "_running", never_listens)
    spec = EndpointSpec(gguf=str(model), slots=1, context_length=512)

    async def load() -> None:
        async with model_server(spec, tmp_path / "home", environment={}, on_loading=lambda _: None):
            raise AssertionError

    async def stop_while_hashing() -> None:
        loading = asyncio.create_task(load())
        assert await asyncio.to_thread(hashing.wait, WITHIN_S)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading

    asyncio.run(stop_while_hashing())
    assert stopped == [True]


def test_a_files_hash_is_that_of_its_content_and_kept_unless_stopped(tmp_path: Path) -> None:
    model = model_file(tmp_path, content=b"x" * (2 * CHUNK_BYTES + 1))
    folder = ServerFolder.of(tmp_path / "home", model, slots=1, context=512)
    kept, go_on, stop = folder.path.parent / "sha256", Event(), Event()
    stop.set()
    assert content_hash(tmp_path / "home", model, stop=stop) == ""
    assert not kept.exists()
    found = content_hash(tmp_path / "home", model, stop=go_on)
    assert found == sha256(model.read_bytes()).hexdigest()
    assert kept.read_text() == found
    assert content_hash(tmp_path / "home", model, stop=stop) == found
