"""`python -m vpp.demo`: serve the demo model."""

import argparse
import signal
from contextlib import suppress

from vpp.demo.server import Options, serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vpp demo-server", description="Serve the demo model at /v1.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900, help="0 chooses a free port")
    parser.add_argument("--latency-ms", type=float, default=0, help="least time of an answer")
    parser.add_argument("--jitter", type=float, default=0, help="fraction by which the latency varies, from 0 to 1")
    parser.add_argument("--exit-with-parent", action="store_true", help="end when standard input closes")
    try:
        options = Options(**vars(parser.parse_args()))
    except ValueError as error:
        parser.error(str(error))
    # A shell starts background processes with interrupts ignored; this server ends at an interrupt all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            serve(options)
    except OSError as error:
        parser.error(f"{options.host}:{options.port} cannot be listened on ({error.strerror}): choose another --port")


if __name__ == "__main__":
    main()
