"""The model that whole runs are tried on, served once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.weights import QWEN_1_5B
from tests.servers import served
from tests.servers.served import MODELS, Served


@pytest.fixture(scope="session")
def qwen() -> Iterator[Served]:
    """Qwen2.5-Coder-1.5B-Instruct in vLLM, its GGUF unpacked: several times as fast as llama.cpp on two cores."""
    with served.vllm_at_its_best(MODELS / "qwen-1.5b", QWEN_1_5B.name, log=MODELS / "logs" / "qwen.log") as found:
        yield found


@pytest.fixture(scope="session")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the runs."""
    return tmp_path_factory.mktemp("trials")
