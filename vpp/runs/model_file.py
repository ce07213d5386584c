"""A model file (GGUF) as an endpoint, served with llama.cpp by a process of its own.

`python -m vpp.runs.model_file FILE SLOTS CONTEXT` is that process. It reads its key from standard input, which closes
however the worker ends: then it ends too.
"""

import asyncio
import importlib.util
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from vpp.errors import EndpointRefused, InputError
from vpp.runs.process import child_server
from vpp.runs.spec import EndpointSpec

LIBRARY = "xllamacpp"
SLOTS, CONTEXT = 4, 4_096
"""Answers at a time, and tokens of prompt and answer of each: the prompts of a run fit in."""
TIMEOUT_S = 3_600.0
"""Default seconds a call may take: a laptop writes a few words a second."""
POLL_S = 0.2
PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait must sleep: while they spin, any other busy process slows the model more than tenfold."""
OnLoading = Callable[[float], None]


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


@asynccontextmanager
async def model_server(spec: EndpointSpec, on_loading: OnLoading) -> AsyncIterator[tuple[str, str, str]]:
    """Serve a model file; yield the base URL, its name in the cache, and the key. Raises EndpointRefused."""
    key, began = secrets.token_hex(24), time.monotonic()
    words = ("vpp.runs.model_file", spec.gguf, str(spec.concurrency), str(spec.context_length))
    with TemporaryFile() as log:
        async with child_server(*words, variables=PASSIVE, log=log) as (to_server, output):
            to_server.write(f"{key}\n".encode())
            address = asyncio.ensure_future(output.readline())
            while not address.done():
                on_loading(time.monotonic() - began)
                await asyncio.wait({address}, timeout=POLL_S)
            if not address.result():
                log.seek(0)
                name, reason = Path(spec.gguf).name[:120], _reason(log.read().decode("utf-8", errors="replace"))
                raise EndpointRefused(f"llama.cpp cannot load {name} ({reason}): take another file, or free memory")
            status = os.stat(spec.gguf)
            yield (
                f"{address.result().decode().strip()}/v1",
                f"gguf:{spec.gguf}:{status.st_size}:{status.st_mtime_ns}",
                key,
            )


def _reason(log: str) -> str:
    reasons = re.findall(r"error loading model: (.*)", log) or log.splitlines() or ["no reason given"]
    return "".join(c for c in reasons[-1] if c.isprintable())[:200]


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
