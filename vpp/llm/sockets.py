"""How many connections this process may open."""

import resource
from contextlib import suppress

OTHER_FILES = 200
"""Files and sockets that a process has open beside its connections."""


def affordable(window: int) -> int:
    """Of so many connections, those that can be opened, at least 1.

    The process asks for more files where its limit is short of them.
    """
    wanted, (soft, hard) = window + OTHER_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return window
    with suppress(OSError, ValueError):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
    return max(1, min(window, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES))
