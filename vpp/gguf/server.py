"""Process that serves a model file with llama.cpp until its last user has gone."""

import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, NoReturn
from urllib.parse import urlsplit

from vpp import files
from vpp.gguf.folder import Listening, ServerFolder
from vpp.gguf.plan import machine_cores

LIBRARY = "xllamacpp"
PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait must sleep: while they spin, any other busy process slows the model more than tenfold."""
WARNINGS = 2
"""Log level of llama.cpp: errors and warnings. Above it, seven lines a call are written."""
LOCKED_WITHIN_S = 5.0
GRACE_S = 5
"""Seconds without a user after which the server ends."""


def serve(model: Path, *, slots: int, context: int, folder: ServerFolder) -> NoReturn:
    """Load the model, record its address, wait until the last user has gone, and end the process."""
    held = _locked(folder.server)
    key = secrets.token_hex(24)
    try:
        server = _loaded(model, slots=slots, context=context, key=key)
    except RuntimeError as error:
        sys.exit(f"llama.cpp: {error}")
    folder.publish(Listening(port=urlsplit(server.listening_address).port or 0, pid=os.getpid(), key=key))
    users = _left_by_all(folder)
    folder.forget()
    print("nobody uses the model any more", file=sys.stderr, flush=True)
    os._exit(int(users.closed or held.closed))  # with both locks, and without waiting for llama.cpp's threads


def _locked(path: Path) -> BinaryIO:
    """Return the server's own lock, held. A client that looks whether a server runs holds it for a moment."""
    ends_at = time.monotonic() + LOCKED_WITHIN_S
    while (held := files.locked(path)) is None:
        if time.monotonic() > ends_at:
            sys.exit("another server of this folder is running")
        time.sleep(0.02)
    return held


def _loaded(model: Path, *, slots: int, context: int, key: str) -> Any:
    """Return a llama.cpp server on a free local port. Raises RuntimeError if the model cannot be loaded."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(model)
    options.model_alias = {model.stem}
    options.n_parallel, options.n_ctx = slots, slots * context
    options.cont_batching = options.use_jinja = True
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = machine_cores()
    options.cache_ram_mib = 0  # a cache of prompts beside the slots' own would take 8 GB more than was planned
    options.hostnames, options.port = ["127.0.0.1"], 0
    options.api_keys = [key]
    options.ui = False
    options.verbosity = WARNINGS
    options.offline = True
    return xllamacpp.Server(options)


def _left_by_all(folder: ServerFolder) -> BinaryIO:
    """Wait for the last user; return the users' lock, held, so that nobody begins to use a server that is ending."""
    alone_s = 0
    while True:
        time.sleep(1)
        users = files.locked(folder.users)
        alone_s = alone_s + 1 if users else 0
        if users and alone_s >= GRACE_S:
            return users
        if users:
            users.close()
