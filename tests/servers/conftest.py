"""Servers, one at a time, each for one module; a failure shows the server's log."""

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from tests.processes import ROOT
from tests.servers.served import ENVIRONMENTS, MODELS, TINY, Served, serving, tail, vllm

LOGS = ENVIRONMENTS / "logs"
ANSWERS = {
    "labels": "Explanation: told to say so.\nOutput: Adelie",
    "rules": "Reasoning: told to say so.\n\nNew rule:\nEvery penguin is an Adelie.",
    "busy": "litellm.RateLimitError",
    "narrow": "litellm.ContextWindowExceededError",
}
"""The one answer that LiteLLM always gives, by the model's name."""
HERE = ("--host", "127.0.0.1", "--port", "{port}")


def tiny_vllm(name: str, *options: str) -> AbstractContextManager[Served]:
    words = ("--max-model-len", "2048", "--enforce-eager", *options)
    return vllm(*words, folder=TINY, model="tiny", log=LOGS / name)


@pytest.fixture(scope="module", name="vllm")
def roomy_vllm() -> Iterator[Served]:
    with tiny_vllm("vllm.log", "--max-num-seqs", "64") as found:
        yield found


@pytest.fixture(scope="module")
def crowded_vllm() -> Iterator[Served]:
    """Works on two requests at a time and lets eight wait."""
    with tiny_vllm("vllm-crowded.log", "--max-num-seqs", "2", "--max-num-queued-reqs", "8") as found:
        yield found


@pytest.fixture(scope="module")
def transformers() -> Iterator[Served]:
    """`transformers serve` of the tiny model, on the processor. Without a cache of models its list answers 500."""
    program, nowhere = ENVIRONMENTS / "tf/bin/transformers", {"HF_HUB_CACHE": str(LOGS / "no-cache")}
    words = ("serve", str(TINY), "--device", "cpu", "--dtype", "float32", *HERE)
    with serving(program, *words, model=str(TINY), log=LOGS / "transformers.log", **nowhere) as found:
        yield found


@pytest.fixture(scope="module")
def litellm() -> Iterator[Served]:
    """LiteLLM's proxy, which does not start without a key."""
    LOGS.mkdir(parents=True, exist_ok=True)
    config = LOGS / "litellm.yaml"
    models = [
        {"model_name": name, "litellm_params": {"model": "openai/none", "api_key": "none", "mock_response": answer}}
        for name, answer in ANSWERS.items()
    ]
    config.write_text(json.dumps({"model_list": models, "litellm_settings": {"telemetry": False, "num_retries": 0}}))
    key = f"sk-{secrets.token_hex(16)}"
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_MASTER_KEY": key}
    with serving(
        ENVIRONMENTS / "litellm/bin/litellm", "--config", str(config), *HERE,
        model="labels", key=key, ready="/health/liveliness", log=LOGS / "litellm.log", **offline,
    ) as found:  # fmt: skip
        yield found


@pytest.fixture(scope="module")
def mlflow() -> Iterator[Served]:
    folder = LOGS / "mlflow"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    store = ("--backend-store-uri", f"sqlite:///{folder}/store.db", "--artifacts-destination", f"{folder}/artifacts")
    words = ("server", *HERE, "--workers", "1", *store)
    with serving(ENVIRONMENTS / "mlflow/bin/mlflow", *words, log=LOGS / "mlflow.log") as found:
        yield found


@pytest.fixture(scope="module")
def llamacpp() -> Iterator[Served]:
    """llama.cpp with SmolLM2-135M on the processor: two slots of 4,096 tokens."""
    file = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
    words = (str(ROOT / "tests/models/server.py"), str(file), "{port}", "2", "4096", file.stem.lower())
    waiting = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    log = LOGS / "llamacpp.log"
    with serving(MODELS / "venv/bin/python", *words, model=file.stem.lower(), log=log, **waiting) as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    servers = [value for value in getattr(item, "funcargs", {}).values() if isinstance(value, Served)]
    if report.failed:
        report.sections.extend((f"log of the server: {each.log}", tail(each.log)) for each in servers)
    return report
