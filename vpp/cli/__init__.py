"""The command line: one short function per command, which yields the lines that it prints and returns its result.

Exit codes: 0 done, 1 program error or failed `verify`, 2 bad input, 3 endpoint failed or cap reached, 130 stopped.
"""

import importlib
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import NamedTuple

from vpp.cli.parser import build_parser
from vpp.errors import EndpointError, VppError
from vpp.runtime import no_collecting

DONE, BAD_INPUT, ENDPOINT_FAILED, STOPPED = 0, 2, 3, 130


class Ending(NamedTuple):
    """The end of a command."""

    result: object
    """What --json prints, or a function that returns it."""
    code: int = DONE
    failure: BaseException | None = None
    """Raised after the result is printed."""


Lines = Generator[str, None, Ending]
"""The lines of a command, in words."""


def main(argv: Sequence[str]) -> int:
    """Run one command; print an error that the user can fix as one line on standard error."""
    try:
        options = build_parser().parse_args(argv)
        if headers := getattr(options, "header", []):
            os.environ["VPP_HEADERS"] = "\n".join((os.environ.get("VPP_HEADERS", ""), *headers))
        module, function = options.command.split(":")
        with no_collecting():
            command = getattr(importlib.import_module(module), function)
        return carry_out(command(options), is_json=options.json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python prints a traceback at exit
        return DONE
    except (VppError, OSError) as error:
        return complain(error, ENDPOINT_FAILED if isinstance(error, EndpointError) else BAD_INPUT)
    except KeyboardInterrupt:
        return STOPPED


def carry_out(lines: Lines, *, is_json: bool) -> int:
    """Print a command's lines as they come, or its result alone as one line of JSON; return its exit code."""
    from vpp.cli.system import print_json  # here, since a help text would wait for it

    ending: Ending | None = None
    while ending is None:
        try:
            line = next(lines)
        except StopIteration as end:
            ending = end.value
        else:
            if not is_json:
                print(line, flush=True)
    if is_json:
        print_json(ending.result() if callable(ending.result) else ending.result)
    if ending.failure:
        raise ending.failure
    return ending.code


def complain(about: object, code: int = 1) -> int:
    """Print one line on standard error; return the exit code."""
    say(f"vpp: {about}")
    return code


def say(words: str, *, end: str = "\n") -> None:
    """Print on standard error. The work goes on if that is closed."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            print(words, end=end, file=sys.stderr, flush=True)
