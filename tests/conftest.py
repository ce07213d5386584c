"""Desks and finished runs that tests share."""

import asyncio
import gc
import inspect
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import hypothesis
import pytest

from tests.forked import Forked
from tests.processes import Desk, Model, Outcome, model
from vpp.cli import main
from vpp.runs.process import child_environment
from vpp.runtime import no_collecting

# No property fails because the machine is slow.
hypothesis.settings.register_profile(
    "untimed", deadline=None, max_examples=50, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")
# A shell without job control starts background jobs with SIGINT ignored; commands started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from modules and tests: they live to the end."""
    with no_collecting():
        result = yield
    gc.freeze()
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    signature = inspect.signature(pyfuncitem.obj)
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in signature.parameters}))
    return True


@pytest.fixture(autouse=True)
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that a test starts from its own process are forks too."""

    def fork(words: Sequence[str], log: Path, environment: Mapping[str, str], lock: BinaryIO) -> Forked:
        assert words[0] == "vpp"
        return Forked(words[1:], cwd=Path.cwd(), env=child_environment(environment), log=log, lock=lock)

    monkeypatch.setattr("vpp.runs.process.start", fork)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A folder for this test alone."""
    found = Desk(tmp_path)
    yield found
    found.close()


@pytest.fixture
def served() -> Iterator[Model]:
    """A model for this test alone."""
    with model() as found:
        yield found


@pytest.fixture(scope="session")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A folder of finished runs, which tests only read."""
    found = Desk(tmp_path_factory.mktemp("shared"))
    yield found
    found.close()


@pytest.fixture
def vpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """A command in this process, for those that end before a worker begins."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "VPP_MODEL", "VPP_CACHE_DIR", "VPP_MAX_RUNNING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))

    def command(*words: str | Path) -> tuple[int, str, str]:
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return command


METHODS = {"smc": (), "mh": ("--method", "mh"), "vml": ("--method", "vml"), "programs": ("--reading", "auto")}


@pytest.fixture(scope="session")
def undisturbed(shared_desk: Desk) -> dict[str, Outcome]:
    """Uninterrupted runs of each method, in directories of the same names."""
    with model() as served:
        return {name: shared_desk.run(name, *words, *served.options).finish() for name, words in METHODS.items()}
