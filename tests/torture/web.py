"""`python -m tests.torture.web RUN_DIR`: launches a worker as the app does, says its process id, and stays."""

import sys
import time

from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys
from vpp.runs.process import launch


def main() -> None:
    """Prints the worker's process id on a line."""
    print(launch(RunDirectory(sys.argv[1]), keys=Keys()), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
