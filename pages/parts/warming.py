"""What a server does for its first page before anybody asks for it, in a thread, as soon as it is up."""

import gc
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Event, Thread

from streamlit.starlette import App

FIRST = ("PIL.Image", "pages.parts.front", "pages.parts.form")
"""What the first page needs, in its order; through PIL Streamlit reads the icon."""
WATCH = ("vpp.drawing.figures", "vpp.drawing.cards", "vpp.wording.progress", "vpp.wording.happening")
"""What the page of a first run needs beside it."""


@asynccontextmanager
async def warming(_: App) -> AsyncIterator[None]:
    """As long as the server lives.

    Not a daemon: one that is in the middle of an import would hold the lock that a server's end needs.
    """
    ends = Event()
    Thread(target=warm, args=(ends,)).start()
    try:
        yield
    finally:
        ends.set()


def warm(ends: Event) -> None:
    """All of it, unless the server ends before."""
    # With its first element Streamlit looks through all modules for who called it, which takes a quarter of a second
    # the first time: `inspect` keeps what it has found.
    inspect.stack()
    for name in (*FIRST, *WATCH):
        if not ends.is_set():
            import_module(name)
    # What is there now stays: a collection that looks through all of it would hold every watcher up for 0.1 s.
    gc.freeze()
