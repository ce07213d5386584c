"""A page drawn without a browser, and what it shows."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from vpp.runs.reader import RunReader

ROOT = Path(__file__).parents[2]
WITHIN_S = 30


def app_over(runs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app on a runs folder."""
    monkeypatch.setenv("VPP_RUNS_DIR", str(runs))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=WITHIN_S)


def opened(app: AppTest, reader: RunReader, page: str) -> AppTest:
    """A page with this run open, drawn without a failure."""
    app.session_state["run"] = reader.directory.id
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    """The HTML that the page drew, no-break spaces as spaces."""
    return "".join(str(element.proto.body) for element in app.get("html")).replace("\N{NO-BREAK SPACE}", " ")
