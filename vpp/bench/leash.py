"""`python -m vpp.bench.leash …`: `python -m vpp …`, ended at once when standard input ends.

So a run ends with who started it, however that ended: nobody is left to take its directory, and a stop would still ask
about test and training rows while the cell is begun again elsewhere.
"""

import os
import runpy
import signal
import sys
import threading


def _hold() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_hold, daemon=True).start()
    sys.argv[0] = "vpp"
    runpy.run_module("vpp", run_name="__main__")
