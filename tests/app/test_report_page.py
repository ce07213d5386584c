"""The Report page: what it offers, what it shows, and files that are made when they are asked for."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app_over, opened, shown
from tests.inference import scripted
from tests.reporting.builders import YES_NO, run, started
from tests.verification.kept import kept_run
from vpp.runs.reader import RunReader
from vpp.settings import Config
from vpp.wording.command import repeat_command


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return app_over(tmp_path, monkeypatch)


def offered(page: AppTest) -> list[str]:
    return [button.proto.label for button in page.get("download_button")]


def test_every_file_has_a_button(page: AppTest, tmp_path: Path) -> None:
    names = ("report.md", "report.html", "posterior.json", "predictions.csv", "posterior.nc")
    assert offered(opened(page, inspected.labels(tmp_path), "report")) == [f"Download {name}" for name in names]
    assert "Does uncertainty mean error?" in shown(page)


def test_without_arviz_the_page_says_how_to_get_it(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vpp.reporting.inference_data.find_spec", lambda name: None)
    assert "Download posterior.nc" not in offered(opened(page, inspected.labels(tmp_path), "report"))
    assert "pip install &#x27;arviz&lt;1&#x27;" in shown(page)


def test_command_and_markdown_can_be_copied_as_plain_text(page: AppTest, tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    opened(page, reader, "report")
    assert [code.value for code in page.code] == [repeat_command(reader.refresh().spec).script]
    page.toggle(key="report.source").set_value(True).run()
    assert page.code[1].value.startswith("# toy\n")
    assert {code.language for code in page.code} == {"plaintext"}


def test_a_journal_that_holds_is_said_to(page: AppTest, tmp_path: Path) -> None:
    directory, _ = kept_run(tmp_path / "kept", scripted.variant("smc filtered"))
    opened(page, RunReader(directory), "report")
    assert "The journal is consistent" not in shown(page)
    page.button(key="report.check").click().run()
    assert "The journal is consistent: every derived value is equal" in shown(page)


def test_a_journal_that_does_not_hold_is_said_not_to_with_the_line(page: AppTest, tmp_path: Path) -> None:
    """The hand-made run begins with a sentence of its own."""
    opened(page, inspected.labels(tmp_path), "report")
    page.button(key="report.check").click().run()
    assert "The journal is inconsistent" in shown(page)
    assert "line 1</td><td>texts: seed_text</td><td>You predict.</td>" in shown(page)


def test_before_there_are_particles_the_page_says_what_to_wait_for(page: AppTest, tmp_path: Path) -> None:
    opened(page, run(tmp_path, started(Config(particles=2), YES_NO)), "report")
    assert "Nothing to report yet" in shown(page)
    assert offered(page) == []
