"""A page drawn without a browser, and what it shows."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from vpp.runs.directory import RunDirectory, RunReader

ROOT = Path(__file__).parents[2]
WITHIN_S = 30


def app_over(runs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app on a runs folder."""
    monkeypatch.setenv("VPP_RUNS_DIR", str(runs))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=WITHIN_S)


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app on the test's folder; a test module imports this fixture."""
    return app_over(tmp_path, monkeypatch)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[RunDirectory]:
    """Runs whose worker a page would start, and does not; a test module imports this fixture."""
    begun: list[RunDirectory] = []
    monkeypatch.setattr("vpp.runs.group.launch", lambda directory, **_: begun.append(directory))
    return begun


def opened(app: AppTest, reader: RunReader, page: str) -> AppTest:
    """A page with this run open, drawn without a failure."""
    app.session_state["run"] = reader.directory.id
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    """The HTML that the page drew, also what is patched in place, no-break spaces as spaces; not the glossary.

    The page was drawn without a failure.
    """
    assert not app.exception
    bodies = [str(element.proto.body) for element in app.get("html")]
    steady = [_sent(element.proto) for element in app.get("bidi_component")]
    html = "".join([*(body for body in bodies if "<div popover" not in body), *steady])
    return html.replace("\N{NO-BREAK SPACE}", " ")


def _sent(component: Any) -> str:
    """Return the HTML that a page sent to be patched in place, or as the stage of Watch with its header before it."""
    name = str(component.component_name)
    if name.endswith("vpp_stage"):
        return str(component.bytes.decode())
    return str(json.loads(component.json)["html"]) if name.endswith("vpp_steady") else ""


def upload(app: AppTest, content: bytes, name: str = "table.csv") -> AppTest:
    """Upload a table on New run, in place of one that is in use."""
    app.run()
    if app.button and "new.file.replace" in [button.key for button in app.button]:
        app.button(key="new.file.replace").click().run()
    app.file_uploader(key="new.file.upload").set_value((name, content, "text/csv")).run()
    assert not app.exception
    return app


def names(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def press(app: AppTest, name: str) -> AppTest:
    app.button[names(app).index(name)].click().run()
    assert not app.exception
    return app
