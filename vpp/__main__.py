"""`python -m vpp`, and the command `vpp` of an installed package."""

import io
import os
import sys

from vpp.cli import main


def run() -> None:
    # numpy's algebra starts a thread a core when it is imported, and nothing here is large enough for two.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The client's models ask every installed package for plugins of pydantic; none has a part in a run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A terminal in Latin-1 shows a question mark for a sign that it lacks.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
