"""A watcher with a browser: the page itself notes when it first holds a step."""

from dataclasses import dataclass, field

from playwright.sync_api import Browser, BrowserContext, Page

from tests.watchers.seen import Seen

NOTE = """() => {
    window.__seen = {}
    setInterval(() => {
        const newest = document.querySelector('.vpp.scrubber')?.data?.newest
        if (newest !== null && newest !== undefined) window.__seen[newest] ??= Date.now() / 1000
    }, 50)
}"""
WRONG = '[data-testid="stException"], [data-testid="stConnectionStatus"], .vpp .state.err'


@dataclass
class Window(Seen):
    """One tab at the page Watch of a run, in a context of its own."""

    _context: BrowserContext | None = None
    _page: Page | None = None
    _frames: list[int] = field(default_factory=list)

    def open(self, browser: Browser, address: str) -> None:
        self._context = browser.new_context(viewport={"width": 1280, "height": 900})
        self._context.add_init_script(f"({NOTE})()")
        self._page = self._context.new_page()
        self._page.on("pageerror", lambda error: self.faults.append(str(error)[:300]))
        self._page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda data: self._frames.append(len(data)))
        )
        self._page.goto(f"{address}/watch?run={self.run}")

    def wait(self, seconds: float) -> None:
        """Playwright's way: its pages go on meanwhile."""
        assert self._page
        self._page.wait_for_timeout(1000 * seconds)

    def close(self) -> None:
        """Takes from the page what it noted."""
        assert self._page
        assert self._context
        self.first_at = {int(step): at for step, at in self._page.evaluate("window.__seen").items()}
        self.received_bytes = sum(self._frames)
        self.faults += self._page.locator(WRONG).all_inner_texts()
        self._context.close()
