"""`python -m vpp.bench.dies_with_parent …`: run `python -m vpp …`, and kill it when its standard input closes.

The run dies with its parent, however the parent ends: a polite stop would still call the model for the evaluation,
while another sweep or another machine runs the cell again.
"""

import os
import runpy
import signal
import sys
import threading


def _kill_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_kill_at_end_of_input, daemon=True).start()
    sys.argv[0] = "vpp"
    runpy.run_module("vpp", run_name="__main__")
