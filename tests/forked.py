"""Commands as forks of one process that has imported vpp: real processes, without the second that its imports take."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import BinaryIO

from vpp.cli import main
from vpp.runs import process
from vpp.runs.process import child_environment

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *("tests.forked", "tests.late", "vpp.bench.runner", "vpp.cli.running", "vpp.llm.client"),
        *("vpp.reporting.document", "vpp.findings.verdict", "scipy.cluster.hierarchy", "aiohttp"),
        # A cell is a fork of its sweep: a thread that imports at that moment would hold a lock for ever.
        *("pandas", "sklearn.compose", "sklearn.feature_extraction.text", "sklearn.impute", "sklearn.linear_model"),
        *("sklearn.pipeline", "sklearn.preprocessing", "sklearn.tree", "scipy.special", "charset_normalizer"),
    ]
)

NO_MAIN = types.ModuleType("__main__")
STARTING = threading.Lock()


class Forked:
    """`python -m vpp WORDS` with the part of `subprocess.Popen` that tests use."""

    def __init__(
        self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path | None = None,
        lock: BinaryIO | None = None,
    ) -> None:  # fmt: skip
        """log: file that its output is appended to; without one, `communicate` returns it. lock: its standard input."""
        pipes = [] if log else [FORKS.Pipe(duplex=False) for _ in range(2)]
        ends = [child for _, child in pipes] or [log, log]
        with Connection(os.dup(lock.fileno())) if lock else nullcontext() as held:
            self._process = FORKS.Process(target=_command, args=(words, cwd, dict(env), held, *ends))
            _start(self._process)
        streams = [os.fdopen(os.dup(end.fileno()), encoding="utf-8") for end, _ in pipes]
        self.stdout, self.stderr = streams or (None, None)
        for end in (end for pipe in pipes for end in pipe):
            end.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("vpp", timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return standard output and error. Raises subprocess.TimeoutExpired."""
        assert self.stdout is not None
        assert self.stderr is not None
        with ThreadPoolExecutor(2) as pool:
            read = [pool.submit(stream.read) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            out, err = (each.result() for each in read)
        self.stdout.close()
        self.stderr.close()
        return out, err

    def kill(self) -> None:
        self._process.kill()


def _start(process: BaseProcess) -> None:
    """Start a fork without this process's main module: Streamlit's AppTest leaves a page's script in its place."""
    with STARTING:
        main_module, sys.modules["__main__"] = sys.modules["__main__"], NO_MAIN
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main_module


def _command(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], lock: Connection | None, *outputs: Connection | Path
) -> None:
    """Become the command: a session, a folder, an environment and streams of its own.

    outputs: of standard output and error, the ends of pipes or a file.
    """
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = env.get("PYTHONPATH", "").split(os.pathsep)  # an interpreter would read it as it starts
    with lock or Connection(os.open(os.devnull, os.O_RDONLY)) as source:
        os.dup2(source.fileno(), 0)
    for number, output in enumerate(outputs, 1):
        source = output.open("ab") if isinstance(output, Path) else output
        os.dup2(source.fileno(), number)
        source.close()
    warnings.simplefilter("default")
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    process.start = _cell  # type: ignore[assignment]
    sys.exit(main(words))


@dataclass
class Cell:
    """A cell's worker, with the part of `subprocess.Popen` that a sweep, or a group of seeds, uses."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        ended, status = os.waitpid(self.pid, os.WNOHANG) if self.returncode is None else (0, 0)
        self.returncode = os.waitstatus_to_exitcode(status) if ended else self.returncode
        return self.returncode

    def wait(self) -> int:
        return os.waitpid(self.pid, 0)[1]


def _cell(words: Sequence[str], log: Path, environment: Mapping[str, str], lock: BinaryIO) -> Cell:
    """Start a cell's worker: a fork of its sweep, without the files that the sweep holds open and locked."""
    if pid := os.fork():
        return Cell(pid)
    code = 1
    try:
        os.dup2(lock.fileno(), 3)
        os.closerange(4, 1024)
        _command(words[1:], Path.cwd(), child_environment(environment), Connection(3), log, log)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os._exit(code)  # this thread is joblib's
