"""`python -m vpp.demo`: serves the demo model."""

import argparse
import signal
from contextlib import suppress

from vpp.demo.server import Options, serve


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m vpp.demo", description="Serve the built-in demo model at /v1.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900, help="0 takes a free port")
    parser.add_argument("--latency-ms", type=float, default=0, help="how long an answer takes at least")
    parser.add_argument("--jitter", type=float, default=0, help="latency varies by this fraction, from 0 to 1")
    parser.add_argument("--capacity", type=int, default=0, help="requests worked on at a time; 0 sets no bound")
    parser.add_argument("--fail-rate", type=float, default=0, help="share of requests that fail, from 0 to 1")
    parser.add_argument("--garble-rate", type=float, default=0, help="share of answers made unreadable, from 0 to 1")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input closes")
    return parser


def main() -> None:
    """Reads the command line and serves."""
    parser = _arguments()
    try:
        options = Options(**vars(parser.parse_args()))
    except ValueError as error:
        parser.error(str(error))
    # A shell starts what runs in its background with interrupts ignored; this server is to end at one all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            serve(options)
    except OSError as error:
        parser.error(f"{options.host}:{options.port} cannot be listened on ({error.strerror}): choose another --port")


if __name__ == "__main__":
    main()
