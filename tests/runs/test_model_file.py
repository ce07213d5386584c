"""A model file as an endpoint: what a run records of it, and what is refused before it starts."""

import os
import sys
from pathlib import Path

import pytest

from tests.llama import model_file
from vpp.cli import main
from vpp.environment import Environment
from vpp.errors import InputError
from vpp.findings.status import model_file_words
from vpp.library.posterior import _endpoint
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
