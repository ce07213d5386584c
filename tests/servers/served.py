"""Servers of other makers on 127.0.0.1, which `make test-servers` installs, and runs and answers of theirs."""

import asyncio
import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.processes import PENGUINS, ROOT, TARGET, Desk, Outcome, free_port
from vpp.llm.endpoint import Endpoint, Server
from vpp.llm.protocol import Completion
from vpp.posterior.prediction import Value
from vpp.runs.view import RunView

ENVIRONMENTS = Path(os.environ.get("SERVERS_DIR") or ROOT / ".servers")
TINY = ENVIRONMENTS / "tiny"
"""The model that knows nothing: tests/servers/tiny_model.py made it."""
MODELS = Path(os.environ.get("MODELS_DIR") or ROOT / ".models")
"""Language models and llama.cpp: `make models` gets them."""
UP_WITHIN_S = 400.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""On a busy machine, several threads of a small model mostly wait for one another."""


@dataclass(frozen=True, kw_only=True)
class Served:
    base_url: str
    """Ends in /v1."""
    model: str
    """The name to ask for."""
    log: Path
    key: str = field(default="", repr=False)

    @property
    def environment(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": self.key} if self.key else {}

    @property
    def options(self) -> tuple[str, ...]:
        return ("--base-url", self.base_url, "--model", self.model)

    @property
    def address(self) -> str:
        return self.base_url.removesuffix("/v1")

    def get(self, path: str) -> str:
        """Return the server's page at a path beside /v1."""
        with urllib.request.urlopen(self.address + path, timeout=30) as reply:
            return str(reply.read().decode())


@contextmanager
def serving(
    program: Path, *options: str, model: str = "", key: str = "", ready: str = "/health", log: Path, **variables: str
) -> Iterator[Served]:
    """Run a program on a free port until the block ends, with its folder first in PATH.

    options: `{port}` in them stands for the port. ready: a path that answers once the server is up.
    """
    assert program.is_file(), f"{program} is not there: run `make test-servers`"
    port = free_port()
    log.parent.mkdir(parents=True, exist_ok=True)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "VPP_"))}
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(program), *(option.replace("{port}", str(port)) for option in options)],
            cwd=log.parent,
            env={**inherited, **OFFLINE, **ONE_THREAD, "PATH": path, **variables},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            served = Served(base_url=f"http://127.0.0.1:{port}/v1", model=model, key=key, log=log)
            _wait_for(served, process, ready)
            yield served
        finally:
            _end(process)


def _wait_for(served: Served, process: "subprocess.Popen[bytes]", ready: str) -> None:
    deadline = time.monotonic() + UP_WITHIN_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the server ended with {process.returncode}:\n{tail(served.log)}"
        try:
            served.get(ready)
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"not up within {UP_WITHIN_S:.0f} s:\n{tail(served.log)}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a server and every process that it started: vLLM's engine is one."""
    process.terminate()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-60:])


@contextmanager
def vllm(
    *options: str, folder: Path, model: str, log: Path, dtype: str = "bfloat16", **variables: str
) -> Iterator[Served]:
    """`vllm serve` of a folder's model, on the processor.

    Its build has another package name, so a folder in PYTHONPATH gives it the name vllm.
    """
    names = log.parent / "vllm-name"
    metadata = names / "vllm-0.32.0+cpu.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True, exist_ok=True)
    metadata.write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
    place = ("--host", "127.0.0.1", "--port", "{port}")
    words = ("serve", str(folder), "--served-model-name", model, *place, "--dtype", dtype, *options)
    cpu = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1", "PYTHONPATH": str(names), **variables}
    with serving(ENVIRONMENTS / "vllm/bin/vllm", *words, model=model, log=log, **cpu) as served:
        yield served


@contextmanager
def vllm_at_its_best(folder: Path, model: str, *, log: Path) -> Iterator[Served]:
    """`vllm serve` of a real model on every core.

    Prompts are read whole, because 0.32.0 on a processor ends with "CPU Generator does not use offset" where a seeded
    request above temperature 0 is read in chunks; small blocks let short questions share a long prefix. Words are drawn
    as llama.cpp draws them by itself: from all words, a small model rambles above a temperature of 1. Without AVX-512 a
    processor computes in float32, which is several times as fast as its bfloat16.
    """
    dtype = "bfloat16" if "avx512f" in Path("/proc/cpuinfo").read_text("utf-8") else "float32"
    limits = ("--max-model-len", "4096", "--max-num-batched-tokens", "4096", "--max-num-seqs", "48")
    cores = os.cpu_count() or 1
    every_core = {
        "OMP_NUM_THREADS": str(cores),
        "VLLM_CPU_OMP_THREADS_BIND": f"0-{cores - 1}",
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
        "VLLM_CPU_KVCACHE_SPACE": "4",
        "LD_PRELOAD": str(ENVIRONMENTS / "vllm/lib/libiomp5.so"),
    }
    sampling = json.dumps({"top_p": 0.95, "top_k": 40, "min_p": 0.05})
    options = (*limits, "--no-enable-chunked-prefill", "--block-size", "32", "--override-generation-config", sampling)
    with vllm(*options, folder=folder, model=model, log=log, dtype=dtype, **every_core) as served:
        yield served


# Whole runs and single answers


TINY_RUN = ("--particles", "2", "--epochs", "1", "--train-size", "20", "--test-size", "6", "--limit", "call=300")
TINY_RUN += ("--limit", "learner=64", "--limit", "optimizer=128")
"""Two steps and, where no answer can be read, some 150 calls."""
WITHIN_S = 600.0


def outcome_of(desk: Desk, name: str, *words: str | Path, **environment: str) -> Outcome:
    """Return the outcome of a small run in a directory of this name, whatever its exit code."""
    where = ("--no-cache", "--json", "--quiet", "--run-dir", desk.folder / name)
    command = ("run", PENGUINS, *TARGET, *TINY_RUN, "--limit", "wait=5", *where, *words)
    return desk.start(*command, **environment).finish(within_s=WITHIN_S)


def finished_view(desk: Desk, name: str, *words: str | Path, **environment: str) -> RunView:
    """Return the view of a run that must finish: exit code 0, its last event, its report."""
    outcome = outcome_of(desk, name, *words, **environment)
    assert outcome.code == 0, outcome.err
    view = desk.look(name).view
    assert view.phase == "finished"
    assert "Adelie" in (desk.folder / name / "report.md").read_text(encoding="utf-8")
    return view


def grades(desk: Desk, *words: str) -> list[float]:
    """Return the probabilities that a run on log-probabilities records; `verify` must find the same weights."""
    view = finished_view(desk, "graded", *words, "--likelihood", "logprobs")
    shares = [share or {} for evaluated in view.evaluations.values() for row in evaluated.shares for share in row]
    assert all(set(share) <= {"Adelie", "Chinstrap", "Gentoo"} for share in shares)
    assert all(sum(share.values()) <= 1 + 1e-9 for share in shares)
    assert desk.vpp("verify", desk.folder / "graded").code == 0
    return [probability for share in shares for probability in share.values()]


def votes(view: RunView) -> list[Value | None]:
    """Return every particle's answer for every row that it was evaluated on, one at least."""
    found = [vote for evaluated in view.evaluations.values() for row in evaluated.predictions for vote in row]
    assert found
    return found


def with_endpoint(served: Served, call: Callable[[Endpoint], Awaitable[Completion]]) -> Completion:
    """Return the answer to a call of a new endpoint, which attempts it once."""

    async def scene() -> Completion:
        server = Server(base_url=served.base_url, model=served.model)
        endpoint = Endpoint(server, max_attempts=1)
        try:
            return await call(endpoint)
        finally:
            await endpoint.aclose()

    return asyncio.run(scene())


def ask(served: Served, text: str, *, seed: int = 0, temperature: float = 0.0, max_tokens: int = 64) -> Completion:
    message = {"role": "user", "content": text}
    options: Any = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
    return with_endpoint(served, lambda endpoint: endpoint.complete([message], **options))
