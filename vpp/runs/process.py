"""Processes of a run: detached workers, how many may ask models at a time, and models' servers that a worker starts.

`python -m vpp.runs.process FILE SLOTS CONTEXT` serves a model file (GGUF) with llama.cpp. Its key comes by standard
input, which closes however the worker ends: then it ends too.
"""

import asyncio
import importlib.util
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import vpp
from vpp.errors import DiskRefused, EndpointRefused, InputError
from vpp.runs.directory import Heartbeat, RunDirectory, refusal, try_lock
from vpp.runs.spec import EndpointSpec, Keys

SLOT_POLL_S = 0.2


def launch(directory: RunDirectory, *, keys: Keys, environment: Mapping[str, str] | None = None) -> int:
    """Start or resume the run in a detached worker; return its process id. Raises RunLocked, DiskRefused."""
    variables = {**(os.environ if environment is None else environment), **keys.variables()}
    worker = start_worker(directory, variables)
    threading.Thread(target=worker.wait, daemon=True).start()  # an ended child stays a zombie until somebody waits
    return worker.pid


def start_worker(directory: RunDirectory, environment: Mapping[str, str], *options: str) -> "subprocess.Popen[bytes]":
    """Start `vpp resume` with options of its own; the run is held from now on. Raises RunLocked, DiskRefused."""
    before = directory.last_beat() or Heartbeat()
    with directory.lock() as lock:
        directory.beat(Heartbeat(usage=before.usage, queued=True))
        try:
            return start(("vpp", "resume", str(directory.path), *options), directory.log, environment, lock)
        except OSError as error:
            raise DiskRefused(refusal(error, directory.path)) from None


def start(words: Sequence[str], log: Path, environment: Mapping[str, str], lock: BinaryIO) -> "subprocess.Popen[bytes]":
    """Start `python -m …` in a session of its own, which holds the lock by its standard input. Raises OSError."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *words],
            stdin=lock,
            stdout=output,
            stderr=output,
            env=child_environment(environment),
            start_new_session=True,
        )


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process that imports `vpp`, whatever folder it is started from."""
    paths = [str(Path(vpp.__file__).parents[1]), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def on_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Turn signals into calls of `stop`; a closed terminal's too, unless this process was started to ignore it."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    names = (signal.SIGINT, signal.SIGTERM, *(() if ignored else (signal.SIGHUP,)))
    before = {name: signal.signal(name, lambda *_: stop()) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def is_secret(name: str) -> bool:
    """True if a variable may hold a secret, which a process without requests does not need."""
    return re.search(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|HEADERS", name.upper()) is not None


class Slots:
    """Lock files in the runs folder, one for each run that may ask models; a process that ends frees its slot."""

    def __init__(self, folder: Path, *, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._files = [folder / f".slot-{i}" for i in range(count)]
        self._held: BinaryIO | None = None

    def take(self) -> bool:
        """Take a slot if one is free; return whether one is held now. Raises DiskRefused."""
        self._held = self._held or next(filter(None, map(try_lock, self._files)), None)
        return self._held is not None

    def give_back(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


# Models' servers

LIBRARY = "xllamacpp"
SLOTS, CONTEXT = 4, 4_096
"""Answers at a time, and tokens of prompt and answer of each: the prompts of a run fit in."""
TIMEOUT_S = 3_600.0  # default seconds a call may take: a laptop writes a few words a second
POLL_S = 0.2
PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait must sleep: while they spin, any other busy process slows the model more than tenfold."""
OnLoading = Callable[[float], None]
"""Called with the seconds for which a model has been loading."""


@asynccontextmanager
async def child_server(
    *words: str, fault: str, fix: str, key: str = "", on_loading: OnLoading = lambda _: None
) -> AsyncIterator[str]:
    """Run `python -m …`, a model's server, until the block ends; yield its base URL, which it prints.

    Its standard input holds the key, and closes however this process ends: the server must end then. fault, fix: error
    if it ends before, around the reason. Raises EndpointRefused.
    """
    plain = {name: value for name, value in child_environment(os.environ).items() if not is_secret(name)}
    began = time.monotonic()
    with TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env={**plain, **PASSIVE},
            start_new_session=True,  # an interrupt at the terminal is for the worker, which then evaluates test rows
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{key}\n".encode())
            address = asyncio.ensure_future(process.stdout.readline())
            while not address.done():
                on_loading(time.monotonic() - began)
                await asyncio.wait({address}, timeout=POLL_S)
            if not address.result():
                log.seek(0)
                lines = log.read().decode("utf-8", errors="replace")
                reasons = re.findall(r"error loading model: (.*)", lines) or lines.splitlines() or ["no reason given"]
                reason = "".join(filter(str.isprintable, reasons[-1]))[:200]
                raise EndpointRefused(f"{fault} ({reason}): {fix}")
            yield address.result().decode().strip()
        finally:
            process.stdin.close()
            if process.returncode is None:
                process.terminate()
            await process.wait()


def demo_server(latency_ms: int) -> AbstractAsyncContextManager[str]:
    """Run the built-in demo model in a process that ends with this one; yield its base URL."""
    words = ("vpp.demo", "--port", "0", "--latency-ms", str(latency_ms), "--exit-with-parent")
    return child_server(*words, fault="the demo model cannot start", fix="try again")


@asynccontextmanager
async def model_server(spec: EndpointSpec, on_loading: OnLoading) -> AsyncIterator[tuple[str, str, str]]:
    """Serve a model file; yield the base URL, its name in the cache, and the key. Raises EndpointRefused."""
    key, status = secrets.token_hex(24), os.stat(spec.gguf)
    words = ("vpp.runs.process", spec.gguf, str(spec.concurrency), str(spec.context_length))
    fault, fix = f"llama.cpp cannot load {Path(spec.gguf).name[:120]}", "take another file, or free memory"
    async with child_server(*words, fault=fault, fix=fix, key=key, on_loading=on_loading) as url:
        yield f"{url}/v1", f"gguf:{spec.gguf}:{status.st_size}:{status.st_mtime_ns}", key


def endpoint_for(path: str, options: EndpointSpec, *, may_use: bool) -> EndpointSpec:
    """Return the endpoint of a model file. may_use: whether the owner of the app allows it.

    Raises InputError. A file that is no model and a missing one get the same line: a path may come from somebody else.
    """
    if not may_use:
        raise InputError("model files are off on this shared app: its owner can set VPP_ALLOW_MODEL_FILES=1")
    try:
        path.encode()  # a name that is no text could not be written to run.json
        file = Path(path).expanduser().absolute()
        is_model = file.is_file()  # a pipe would wait for a writer
        if is_model:
            with file.open("rb") as content:
                is_model = content.read(4) == b"GGUF"
    except (OSError, ValueError, RuntimeError):
        is_model = False
    if not is_model:
        raise InputError(f"{path[:300]!r} is no GGUF file that can be read: give the path of a model file (.gguf)")
    if importlib.util.find_spec(LIBRARY) is None:
        raise InputError(f"a model file needs {LIBRARY}, which is not installed: pip install -r requirements-local.txt")
    slots, context = options.concurrency or SLOTS, options.context_length or CONTEXT
    return replace(options, gguf=str(file), model=file.stem, concurrency=slots, context_length=context)


def serve(model: Path, *, slots: int, context: int) -> None:
    """Load the model, write the server's address, and answer until standard input closes."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # llama.cpp writes to standard output too
    key = sys.stdin.readline().strip()
    # Without waiting for llama.cpp's threads, and also while the model is still loading.
    ending = threading.Thread(target=lambda: os._exit(len(sys.stdin.read())), daemon=True)
    ending.start()
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path, options.model_alias = str(model), {model.stem}
    options.n_parallel, options.n_ctx = slots, slots * context
    options.cont_batching = options.use_jinja = options.offline = True
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = os.cpu_count() or 1
    options.cache_ram_mib = 1_024  # prefixes stay from learner to optimizer and back; unbounded they would take 8 GB
    options.hostnames, options.port, options.api_keys = ["127.0.0.1"], 0, [key]
    options.ui, options.verbosity = False, 2  # errors and warnings: above it, seven lines a call are written
    server = xllamacpp.Server(options)
    print(server.listening_address, file=output, flush=True)
    ending.join()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), slots=int(sys.argv[2]), context=int(sys.argv[3]))
