"""Starting a worker as a process of its own, which outlives whoever started it."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping

from vpp.runs.directory import RunDirectory
from vpp.runs.session import Keys, child_environment


def launch(directory: RunDirectory, *, keys: Keys, environment: Mapping[str, str] | None = None) -> int:
    """Starts or goes on with the run in a detached worker; returns its process id. Keys travel by environment only."""
    asked_at = time.time()
    variables = child_environment(os.environ if environment is None else environment)
    for name, key in (("OPENAI_API_KEY", keys.learner), ("VPP_OPTIMIZER_API_KEY", keys.optimizer)):
        if key:
            variables[name] = key
    directory.mark_asked(asked_at)
    with directory.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "vpp", "resume", str(directory.path), "--asked-at", str(asked_at), "--wait-at-cap"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=variables,
            start_new_session=True,
        )
    threading.Thread(target=process.wait, daemon=True).start()  # an ended child stays a zombie until somebody asks
    return process.pid
