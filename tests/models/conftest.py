"""The model that whole runs are tried on, served once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.weights import QWEN_1_5B
from tests.servers import served
from tests.servers.served import MODELS, Served


@pytest.fixture(scope="session")
def qwen() -> Iterator[Served]:
    """Qwen2.5-Coder-1.5B-Instruct on a llama.cpp server of four slots."""
    with served.llamacpp(QWEN_1_5B.file, slots=4, log=MODELS / "logs" / "qwen.log") as found:
        yield found


@pytest.fixture(scope="session")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where runs are kept."""
    return tmp_path_factory.mktemp("trials")
