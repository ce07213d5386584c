"""Starting a worker as a process of its own, which outlives whoever started it."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from vpp import files
from vpp.errors import DiskRefused
from vpp.runs.directory import RunDirectory
from vpp.runs.disk import refusal
from vpp.runs.session import Keys, child_environment

LOG_BYTES = 2**20
"""From which on a worker's log begins anew; the one before is kept beside it."""


def launch(
    directory: RunDirectory,
    *,
    keys: Keys,
    environment: Mapping[str, str] | None = None,
    from_before_damage: bool = False,
) -> int:
    """Starts or goes on with the run in a detached worker; returns its process id. Keys travel by environment only.

    from_before_damage: whether a damaged journal's rest is set aside first. Raises DiskRefused.
    """
    variables = child_environment(os.environ if environment is None else environment) | keys.variables()
    heard = directory.mark_asked().heard
    try:
        process = _started(directory, variables, heard, ["--from-before-damage"] if from_before_damage else [])
    except OSError as error:
        raise DiskRefused(refusal(error, directory.path)) from None
    threading.Thread(target=process.wait, daemon=True).start()  # an ended child stays a zombie until somebody asks
    return process.pid


def _started(
    directory: RunDirectory, variables: Mapping[str, str], heard: str, options: Sequence[str]
) -> subprocess.Popen[bytes]:
    turn_over(directory.log)
    with files.appended(directory.log) as log:
        return subprocess.Popen(
            [sys.executable, "-m", "vpp", "resume", str(directory.path), f"--heard={heard}", "--wait-at-cap", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=variables,
            start_new_session=True,
        )


def turn_over(log: Path) -> None:
    """Puts a log that has grown large aside."""
    with suppress(OSError):
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_name(f"{log.name}.1"))
