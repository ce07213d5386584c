"""Text from a CSV or a model shows as the characters it has, on every page, and in the report."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.app.conftest import ROOT, App, Visit, free_port

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x> ![a](http://b.example) $x$ **b** <a href='http://c.example'>c</a> :red[d] http://e.example"
LABEL = "**yes** <img src=x>"
COLUMN = "![a](http://b.example) <img src=x> $x$ **b**"


async def answer(request: Request) -> Response:
    """The same hostile sentence to both roles; labels alternate so that particles disagree."""
    body = await request.json()
    asked = body["messages"][0]["content"]
    if "New rule:" in asked:
        content = f"Reasoning: {HOSTILE}\n\nNew rule:\nSay {LABEL} if {HOSTILE} number {body['seed'] % 7}."
    else:
        label = LABEL if len(asked) % 2 else "no"
        content = f"Explanation: {HOSTILE}\nOutput: {label}"
    message = {"role": "assistant", "content": content}
    return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """An OpenAI-compatible server that means harm."""
    port = free_port()
    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    serving = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=serving.run)
    thread.start()
    yield f"http://127.0.0.1:{port}/v1"
    serving.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def hostile_run(app: App, server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of hostile data and answers."""
    data = tmp_path_factory.mktemp("hostile") / "<img src=x> **b**.csv"
    lines = [f'"{COLUMN}",other,target'] + [f'"{HOSTILE} {i}",{i % 5},{LABEL if i % 2 else "no"}' for i in range(60)]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    directory = app.runs / "20260101-0000-hostile-mh-0000"
    command = [
        sys.executable,
        "-m",
        "vpp",
        "run",
        str(data),
        "--target",
        "target",
        "--method",
        "mh",
        "--particles",
        "3",
    ]
    command += ["--epochs", "1", "--train-size", "20", "--test-size", "10", "--base-url", server, "--model", "m"]
    command += ["--prior", HOSTILE, "--name", HOSTILE, "--run-dir", str(directory), "--quiet"]
    subprocess.run(command, cwd=ROOT, env=app.environment, check=True, timeout=120)
    return directory


def made_by_text(page: Page) -> list[str]:
    """Elements on the page that only hostile text could have made: the app itself draws none of these from data."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('.katex, [data-testid="stMain"] img, [data-testid="stMain"] a')]
            .concat([...document.querySelectorAll('strong, b, em, [style*="color:"]')].filter(
                (e) => ['b', 'x', 'd', 'a', 'c'].includes(e.textContent.trim())))
            .filter((e) => !e.closest('[data-testid="stPageLink"], [data-testid="stPageLink-NavLink"]'))
            .map((e) => e.outerHTML.slice(0, 200))"""
    )
    return found


@pytest.mark.parametrize("name", ["watch", "posterior", "disagreement", "compare", "report"])
def test_hostile_text_shows_as_its_characters(app: App, visit: Visit, hostile_run: Path, name: str) -> None:
    page = visit.page
    page.goto(f"{app.url}/{name}?run={hostile_run.name}")
    page.get_by_text("<img src=x>").first.wait_for()
    page.wait_for_timeout(1000)
    assert made_by_text(page) == []
    assert visit.outside == []


def test_hostile_columns_show_as_their_characters_before_a_run(app: App, visit: Visit, tmp_path: Path) -> None:
    data = tmp_path / "hostile.csv"
    rows = [f'"{HOSTILE} {i}",{i % 5},{LABEL if i % 2 else "no"}' for i in range(60)]
    data.write_text("\n".join([f'"{COLUMN}",other,"{COLUMN} 2"', *rows]) + "\n", encoding="utf-8")
    page = visit.page
    page.goto(app.url)
    page.locator('input[type="file"]').set_input_files(str(data))
    page.get_by_text("What it will take").wait_for()
    page.get_by_text(COLUMN).first.wait_for()
    assert made_by_text(page) == []
    assert visit.outside == []
