"""Whole runs on a real model file: SmolLM2-135M-Instruct in MODELS_DIR. `make test-gguf` runs them."""

from contextlib import suppress
from pathlib import Path

from tests.processes import PENGUINS, TARGET, Desk, Running
from tests.servers.served import MODELS
from vpp.runs.spec import EndpointSpec

MODEL = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
TINY = ("--particles", "2", "--epochs", "1", "--train-size", "8", "--test-size", "2", "--batch-size", "4")
TINY += ("--limit", "learner=6", "--limit", "optimizer=24")
"""Two steps and some 100 short answers, few of which can be read."""
WITHIN_S = 1200.0


def start(desk: Desk, name: str, model: Path = MODEL) -> Running:
    where = ("--json", "--quiet", "--run-dir", desk.folder / name)
    return desk.start("run", PENGUINS, *TARGET, *TINY, "--gguf", model, *where)


def servers() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            if {b"vpp.runs.process", str(MODEL).encode()} <= set(file.read_bytes().split(b"\0")):
                found.append(file.parent.name)
    return found


def test_a_run_is_served_from_the_file_and_the_server_is_gone_after_it(desk: Desk) -> None:
    outcome = start(desk, "one").finish(within_s=WITHIN_S)
    assert outcome.code == 0, outcome.err
    snapshot = desk.look("one")
    assert snapshot.view.phase == "finished"
    assert snapshot.view.usage.failed == 0
    assert snapshot.view.usage.prompt_tokens > 1_000
    endpoint: EndpointSpec = snapshot.spec.endpoint
    assert (endpoint.model, endpoint.concurrency, endpoint.context_length) == ("SmolLM2-135M-Instruct.Q4_1", 4, 4096)
    assert snapshot.view.start is not None
    assert snapshot.view.start.versions["xllamacpp"]
    assert servers() == []


def test_a_file_that_is_cut_off_within_its_last_tensors_ends_the_run_with_llama_cpps_reason(desk: Desk) -> None:
    cut = desk.folder / "cut.gguf"
    cut.write_bytes(MODEL.read_bytes()[:-1000])
    outcome = start(desk, "cut", cut).finish(within_s=WITHIN_S)
    assert outcome.code == 3
    assert "llama.cpp cannot load cut.gguf (" in outcome.complaint
    assert "not within the file bounds" in outcome.complaint
