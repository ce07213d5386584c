"""The Report page: what it offers, what it shows, and files that are made when they are asked for."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.inference import scripted
from tests.reporting.builders import run
from tests.verification.kept import kept_run
from vpp.runs.reader import RunReader
from vpp.wording.command import repeat_command


def offered(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


def test_files_and_the_command_are_offered_and_a_journal_that_does_not_hold_is_named_with_the_line(
    app: AppTest, tmp_path: Path
) -> None:
    """The hand-made run begins with a sentence of its own."""
    reader = inspected.labels(tmp_path)
    labels = ["Download the report (HTML)", "Markdown", "Posterior as JSON", "Predictions as CSV", "ArviZ NetCDF"]
    assert offered(opened(app, reader, "report")) == labels
    page = shown(app)
    assert page.index("Does uncertainty mean error?") < page.index("The same run from a terminal")
    assert [code.value for code in app.code] == [repeat_command(reader.refresh().spec).script]
    assert {code.language for code in app.code} == {"plaintext"}
    app.button(key="report.check").click().run()
    assert "The journal is inconsistent" in shown(app)
    assert "line 1</td><td>run_started " in shown(app)


def test_a_file_of_plain_python_is_offered_where_hypotheses_have_programs(app: AppTest, tmp_path: Path) -> None:
    config = replace(inspected.LABEL_CONFIG, reading="auto")
    reader = run(tmp_path, *inspected.label_events(), data=inspected.LABELS, config=config)
    inspected.translate(reader, {inspected.EVEN: "def predict(a):\n    return 'no' if a % 2 else 'yes'"})
    assert offered(opened(app, reader, "report"))[4] == "Python"
    words = "posterior.py predicts new rows in plain Python, without a model: python posterior.py new.csv."
    assert f"{words} 60 % of the weight is left out, and the weights of the others are rescaled." in shown(app)


def test_without_arviz_the_page_says_how_to_get_it(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vpp.reporting.data_tree.find_spec", lambda name: None)
    assert "ArviZ NetCDF" not in offered(opened(app, inspected.labels(tmp_path), "report"))
    assert "pip install xarray" in shown(app)


def test_a_journal_that_holds_is_said_to(app: AppTest, tmp_path: Path) -> None:
    directory, _ = kept_run(tmp_path / "kept", scripted.variant("smc filtered"))
    opened(app, RunReader(directory), "report")
    assert "The journal is consistent" not in shown(app)
    app.button(key="report.check").click().run()
    assert "The journal is consistent: every derived value is equal" in shown(app)
