"""Inputs run again without instruments: `python -m tests.fuzz.replay TARGET FILE…`, each in a process of its own.

Prints a JSON object a file: what was raised, the processor time in seconds, and the process's peak memory in MB.
"""

import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz.targets import BY_NAME, Target

HANGS_S = 60


def main(name: str, *files: str) -> None:
    """Prints what each did."""
    target = BY_NAME[name]
    target.check(next(iter(target.seeds())))  # imports and caches are no input's doing
    for file in files:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, json.dumps(run(target, Path(file).read_bytes())).encode()[:60_000])
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(child, 0)
        found = json.loads(told) if told else {"raised": f"the process ended with status {status}"}
        print(json.dumps({"file": file, **found}), flush=True)


def run(target: Target, data: bytes) -> dict[str, object]:
    """In this process."""
    warnings.simplefilter("error")
    signal.alarm(HANGS_S)
    began, raised = time.process_time(), ""
    try:
        target.check(data)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__} at {frame.filename}:{frame.lineno}: {error}"[:2_000]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"raised": raised, "cpu_s": round(time.process_time() - began, 3), "peak_mb": round(peak, 1)}


if __name__ == "__main__":
    main(*sys.argv[1:])
