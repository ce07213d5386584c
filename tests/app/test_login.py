"""A shared app behind a login: two users in two browsers, and what neither sees of the other."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.conftest import App, opening, serving
from tests.processes import PENGUINS
from vpp.runs.store import EXAMPLE

pytest.importorskip("authlib", reason="no Authlib: pip install -r requirements-login.txt")
SECRETS = """\
VPP_LOGIN = true
VPP_ALLOWED_USERS = "*@lab.org"
[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "a-secret-of-the-tests-that-is-long-enough"
client_id = "vpp"
client_secret = "client-secret-of-the-tests"
server_metadata_url = "{url}/.well-known/openid-configuration"
"""


@dataclass(frozen=True)
class Shared:
    app: App
    ann: Page
    bob: Page
    run: str


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Ann, who has opened the example, and Bob, who has just logged in."""
    from tests.app.provider import provider

    folder, runs = tmp_path_factory.mktemp("secrets"), tmp_path_factory.mktemp("runs")
    with provider() as url, pytest.MonkeyPatch.context() as patch:
        (folder / "secrets.toml").write_text(SECRETS.format(url=url))
        patch.setenv("STREAMLIT_SECRETS_FILES", str(folder / "secrets.toml"))
        with serving(runs) as app, logged_in(browser, app, "ann") as ann, logged_in(browser, app, "bob") as bob:
            ann.get_by_role("button", name="Look at a finished example").click()
            ann.wait_for_url(re.compile(r"/watch\?run="))
            expect(ann.locator("[data-testid=stSidebar]")).to_contain_text("enguins")
            yield Shared(app, ann, bob, EXAMPLE)


@contextmanager
def login_page(browser: Browser, app: App) -> Iterator[Page]:
    with opening(browser) as context:
        page = context.new_page()
        page.goto(app.url)
        yield page


@contextmanager
def logged_in(browser: Browser, app: App, who: str) -> Iterator[Page]:
    with login_page(browser, app) as page:
        log_in(page, who)
        expect(page.get_by_text("Logged in:")).to_be_visible()
        yield page


def log_in(page: Page, who: str) -> None:
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name=who).click()


def folders(app: App) -> list[Path]:
    return sorted(app.runs.glob("user-*"))


def test_no_page_shows_anything_before_a_login_or_to_a_user_not_on_the_list(shared: Shared, browser: Browser) -> None:
    with login_page(browser, shared.app) as page:
        for path in ("", f"watch?run={shared.run}"):
            page.goto(f"{shared.app.url}/{path}")
            expect(page.get_by_role("heading", name="Log in to see your runs")).to_be_visible()
            assert page.locator("[data-testid=stSidebarNavLink]").count() == 0
            assert "penguin" not in page.content().lower()
        log_in(page, "eve")
        expect(page.get_by_text("You cannot be let in")).to_be_visible()
        assert len(folders(shared.app)) == 2
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in to see your runs")).to_be_visible()


def test_a_user_does_not_see_anothers_run_by_list_or_by_link(shared: Shared) -> None:
    bob = shared.bob
    for name in ("watch", "report"):
        bob.goto(f"{shared.app.url}/{name}?run={shared.run}")
        expect(bob.get_by_text("This run cannot be opened")).to_be_visible()
    bob.goto(f"{shared.app.url}/compare")
    expect(bob.get_by_text("Logged in:")).to_be_visible()
    expect(bob.get_by_text("No runs yet").or_(bob.get_by_text("Nothing to compare"))).to_be_visible()
    assert "enguins" not in bob.locator("[data-testid=stSidebar]").inner_text()
    assert "enguins" in shared.ann.locator("[data-testid=stSidebar]").inner_text()


def test_a_claim_is_shown_as_the_text_it_is_and_shapes_no_folders_name(shared: Shared) -> None:
    expect(shared.ann.get_by_text("Logged in: Ann <i>of</i> **the lab**")).to_be_visible()
    found = folders(shared.app)
    assert len(found) == 2
    assert all(re.fullmatch(r"user-[0-9a-f]{24}", folder.name) for folder in found)
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in found)
    html = {json.loads((folder / "user.json").read_text())["email"]: folder for folder in found}
    assert (html["ann@lab.org"] / shared.run / "run.json").is_file()
    assert [path.name for path in html["bob@lab.org"].iterdir() if path.is_dir() and path.name[0] != "."] == []


def test_a_user_uploads_a_table(shared: Shared) -> None:
    shared.bob.goto(shared.app.url)
    shared.bob.locator('input[type="file"]').set_input_files(str(PENGUINS))
    expect(shared.bob.get_by_text("species has 3 labels, so this is classification.")).to_be_visible()
