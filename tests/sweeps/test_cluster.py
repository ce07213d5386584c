"""The engine of a cluster, on a fake Ray that is no more than what `Cluster` calls of it.

It runs no task: what tasks are sent with, and what comes of what they return, is what is looked at. How a real Ray
behaves is for `make test-ray`.
"""

import os
import pickle
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.sweeps.test_machines import JOB, VML, file
from vpp.bench.archive import unpack
from vpp.bench.cluster import TaskInput, TaskResult, cluster
from vpp.bench.engine import LOST, Worker
from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys

KEY, OTHER = "sk-of-the-learner", "sk-of-the-optimizer"


class RayError(Exception):
    cause = None


class RayTaskError(RayError):
    pass


@dataclass
class FakeRay(ModuleType):
    """Keeps what every task was sent with; what its tasks come to is set by the test."""

    came: Any = field(default_factory=lambda: TaskResult(code=0, archive={}))
    sent: list[tuple[Any, ...]] = field(default_factory=list)
    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def init(self, **options: Any) -> None:
        self.options_of_init = options

    def shutdown(self) -> None:
        pass

    def remote(self, what: Any) -> "FakeRay":
        return self

    def options(self, **_: Any) -> Any:
        def sent(*words: Any) -> str:
            self.sent.append(words)
            return "reference"

        return SimpleNamespace(remote=sent)

    def wait(self, references: list[Any], *, timeout: float) -> tuple[list[Any], list[Any]]:
        return references, []

    def get(self, reference: Any) -> Any:
        if isinstance(self.came, Exception):
            raise self.came
        return self.came


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setitem(sys.modules, "ray", fake)
    return fake


def worked(ray: FakeRay, folder: Path, *, address: str = "auto") -> tuple[Worker, int | None]:
    """A cell with a journal, given to the cluster; its worker and how it ended."""
    run = RunDirectory(folder / VML.name)
    unpack({"run.json": file(b"{}"), "events.jsonl": file(b"half")}, run.path)
    with cluster(address, jobs=2, slots=2, keys=Keys(learner=KEY, optimizer=OTHER)) as engine:
        worker = engine.start(JOB, run)
        return worker, worker.poll()


@pytest.mark.parametrize("address", ["auto", "local"])
def test_no_key_is_sent_with_a_task(ray: FakeRay, tmp_path: Path, address: str) -> None:
    worked(ray, tmp_path, address=address)
    (task,) = (word for words in ray.sent for word in words if isinstance(word, TaskInput))
    assert task.key_variables == ("OPENAI_API_KEY", "VPP_OPTIMIZER_API_KEY")
    sent = pickle.dumps(task)
    assert b"half" in sent
    assert KEY.encode() not in sent
    assert OTHER.encode() not in sent
    assert KEY not in str(ray.options_of_init)


def test_the_returned_run_is_put_in_place(ray: FakeRay, tmp_path: Path) -> None:
    ray.came = TaskResult(code=0, archive={"events.jsonl": file(b"whole")})
    assert worked(ray, tmp_path)[1] == 0
    assert (tmp_path / VML.name / "events.jsonl").read_bytes() == b"whole"


@pytest.mark.parametrize(
    ("came", "code", "reason"),
    [
        (RayError("its machine went"), LOST, ""),
        (RayTaskError("a trace\nMemoryError: none left"), 1, "MemoryError: none left"),
        (TaskResult(code=3, archive={}, reason="no key there"), 3, "no key there"),
    ],
)
def test_a_failed_task_leaves_the_run_unchanged(
    ray: FakeRay, tmp_path: Path, came: Any, code: int, reason: str
) -> None:
    ray.came = came
    worker, ended = worked(ray, tmp_path)
    assert (ended, worker.reason) == (code, reason)
    assert (tmp_path / VML.name / "events.jsonl").read_bytes() == b"half"
