"""The command line: one short function per command.

Exit codes: 0 done, 1 program error or failed `verify`, 2 bad input, 3 endpoint failed or cap reached, 130 stopped.
"""

import importlib
import os
import sys
from collections.abc import Sequence

from vpp.cli.parser import build_parser
from vpp.errors import EndpointError, InputError, VppError
from vpp.runtime import no_collecting

DONE, BAD_INPUT, ENDPOINT_FAILED, STOPPED = 0, 2, 3, 130


def main(argv: Sequence[str]) -> int:
    """Run one command; print an error that the user can fix as one line on standard error."""
    # Python turns bytes that are not UTF-8 into lone surrogates.
    if any("\ud800" <= character <= "\udfff" for argument in argv for character in argument):
        return _complain(InputError("an argument is not UTF-8 text: rename the file, or write it in UTF-8"), BAD_INPUT)
    try:
        options = build_parser().parse_args(argv)
        if headers := getattr(options, "header", []):
            os.environ["VPP_HEADERS"] = "\n".join((os.environ.get("VPP_HEADERS", ""), *headers))
        module, function = options.command.split(":")
        with no_collecting():
            command = getattr(importlib.import_module(module), function)
        return int(command(options))
    except EndpointError as error:
        return _complain(error, ENDPOINT_FAILED)
    except VppError as error:
        return _complain(error, BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python prints a traceback at exit
        return DONE
    except OSError as error:
        return _complain(error, BAD_INPUT)
    except KeyboardInterrupt:
        return STOPPED


def _complain(error: Exception, code: int) -> int:
    print(f"vpp: {error}", file=sys.stderr)
    return code
