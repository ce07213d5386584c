"""The wheel: what is in it, and the app that a fresh environment serves from it."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.app.conftest import ROOT, free_port, is_served
from tests.processes import wait_until
from vpp import __version__
from vpp.runs.directory import RunDirectory

MOST_BYTES = 8_000_000
WITHIN_S = 120.0


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    building = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(building, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `vpp` of an environment with this wheel alone, and the libraries that the tests run on."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index")
    subprocess.run((*pip, "--disable-pip-version-check", str(wheel)), check=True)
    return folder / "bin" / "vpp"


def tracked(*places: str) -> list[str]:
    """Files under version control: nothing else, a secrets.toml above all, may be shipped."""
    listed = subprocess.run(("git", "ls-files", "--", *places), cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def here(tmp_path: Path) -> dict[str, str]:
    """Variables with new home and data folders, and without those of the clone."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("VPP_", "PYTHON", "XDG_"))}
    return {**kept, "HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data")}


def test_the_wheel_is_small_and_holds_the_app(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    names = set(zipfile.ZipFile(wheel).namelist())
    held = {name for name in names if ".dist-info/" not in name}
    assert {name for name in held if not name.startswith("vpp/_app/")} == set(tracked("vpp"))
    app = tracked("app.py", "pages", "assets", "static", ".streamlit/config.toml")
    assert {name.removeprefix("vpp/_app/") for name in held if name.startswith("vpp/_app/")} == set(app)
    assert f"-{__version__}-" in wheel.name


def test_the_command_keeps_runs_in_the_users_data_folder(command: Path, tmp_path: Path) -> None:
    table = ROOT / "assets" / "examples" / "penguins.csv"
    words = ("run", str(table), "--target", "species", "--demo", "--particles", "3", "--epochs", "1", "--quiet")
    subprocess.run((str(command), *words), cwd=tmp_path, env=here(tmp_path), check=True, capture_output=True)
    (run,) = (tmp_path / "data" / "vpp" / "runs").glob("2*")
    assert (run / "report.md").exists()
    assert not (tmp_path / "runs").exists()


@pytest.mark.browser
def test_the_installed_app_runs_the_example_in_a_browser(
    command: Path, tmp_path: Path, context: BrowserContext
) -> None:
    port = free_port()
    (tmp_path / ".env").write_text("VPP_RUNS_DIR=mine\n")
    words = (str(command), "app", "--port", str(port))
    serving = subprocess.Popen(words, cwd=tmp_path, env=here(tmp_path), stdout=subprocess.DEVNULL)
    try:
        page = context.new_page()
        wait_until(lambda: is_served(page, port), "the app is served", within_s=WITHIN_S)
        page.get_by_role("button", name="Run the example").first.click()
        page.locator(".stage article.card").first.wait_for()
        (run,) = (tmp_path / "mine").glob("2*")
        spec = RunDirectory(run).spec()
        assert spec.command[1].endswith("vpp/_app/assets/examples/penguins.csv")
        assert Path(spec.command[1]).is_file()
    finally:
        serving.terminate()
        serving.wait()
