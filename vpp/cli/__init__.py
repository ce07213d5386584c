"""The command line: one thin function a command.

Exit codes: 0 done, 1 a fault of the program or a run that `verify` finds wrong, 2 bad input, 3 the endpoint failed or
the cap is reached, 130 stopped.
"""

import importlib
import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence

from vpp.cli.parser import build_parser
from vpp.collecting import no_collecting
from vpp.errors import EndpointError, InputError, VppError

DONE, BAD_INPUT, ENDPOINT_FAILED, STOPPED = 0, 2, 3, 130


def main(argv: Sequence[str]) -> int:
    """Runs one command; errors a user can mend become one line on standard error."""
    if any(map(_is_undecodable, argv)):
        return _complain(InputError("an argument is not UTF-8 text: rename the file, or write it in UTF-8"), BAD_INPUT)
    options = build_parser().parse_args(argv, Namespace(asked_at=time.time()))
    module, function = options.command.split(":")
    try:
        with no_collecting():
            command = getattr(importlib.import_module(module), function)
        return int(command(options))
    except EndpointError as error:
        return _complain(error, ENDPOINT_FAILED)
    except VppError as error:
        return _complain(error, BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python would complain as it ends
        return DONE
    except OSError as error:
        return _complain(error, BAD_INPUT)
    except KeyboardInterrupt:
        return STOPPED


def _is_undecodable(argument: str) -> bool:
    """Whether it holds bytes that are no UTF-8, which Python keeps as lone surrogates and no record can hold."""
    return any("\ud800" <= character <= "\udfff" for character in argument)


def _complain(error: Exception, code: int) -> int:
    print(f"vpp: {error}", file=sys.stderr)
    return code
