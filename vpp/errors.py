"""Errors a user can act on, one class a remedy; each message says what is wrong, where, and how to fix it.

A command ends with exit code 2 after an InputError or a RunError, with 3 after an EndpointError.
"""


class VppError(Exception):
    """Any error this library raises on purpose; its text is one line fit for a user."""


class InputError(VppError):
    """Data, an option or a file that cannot be used as given."""


class DataError(InputError):
    """A table that cannot be read, or has no column that can be predicted."""


class RunError(VppError):
    """A run directory that cannot be used as asked."""


class RunLocked(RunError):
    """Another living worker holds the run directory."""


class DiskRefused(RunError):
    """The disk under a run refuses what must be written."""


class JournalDamaged(RunError):
    """A line of the journal or of the answers cannot be read, or the journal is missing."""


class EndpointError(VppError):
    """The model's server failed for good."""


class EndpointRefused(EndpointError):
    """The server answered no: key refused, model unknown, request not understood; or its model never gives a text."""


class PromptRefused(EndpointRefused):
    """The server answers no to this prompt, by a filter for example; it may answer others."""

    def __init__(self, message: str, *, words: str = "", kind: str = "") -> None:
        """words: the reason alone, without the server's address. kind: that by which it is counted."""
        super().__init__(message)
        self.words, self.kind = words or message, kind


class EndpointUnreachable(EndpointError):
    """The server does not answer, or answers nothing usable, after every retry."""


def quoted(text: str) -> str:
    """Quote a cell or label for a message, cut at 40 characters."""
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
