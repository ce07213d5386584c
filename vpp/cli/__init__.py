"""The command line: one thin function a command.

Exit codes: 0 done, 2 bad input, 3 the endpoint failed, 130 stopped.
"""

import importlib
import sys
from collections.abc import Sequence

from vpp.cli.parser import build_parser
from vpp.errors import EndpointError, VppError

DONE, BAD_INPUT, ENDPOINT_FAILED, STOPPED = 0, 2, 3, 130


def main(argv: Sequence[str]) -> int:
    """Runs one command; errors a user can mend become one line on standard error."""
    options = build_parser().parse_args(argv)
    module, function = options.command.split(":")
    try:
        return int(getattr(importlib.import_module(module), function)(options))
    except EndpointError as error:
        return _complain(error, ENDPOINT_FAILED)
    except VppError as error:
        return _complain(error, BAD_INPUT)
    except BrokenPipeError:
        return DONE
    except KeyboardInterrupt:
        return STOPPED


def _complain(error: Exception, code: int) -> int:
    print(f"vpp: {error}", file=sys.stderr)
    return code
