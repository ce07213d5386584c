"""Each violation that is called Streamlit's own is there on a page that has nothing of ours."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.access import axe
from tests.access.axe import LISTED
from tests.app.conftest import ROOT, App, serving

pytestmark = pytest.mark.browser
BARE = """
import streamlit as st
st.file_uploader("A file")
st.multiselect("Some", ["one", "two"], default=["one"])
st.button("Go", type="primary")
st.code("x = 1")
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """A server of Streamlit's own look: no theme and no stylesheet of ours is in its folder."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "bare.py").write_text(BARE)
    with serving(folder, folder / "bare.py") as app:
        yield app


def test_each_listed_violation_is_streamlits_own(page: Page, bare: App) -> None:
    page.goto(bare.url)
    page.get_by_test_id("stCode").wait_for()
    found = {(each.rule, each.testid) for each in axe.findings(page)}
    page.locator('input[type="file"]').set_input_files(__file__)
    page.get_by_test_id("stFileChip").wait_for()
    found |= {(each.rule, each.testid) for each in axe.findings(page)}
    kept = [each for each in LISTED if (each.rule, each.testid) not in found]
    assert not kept, f"Streamlit keeps these rules now: remove them from the list: {kept}"


def test_the_list_is_the_one_in_the_docs() -> None:
    page = (ROOT / "docs" / "accessibility.md").read_text(encoding="utf-8")
    told = [tuple(line.strip("| ").split(" | ")) for line in page.splitlines() if line.count(" | ") == 3]
    assert {(rule, testid, why) for rule, _, testid, why in told[1:]} == {(e.rule, e.testid, e.why) for e in LISTED}
