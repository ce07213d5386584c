"""A sweep on a real Ray of this machine: `make test-ray` installs it apart from the app and runs this."""

import tempfile
from pathlib import Path

import pytest

from tests.processes import Desk, Model
from tests.sweeps.test_command import TWO, bench, results, sweep, tables

pytest.importorskip("ray", reason="ray is not installed here: make test-ray runs this")
KEY = "sk-known-to-the-machine-alone"


def test_ray_comes_to_the_tables_of_processes_and_keeps_no_key(desk: Desk, served: Model) -> None:
    served.key = desk.environment["OPENAI_API_KEY"] = KEY
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:  # Ray's sockets bear no long path
        desk.environment["RAY_TMPDIR"] = folder
        for name, where in (("here", ()), ("there", ("--ray", "local"))):
            ended = bench(desk, name, *served.options, *TWO, *where, "--jobs", "2").finish(within_s=120)
            assert ended.code == 0, ended.err
        assert results(sweep(desk, "there")) == results(sweep(desk, "here"))
        assert tables(sweep(desk, "there")) == tables(sweep(desk, "here"))
        files = [path for place in (desk.folder, Path(folder)) for path in place.rglob("*") if path.is_file()]
        assert [path for path in files if KEY.encode() in path.read_bytes()] == []
        assert any(path.name.startswith("gcs_server") for path in files), "Ray kept its files there"
