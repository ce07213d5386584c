"""The command line keeps to the endpoints that the owner allows, before anything is written and in a worker."""

import os
from pathlib import Path

import pytest

from tests.cli.test_bad_input import TABLE, Vpp, vpp
from tests.processes import Model

__all__ = ["vpp"]
BARRED = "http://b.com/v1"


@pytest.mark.parametrize("command", ["run t.csv --target kind", "check-endpoint", "bench --tasks linear --methods vml"])
def test_a_barred_address_is_refused_before_anything_is_written(
    vpp: Vpp, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_ALLOWED_ENDPOINTS", "https://api.a.com/v1")
    Path("t.csv").write_text(TABLE)
    code, _, said = vpp(*command.split(), "--base-url", BARRED, "--model", "m")
    assert code == 2
    assert f"{BARRED} is not among the endpoints that may be asked here: take one that its owner has listed" in said
    assert said.count("\n") == 1
    assert os.listdir() == ["t.csv"]


def test_a_list_of_servers_in_a_dotenv_file_is_obeyed(vpp: Vpp, served: Model) -> None:
    Path(".env").write_text("VPP_ALLOWED_ENDPOINTS=https://api.a.com/v1\n")
    code, _, said = vpp("check-endpoint", *served.options)
    assert code == 2
    assert "may be asked here: take one that its owner has listed, or ask the owner" in said


def test_a_public_demo_asks_no_server_and_loads_no_model_file(
    vpp: Vpp, served: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_DEMO_ONLY", "1")
    monkeypatch.setenv("VPP_ALLOW_MODEL_FILES", "1")
    monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
    Path("t.csv").write_text(TABLE)
    for asked in ((), served.options):
        code, _, said = vpp("check-endpoint", "--model", "demo", *asked)
        assert code == 2
        assert "may be asked here: take the built-in demo model" in said
    code, _, said = vpp("run", "t.csv", "--target", "kind", "--gguf", "m.gguf")
    assert (code, "model files are off" in said) == (2, True)
    assert vpp("check-endpoint", "--demo")[0] == 0
