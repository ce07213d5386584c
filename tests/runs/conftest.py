"""A run without rows, and what its worker is given."""

from pathlib import Path
from typing import Any

import pytest

from vpp.runs.directory import RunDirectory
from vpp.runs.spec import EndpointSpec, Keys, RunSpec
from vpp.runs.worker import Surroundings
from vpp.settings import Config


def empty_run(path: Path) -> RunDirectory:
    directory = RunDirectory(path)
    directory.create(RunSpec(name="a", config=Config(), endpoint=EndpointSpec(demo=True)), b"row\n")
    return directory


def surroundings(folder: Path, **options: Any) -> Surroundings:
    """Without a key; slots and cache in a folder."""
    return Surroundings(keys=Keys(), cache_dir=folder / "cache", slots_dir=folder, max_running=1, **options)


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return empty_run(tmp_path / "runs" / "run")
