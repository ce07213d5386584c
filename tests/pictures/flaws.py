"""What a picture must not show, and what its page must not have done."""

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page, Request, Response

MOMENT_MS = 300
OWN = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
SEEN = """({isLive, isAlert}) => {
  const drawn = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden'
  const all = (selector) => [...document.querySelectorAll(selector)].filter(drawn)
  const said = (element) => element.innerText.trim().replace(/\\s+/g, ' ').slice(0, 120)
  const found = all('[data-testid="stException"]').map((box) => `an exception: ${said(box)}`)
  if (all('[data-testid*="skeleton" i]').length) found.push('a skeleton')
  if (!isLive && all('[data-testid="stStatusWidget"]').length) found.push('a page at work')
  if (!isLive && all('[data-stale="true"]').length) found.push('a stale part')
  if (!isAlert) found.push(...all('.vpp [role="alert"]').map((alert) => `an alert: ${said(alert)}`))
  const wide = [document.documentElement, ...document.querySelectorAll('[data-testid="stMain"]')]
  if (wide.some((box) => box.scrollWidth > box.clientWidth + 1)) found.push('a page that scrolls sideways')
  return found
}"""
"""Test ids of Streamlit 1.67."""
AT_REST = """() => !document.querySelector(
  '[data-testid*="skeleton" i], [data-testid="stStatusWidget"], [data-stale="true"]')"""
PROBED = ("/_stcore/health", "/_stcore/host-config")
"""Streamlit's first requests from a page opened by its address: sent below the page's path, and refused there."""


def flaws(page: Page, *, is_live: bool = False, is_alert: bool = False) -> list[str]:
    """Return what is wrong with the page, a few words each.

    is_live: the page draws itself again each second. is_alert: an error is its subject.
    """
    return list(page.evaluate(SEEN, {"isLive": is_live, "isAlert": is_alert}))


def rest(page: Page, *, within_ms: float = 30_000) -> None:
    """Wait until nothing is being drawn; a moment first, since work begins a little after what asks for it."""
    page.wait_for_timeout(MOMENT_MS)
    page.wait_for_function(AT_REST, timeout=within_ms)


@dataclass
class Witness:
    """What a page asked for and complained of."""

    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note the page's complaints from now on."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"an error of a script: {error.message}"))
        page.on("request", lambda request: self._address(request.url))
        page.on("websocket", lambda socket: self._address(socket.url))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(PROBED):
            self.complaints.append(f"a console error: {message.text[:200]}")

    def _address(self, url: str) -> None:
        if not url.startswith(OWN):
            self.complaints.append(f"a request outside: {url}")

    def _failed(self, request: Request) -> None:
        """Note a failed request. Leaving a page aborts what it was still loading: that is no failure."""
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"a failed request: {request.url} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not response.url.endswith(PROBED):
            self.complaints.append(f"a refused request: {response.url} ({response.status})")
