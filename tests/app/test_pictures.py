"""`make pictures` refuses what a picture must not show."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from tests.pictures.prints import PRINTS
from tests.pictures.scenes import SCENES, Scene
from tests.pictures.studio import Studio, whole

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
    """A studio before a server of the files in the test's folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    Thread(target=partial(server.serve_forever, poll_interval=0.05)).start()
    yield Studio(browser, f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


def picture_of(studio: Studio, folder: Path, planted: str, *needs: str) -> Path:
    """Take a picture; return its path. A refused picture leaves no file there."""
    (folder / "page.html").write_text(CLEAN.format(planted), encoding="utf-8")
    scene = Scene(name="watch", stage="finished", address="page.html", needs=needs)
    studio.take(scene, "light", 390, whole(folder / "picture.png"))
    return folder / "picture.png"


def test_a_page_without_a_flaw_is_photographed(studio: Studio, tmp_path: Path) -> None:
    assert picture_of(studio, tmp_path, "", "h1").exists()
    assert studio.faults == []


def test_every_flaw_of_a_page_is_named_and_no_picture_kept(studio: Studio, tmp_path: Path) -> None:
    studio.rest_ms = 500  # it never rests
    assert not picture_of(studio, tmp_path, "".join(PLANTED.values())).exists()
    unnamed = [flaw for flaw in PLANTED if not any(fault.startswith(f"{WHERE} {flaw}") for fault in studio.faults)]
    assert unnamed == []


def test_a_page_that_lacks_its_subject_is_not(studio: Studio, tmp_path: Path) -> None:
    studio.rest_ms = 500  # it never shows one
    assert not picture_of(studio, tmp_path, "", "article.card").exists()
    assert "article.card" in studio.faults[0]


def test_every_picture_of_the_docs_is_of_a_scene() -> None:
    assert {wanted.scene for wanted in PRINTS} <= {scene.name for scene in SCENES}
