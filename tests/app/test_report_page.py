"""The Report page: what it offers, what it shows, and files that are made when they are asked for."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown


def offered(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


def test_two_pages_and_their_files_are_offered(app: AppTest, tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    labels = ["Download the report (HTML)", "Markdown", "Posterior as JSON", "Predictions as CSV"]
    assert offered(opened(app, reader, "report")) == labels
    page = shown(app)
    assert page.count("Right on 4 of 5 test rows that it answered") == 1
    assert "Rows in doubt or wrong" in page
    assert "The command that repeats the run" not in page
