"""What a picture must not show, and what its page must not have done."""

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


def rest(page: Page) -> None:
    """Wait until nothing is being drawn; a moment first, since work begins a little after what asks for it."""
    page.wait_for_timeout(MOMENT_MS)
    page.wait_for_function(AT_REST, timeout=30_000)


def watched(page: Page) -> list[str]:
    """Return a list that fills with what the page asks outside and complains of, from now on."""
    complaints: list[str] = []

    def said(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(PROBED):
            complaints.append(f"a console error: {message.text[:200]}")

    def asked(url: str) -> None:
        if not url.startswith(OWN):
            complaints.append(f"a request outside: {url}")

    def failed(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # leaving a page aborts what it was still loading
            complaints.append(f"a failed request: {request.url} ({request.failure})")

    def answered(response: Response) -> None:
        if response.status >= 400 and not response.url.endswith(PROBED):
            complaints.append(f"a refused request: {response.url} ({response.status})")

    page.on("console", said)
    page.on("pageerror", lambda error: complaints.append(f"an error of a script: {error.message}"))
    page.on("request", lambda request: asked(request.url))
    page.on("websocket", lambda socket: asked(socket.url))
    page.on("requestfailed", failed)
    page.on("response", answered)
    return complaints
