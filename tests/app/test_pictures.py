"""`make pictures` refuses what a picture must not show."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from tests.pictures.prints import Print
from tests.pictures.studio import Studio

pytestmark = pytest.mark.browser
CLEAN = '<link rel="icon" href="data:,"><main data-testid="stMain"><div class="vpp"><h1>Watch</h1>{}</div></main>'
WHERE = "watch 390 light:"
PLANTED = {
    "an exception: it broke": '<div data-testid="stException">it broke</div>',
    "a skeleton": '<div data-testid="stSkeleton">…</div>',
    "a page at work": '<div data-testid="stStatusWidget">running</div>',
    "a stale part": '<div data-stale="true">old</div>',
    "an alert: The run failed": '<div role="alert">The run failed</div>',
    "a page that scrolls sideways": '<div style="width: 3000px">wide</div>',
    "a console error: oh": "<script>console.error('oh')</script>",
    "an error of a script: ah": "<script>throw new Error('ah')</script>",
    "a request outside: http://127.0.0.2:9/": '<img src="http://127.0.0.2:9/" alt="">',
    "a refused request": '<img src="none.png" alt="">',
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """A refused request is meant."""


@pytest.fixture
def studio(browser: Browser, tmp_path: Path) -> Iterator[Studio]:
    """A studio before a server of the files in the test's folder; no page of it ever rests."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    Thread(target=partial(server.serve_forever, poll_interval=0.05)).start()
    yield Studio(browser, f"http://127.0.0.1:{server.server_port}", tmp_path, rest_ms=500)
    server.shutdown()
    server.server_close()


def picture_of(studio: Studio, planted: str, *needs: str) -> bool:
    """Take a picture of a page; return whether it was stored."""
    (studio.folder / "page.html").write_text(CLEAN.format(planted), encoding="utf-8")
    studio.take(Print(name="watch", address="page.html", needs=needs, width=390))
    return (studio.folder / "watch.png").exists()


def test_a_page_with_a_flaw_or_without_its_subject_is_named_and_leaves_no_picture(studio: Studio) -> None:
    assert not picture_of(studio, "".join(PLANTED.values()))
    assert [flaw for flaw in PLANTED if not any(fault.startswith(f"{WHERE} {flaw}") for fault in studio.faults)] == []
    studio.faults.clear()
    assert not picture_of(studio, "", "article.card")
    assert "article.card" in studio.faults[0]
    studio.faults.clear()
    assert picture_of(studio, "", "h1")
    assert studio.faults == []
