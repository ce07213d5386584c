"""Prompts are not stored: template, data and journal rebuild them to the letter."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.app.conftest import ROOT, free_port
from vpp.demo.server import Options, build_app
from vpp.runs.directory import RunDirectory
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader

PENGUINS = ROOT / "assets" / "examples" / "penguins.csv"


@contextmanager
def recording_demo() -> Iterator[tuple[str, list[str]]]:
    """The demo model behind a wire that keeps what was asked."""
    asked: list[str] = []
    demo = build_app(Options())

    async def wire(scope: Any, receive: Any, send: Any) -> None:
        async def listened() -> Any:
            message = await receive()
            if message["type"] == "http.request" and message.get("body"):
                asked.append(json.loads(message["body"])["messages"][0]["content"])
            return message

        await demo(scope, listened if scope["type"] == "http" else receive, send)

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(wire, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/v1", asked
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.mark.parametrize("method", ["smc", "mh", "vml"])
def test_every_proposals_prompt_is_rebuilt_to_the_letter(method: str, tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path / "run")
    with recording_demo() as (url, asked):
        command = [sys.executable, "-m", "vpp", "run", str(PENGUINS), "--target", "species", "--method", method]
        command += ["--particles", "4", "--epochs", "2", "--train-size", "25", "--test-size", "5", "--no-cache"]
        command += ["--base-url", url, "--model", "demo", "--run-dir", str(directory.path), "--quiet"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    reader = RunReader(directory)
    view = reader.refresh().view
    maker = PromptMaker(directory.spec(), reader.dataset())
    rebuilt = [maker.proposal(view, p.step, p.particle) for p in view.proposals]
    assert len(rebuilt) == view.total_steps * view.size
    assert [prompt for prompt in rebuilt if prompt not in set(asked)] == []
    assert maker.proposal(view, view.total_steps, 0) is None
