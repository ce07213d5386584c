"""A watch over a browser page: what hostile text did there, or asked for."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, WebSocket

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
    outside: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """Dialogs, downloads that nobody asked for, complaints of a content security policy, windows, navigation."""

    def __post_init__(self) -> None:
        self.context.add_init_script(SCRIPT)
        self.context.on("request", self._asked)
        self.context.on("page", self._opened)
        for page in self.context.pages:
            self._watch(page)

    def forget(self) -> None:
        """Clear what earlier pages did."""
        self.outside.clear()
        self.said.clear()

    def _opened(self, page: Page) -> None:
        if len(self.context.pages) > 1:
            self.said.append(f"a window was opened: {page.url}")
        self._watch(page)

    def _watch(self, page: Page) -> None:
        page.on("websocket", self._socket)
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("framenavigated", lambda frame: self._is_home(frame.url) or self.said.append(f"went to {frame.url}"))

    def _asked(self, request: Request) -> None:
        if not self._is_home(request.url):
            self.outside.append(request.url)

    def _socket(self, socket: WebSocket) -> None:
        if not self._is_home(socket.url):
            self.outside.append(socket.url)

    def _dialog(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if any(words in message.text for words in REFUSED):
            self.said.append(message.text)

    def _is_home(self, url: str) -> bool:
        parts = urlsplit(url)
        if self.home.startswith("file:"):
            return url == self.home or parts.scheme in WITHIN
        return parts.scheme in WITHIN or parts.netloc == urlsplit(self.home).netloc

    def faults(self, page: Page) -> list[str]:
        """All that hostile text has done so far; empty is well."""
        made: list[str] = page.evaluate("() => window.__look()")
        return [*made, *(f"asked {url}" for url in self.outside), *self.said]
