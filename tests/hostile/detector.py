"""A watch over a browser page: what hostile text did there, or asked for."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page

from tests.hostile.payload import WORDS

SCRIPT = (Path(__file__).parent / "watch.js").read_text().replace("/*WORDS*/ []", json.dumps(WORDS))
WITHIN = ("data", "blob", "about")
REFUSED = ("Content Security Policy", "Refused to", "violates the following")


@dataclass
class Detector:
    """Every fault of the pages of a context: requests elsewhere, dialogs, other windows, elements made by a text.

    To be made before a page is gone to.
    """

    context: BrowserContext
    home: str
    """The one address that pages may ask: scheme, host and port; or a file's."""
    notes: list[str] = field(default_factory=list)
    """Requests and navigation elsewhere, dialogs, other windows, complaints of a content security policy."""

    def __post_init__(self) -> None:
        self.context.add_init_script(SCRIPT)
        self.context.on("request", lambda request: self._go("asked", request.url))
        self.context.on("page", self._watch)
        self.context.on("dialog", self._dialog)
        self.context.on("console", self._console)

    def _watch(self, page: Page) -> None:
        if len(self.context.pages) > 1:
            self.notes.append(f"a window was opened: {page.url}")
        page.on("websocket", lambda socket: self._go("asked", socket.url))
        page.on("framenavigated", lambda frame: self._go("went to", frame.url))

    def _go(self, how: str, url: str) -> None:
        parts, home = urlsplit(url), urlsplit(self.home)
        is_home = url == self.home if home.scheme == "file" else parts.netloc == home.netloc
        if not is_home and parts.scheme not in WITHIN:
            self.notes.append(f"{how} {url}")

    def _dialog(self, dialog: Dialog) -> None:
        self.notes.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if any(words in message.text for words in REFUSED):
            self.notes.append(message.text)

    def faults(self, page: Page) -> list[str]:
        """Return all that hostile text has done so far; empty is well."""
        return [*page.evaluate("() => window.__look()"), *self.notes]
