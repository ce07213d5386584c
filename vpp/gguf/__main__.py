"""`python -m vpp.gguf`: serves a model file for the runs that share its state folder."""

import argparse
import signal
from pathlib import Path

from vpp.gguf.folder import ServerFolder
from vpp.gguf.server import serve


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m vpp.gguf", description="Serve a GGUF file on a loopback port.")
    parser.add_argument("model", type=Path, metavar="FILE.gguf")
    parser.add_argument("--slots", type=int, required=True, help="answers at a time")
    parser.add_argument("--context", type=int, required=True, help="tokens in each slot")
    parser.add_argument("--state-dir", type=Path, required=True, help="where users of this server leave their locks")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt at the terminal is for the worker
    serve(options.model, slots=options.slots, context=options.context, folder=ServerFolder(options.state_dir))


if __name__ == "__main__":
    main()
