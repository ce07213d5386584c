"""A model file as an endpoint, and its server, which runs with the same context length share."""

import asyncio
import importlib.util
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from vpp import files
from vpp.errors import DiskRefused, EndpointRefused, EndpointUnreachable, InputError
from vpp.gguf.folder import Listening, ServerFolder, content_hash
from vpp.gguf.header import Header, read_header
from vpp.gguf.plan import Plan, check_fits, machine_cores, machine_memory, plan
from vpp.gguf.server import LIBRARY, PASSIVE
from vpp.runs.disk import refusal
from vpp.runs.spec import EndpointSpec

TIMEOUT_S = 3_600.0
"""Default seconds a call may take: a laptop writes a few words a second."""
LONGEST_LOAD_S = 1_800.0
POLL_S = 0.2
OnLoading = Callable[[float], None]
"""Called with the seconds since loading began."""
_LOAD_ERROR = re.compile(r"error loading model: (.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running server of a model file."""

    base_url: str
    key: str = field(repr=False)
    address: str
    """Its name in the response cache, made from the file's content, not from its path or the port."""


def endpoint_for(path: str, asked: EndpointSpec) -> tuple[EndpointSpec, Header, Plan]:
    """Return the endpoint of a model file with slots and context for this machine, the file's header, and the plan.

    asked: further options of the endpoint. Raises InputError if the file cannot be used, or xllamacpp is missing.
    """
    header = read_header(path)
    chosen = plan(header, memory_bytes=machine_memory(), cores=machine_cores(), context=asked.context_length)
    check_installed()
    endpoint = replace(
        asked,
        gguf=str(Path(path).expanduser().absolute()),
        model=header.name,
        slots=chosen.slots,
        concurrency=asked.concurrency or chosen.slots,
        context_length=chosen.context,
    )
    return endpoint, header, chosen


def check_installed() -> None:
    """Raise InputError if the library that serves model files is missing."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise InputError(
            f"a model file needs the package {LIBRARY}, which is not installed: pip install -r requirements-local.txt"
        )


def check_allowed(home: Path | None) -> Path:
    """Return the folder of servers. Raises InputError if the owner of a shared app has not allowed model files."""
    if home is None:
        raise InputError(
            "model files are not used on this shared app: take another model, or ask its owner to set "
            "VPP_ALLOW_MODEL_FILES=1, without VPP_DEMO_ONLY"
        )
    return home


@asynccontextmanager
async def model_server(
    spec: EndpointSpec, home: Path | None, *, environment: Mapping[str, str], on_loading: OnLoading
) -> AsyncIterator[Served]:
    """Start the server of a model file unless it is running; it ends soon after its last user.

    home: folder of all such servers; None if they are not allowed. environment: of a new server process.
    Raises InputError if the file cannot be used, EndpointRefused if llama.cpp cannot load it, EndpointUnreachable if
    that takes too long, DiskRefused.
    """
    folders, model = check_allowed(home).absolute(), Path(spec.gguf)
    header = read_header(model)
    check_fits(header, slots=spec.slots, context=spec.context_length, memory_bytes=machine_memory())
    check_installed()
    began = time.monotonic()

    def wait() -> None:
        seconds = time.monotonic() - began
        on_loading(seconds)
        if seconds > LONGEST_LOAD_S:
            raise EndpointUnreachable(f"{model.name} was not loaded within {LONGEST_LOAD_S:g} s: take a smaller model")

    with ExitStack() as locks:
        with _disk(folders):
            folder = ServerFolder.of(folders, model, slots=spec.slots, context=spec.context_length)
            locks.enter_context(await _held(folder.users, wait, shared=True))
            stop = threading.Event()
            hashing = asyncio.ensure_future(asyncio.to_thread(content_hash, folders, model, stop=stop))
            locks.callback(hashing.cancel)
            locks.callback(stop.set)  # cancelling does not end a thread
            server = await _running(folder, spec, environment, wait)
            while not hashing.done():
                wait()
                await asyncio.sleep(POLL_S)
            address = f"gguf:{hashing.result()}"
        yield Served(base_url=f"http://127.0.0.1:{server.port}/v1", key=server.key, address=address)


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    """Turn an error of the disk into DiskRefused."""
    try:
        yield
    except OSError as error:
        raise DiskRefused(refusal(error, folder)) from None


async def _held(path: Path, wait: Callable[[], None], *, shared: bool = False) -> BinaryIO:
    """Wait for a lock and return its file."""
    while (file := files.locked(path, shared=shared)) is None:
        wait()
        await asyncio.sleep(POLL_S)
    return file


async def _running(
    folder: ServerFolder, spec: EndpointSpec, environment: Mapping[str, str], wait: Callable[[], None]
) -> Listening:
    """Return the server. One of those who need it starts it, while the others wait."""
    process: subprocess.Popen[bytes] | None = None
    with await _held(folder.start, wait):
        try:
            while True:
                is_alive = folder.is_alive()
                if is_alive and (server := folder.listening()):
                    return server
                if process is None and not is_alive:
                    process = _started(folder, spec, environment)
                    threading.Thread(target=process.wait, daemon=True).start()  # else it stays a zombie
                elif process is not None and process.returncode is not None:
                    raise _not_loaded(folder, spec, process.returncode)
                wait()
                await asyncio.sleep(POLL_S)
        except BaseException:
            if process is not None:
                process.kill()
            raise


def _started(folder: ServerFolder, spec: EndpointSpec, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    folder.forget()
    size = ("--slots", str(spec.slots), "--context", str(spec.context_length))
    with files.written(folder.log) as log:
        return subprocess.Popen(
            [sys.executable, "-m", "vpp.gguf", spec.gguf, *size, "--state-dir", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**environment, **PASSIVE},
            start_new_session=True,
        )


def _not_loaded(folder: ServerFolder, spec: EndpointSpec, code: int) -> EndpointRefused:
    """Return the error of a server that ended, with the reason from its log."""
    name = Path(spec.gguf).name[:120]
    if code == -signal.SIGKILL:
        return EndpointRefused(f"{name} was not loaded, as the system ended llama.cpp: free memory, then resume")
    lines = folder.end_of_log()
    reasons = [match[1] for line in lines if (match := _LOAD_ERROR.search(line))] or lines[-1:]
    words = "".join(c for c in reasons[-1] if c.isprintable())[:200] if reasons else f"exit code {code}"
    return EndpointRefused(f"llama.cpp cannot load {name} ({words}): download it again, or take another model file")
