from pathlib import Path

import pytest

from tests import inspected
from vpp.runs.directory import RunReader


@pytest.fixture
def labels(tmp_path: Path) -> RunReader:
    return inspected.labels(tmp_path)


@pytest.fixture
def numbers(tmp_path: Path) -> RunReader:
    return inspected.numbers(tmp_path)
