"""Servers of other makers as processes on 127.0.0.1, from environments that `make test-servers` installs."""

import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.processes import ROOT, free_port

ENVIRONMENTS = Path(os.environ.get("SERVERS_DIR") or ROOT / ".servers")
TINY = ENVIRONMENTS / "tiny"
"""The model that knows nothing: tests/servers/tiny_model.py made it."""
MODELS = Path(os.environ.get("MODELS_DIR") or ROOT / ".models")
"""Language models and llama.cpp: `make models` gets them."""
SMALLEST = "SmolLM2-135M-Instruct.Q4_1.gguf"
UP_WITHIN_S = 400.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""On a busy machine, several threads of a small model mostly wait for one another."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server that is up."""

    base_url: str
    """Ends in /v1."""
    model: str
    """The name to ask for."""
    log: Path
    key: str = field(default="", repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """Variables for `python -m vpp`: the key, if the server asks for one."""
        return {"OPENAI_API_KEY": self.key} if self.key else {}

    @property
    def options(self) -> tuple[str, ...]:
        """Options for `python -m vpp`."""
        return ("--base-url", self.base_url, "--model", self.model)

    def get(self, path: str) -> str:
        """Return the server's page at a path beside /v1."""
        with urllib.request.urlopen(self.base_url.removesuffix("/v1") + path, timeout=30) as reply:
            return str(reply.read().decode())


@contextmanager
def serving(
    environment: str, command: list[str], *, port: int, model: str, ready: str, log: Path, **variables: str
) -> Iterator[Served]:
    """Runs a command of an installed environment until the block ends; `ready` is a path that answers once it is up."""
    program = ENVIRONMENTS / environment / "bin"
    assert program.is_dir(), f"{program} is not there: run `make test-servers`"
    whole = [str(program / command[0]), *command[1:]]
    with _running(whole, program, port=port, model=model, ready=ready, log=log, **variables) as served:
        yield served


@contextmanager
def _running(
    command: list[str], program: Path, *, port: int, model: str, ready: str, log: Path, **variables: str
) -> Iterator[Served]:
    """Run a command with the folder of its programs first in PATH until the block ends."""
    log.parent.mkdir(parents=True, exist_ok=True)
    path = f"{program}{os.pathsep}{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "VPP_"))}
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            cwd=log.parent,
            env={**inherited, **OFFLINE, **ONE_THREAD, "PATH": path, **variables},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            served = Served(base_url=f"http://127.0.0.1:{port}/v1", model=model, log=log)
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


def tail(log: Path, *, lines: int = 60) -> str:
    """The end of a server's log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


@contextmanager
def tiny_vllm(*options: str, log: Path) -> Iterator[Served]:
    """`vllm serve` of the tiny model."""
    with vllm("--max-model-len", "2048", "--enforce-eager", *options, folder=TINY, model="tiny", log=log) as served:
        yield served


@contextmanager
def vllm(
    *options: str, folder: Path, model: str, log: Path, dtype: str = "bfloat16", **variables: str
) -> Iterator[Served]:
    """`vllm serve` of a folder's model, on the processor.

    Its build has another package name, so a folder in PYTHONPATH gives it the name vllm.
    """
    port, names = free_port(), log.parent / "vllm-name"
    metadata = names / "vllm-0.32.0+cpu.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True, exist_ok=True)
    metadata.write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
    command = [
        *("vllm", "serve", str(folder), "--served-model-name", model, "--host", "127.0.0.1", "--port", str(port)),
        *("--dtype", dtype, *options),
    ]
    cpu = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1", "PYTHONPATH": str(names), **variables}
    with serving("vllm", command, port=port, model=model, ready="/health", log=log, **cpu) as served:
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
        "LD_PRELOAD": str(ENVIRONMENTS / "vllm" / "lib" / "libiomp5.so"),
    }
    drawn = json.dumps({"top_p": 0.95, "top_k": 40, "min_p": 0.05})
    options = (*limits, "--no-enable-chunked-prefill", "--block-size", "32", "--override-generation-config", drawn)
    with vllm(*options, folder=folder, model=model, log=log, dtype=dtype, **every_core) as served:
        yield served


@contextmanager
def transformers(*options: str, log: Path) -> Iterator[Served]:
    """`transformers serve` of the tiny model, on the processor. Without a cache of models its list answers 500."""
    port = free_port()
    command = [
        *("transformers", "serve", str(TINY), "--device", "cpu", "--dtype", "float32"),
        *("--host", "127.0.0.1", "--port", str(port), *options),
    ]
    nowhere = {"HF_HUB_CACHE": str(log.parent / "no-cache")}
    with serving("tf", command, port=port, model=str(TINY), ready="/health", log=log, **nowhere) as served:
        yield served


@contextmanager
def litellm(answers: dict[str, str], *, log: Path) -> Iterator[Served]:
    """LiteLLM's proxy, which does not start without a key, with a model a name: each always gives its one answer."""
    port, config = free_port(), log.parent / "litellm.yaml"
    log.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(_models_yaml(answers), encoding="utf-8")
    command = ["litellm", "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    key = f"sk-{secrets.token_hex(16)}"
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_MASTER_KEY": key}
    first = next(iter(answers))
    with serving("litellm", command, port=port, model=first, ready="/health/liveliness", log=log, **offline) as served:
        yield replace(served, key=key)


@contextmanager
def llamacpp(model: str = SMALLEST, *, slots: int = 2, context_per_slot: int = 4096, log: Path) -> Iterator[Served]:
    """llama.cpp with a small language model, on the processor."""
    assert (MODELS / model).is_file(), f"{MODELS / model} is not there: run `make models`"
    port, program, script = free_port(), MODELS / "venv" / "bin", ROOT / "tests" / "models" / "server.py"
    alias = model.removesuffix(".gguf").lower()
    numbers = map(str, (port, slots, context_per_slot))
    command = [str(program / "python"), str(script), str(MODELS / model), *numbers, alias]
    threads = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    with _running(command, program, port=port, model=alias, ready="/health", log=log, **threads) as served:
        yield served


def _models_yaml(answers: dict[str, str]) -> str:
    """JSON strings are YAML strings."""
    entries = [
        f"  - model_name: {json.dumps(name)}\n    litellm_params:\n"
        f"      model: openai/none\n      api_key: none\n      mock_response: {json.dumps(answer)}\n"
        for name, answer in answers.items()
    ]
    return "model_list:\n" + "".join(entries) + "litellm_settings:\n  telemetry: false\n  num_retries: 0\n"


@contextmanager
def mlflow(*, log: Path) -> Iterator[Served]:
    """`mlflow server` with an empty store."""
    port, folder = free_port(), log.parent / "mlflow"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [
        *("mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/store.db", "--artifacts-destination", str(folder / "artifacts")),
    ]
    with serving("mlflow", command, port=port, model="", ready="/health", log=log) as served:
        yield served
