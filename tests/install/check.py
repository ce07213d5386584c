"""`make install-check`: build the package; install, host and track it in every way that this machine allows.

Prints a line for each way. Needs the registry of packages, and Chromium for the app. Exits with 1 if a line fails.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, sync_playwright

from tests.app.conftest import CHROMIUM, FLAGS, ROOT, free_port
from tests.install.image import Image, built, can_build, empty_debian
from tests.processes import wait_until

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = {
    "arviz": "xarray",
    "local": "xllamacpp",
    "login": "authlib",
    "mlflow": "mlflow",
    "otel": "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "ray": "ray",
}
"""A module that each extra adds."""
DOCKERFILES = ("Dockerfile", "docs/hosting/space/Dockerfile")
SPACE_HOST = "owner-vpp.hf.space"
PENGUINS = ROOT / "assets/examples/penguins.csv"
PICTURES = Path(given) if (given := os.environ.get("VPP_PICTURES")) else None
"""Folder for screenshots of the notebook and of the last app started; unset: none."""
STARTS_WITHIN_S, EXAMPLE_WITHIN_MS = 120, 120_000
CROSS_VALIDATION = """
import numpy as np
from sklearn.model_selection import cross_val_score
from vpp import VPPClassifier
x = np.arange(40.0).reshape(-1, 1)
print(cross_val_score(VPPClassifier(particles=3, epochs=1), x, np.where(x[:, 0] > 19, "high", "low"), cv=2).mean())
"""


class Check:
    """The lines so far, and the folder that they work in."""

    def __init__(self, tools: Path, folder: Path) -> None:
        self._tools, self._folder = tools, folder
        self.has_failed = False

    def line(self, what: str, work: Callable[[], str]) -> None:
        """Do it, and print what came of it and how long it took."""
        began = time.perf_counter()
        try:
            found, mark = work(), "works"
        except (subprocess.SubprocessError, OSError, AssertionError, ValueError, PlaywrightError) as error:
            found, mark = str(getattr(error, "stderr", "") or error).strip()[-300:].replace("\n", " "), "FAILS"
            self.has_failed = True
        print(f"{mark}  {what}: {found} ({time.perf_counter() - began:.1f} s)", flush=True)

    def run(self, *words: object, tool: bool = False) -> str:
        """Run a command in an empty folder whose user has nothing yet; return what it prints."""
        here = Path(tempfile.mkdtemp(dir=self._folder))
        first = str(self.tool(str(words[0])) if tool else words[0])
        done = subprocess.run(
            [first, *map(str, words[1:])],
            cwd=here,
            env=self.environment(here),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def tool(self, name: str) -> Path:
        """Return the path of a tool."""
        return self._tools / "bin" / name

    def environment(self, home: Path) -> dict[str, str]:
        """Return an environment that knows nothing of the clone."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("VPP_", "PYTHON", "XDG_"))}
        return {
            **kept,
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "UV_CACHE_DIR": str(self._folder / "uv"),
        }


def megabytes(path: Path) -> str:
    """Return the size of a file or folder."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return f"{sum(each.stat().st_size for each in files if each.is_file()) / 1e6:,.1f} MB"


def pythons(tools: Path) -> dict[str, str]:
    """Return the Pythons of this machine that the package is for, those of pyenv too, by version."""
    folders = [*os.environ["PATH"].split(os.pathsep), *map(str, Path.home().glob(".pyenv/versions/*/bin"))]
    find = (str(tools / "bin" / "uv"), "python", "find", "--system", "--no-python-downloads")
    variables, found = {**os.environ, "PATH": os.pathsep.join(folders)}, {}
    for version in PYTHONS:
        done = subprocess.run((*find, version), env=variables, capture_output=True, text=True)
        found |= {version: done.stdout.strip()} if done.returncode == 0 else {}
    return found


def packed(dist: Path) -> str:
    """Build sdist and wheel."""
    subprocess.run(
        (sys.executable, "-m", "hatchling", "build", "-d", str(dist)), cwd=ROOT, check=True, capture_output=True
    )
    return ", ".join(f"{path.name} {megabytes(path)}" for path in sorted(dist.iterdir()))


def installed(check: Check, python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel in an empty environment of one Python."""
    check.run("uv", "venv", "--quiet", "--python", python, folder, tool=True)
    check.run("uv", "pip", "install", "--quiet", "--python", folder / "bin" / "python", wheel, tool=True)
    return f"{check.run(folder / 'bin' / 'vpp', '--version')}, {megabytes(folder)} with all that it needs"


def extras(check: Check, python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel with every extra, and import what each adds."""
    check.run("uv", "venv", "--quiet", "--python", python, folder, tool=True)
    check.run("uv", "pip", "install", "--quiet", "--python", folder, f"{wheel}[{','.join(EXTRAS)}]", tool=True)
    check.run(folder / "bin" / "python", "-c", f"import {', '.join(EXTRAS.values())}")
    return f"{', '.join(EXTRAS)}; {megabytes(folder)}"


def served(check: Check, command: Sequence[object], home: Path) -> str:
    """Serve the app, open it in a browser, and run the example."""
    home.mkdir()
    port = free_port()
    words = [*map(str, command), "app", "--port", str(port)]
    shown_s = example_run(words, f"http://127.0.0.1:{port}", cwd=home, env=check.environment(home))
    (run,) = (home / "data" / "vpp" / "runs").glob("2*")
    return f"first page after {shown_s:.1f} s; the example runs, in {run.parent.relative_to(home)}"


def example_run(
    words: Sequence[str],
    address: str,
    *,
    cwd: Path,
    env: dict[str, str],
    demo_only: bool = False,
    meanwhile: Callable[[], object] = lambda: None,
) -> float:
    """Start a server, run the example at an address that leads to this machine; return the seconds to its first page.

    demo_only: also check that the page says so, and that a new run offers no other model. meanwhile: called once the
    first page is there.
    """
    assert not is_up(address), f"something is served at {address} already"
    began, quiet = time.perf_counter(), subprocess.DEVNULL
    serving = subprocess.Popen([*words], cwd=cwd, env=env, stdout=quiet, stderr=quiet, start_new_session=True)
    leads = f"--host-resolver-rules=MAP {urlsplit(address).hostname} 127.0.0.1"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, leads])
            page = browser.new_page(reduced_motion="reduce")
            wait_until(lambda: answers(page, address), "the app is served", within_s=STARTS_WITHIN_S)
            button = page.get_by_role("button", name="Run the example").first
            button.wait_for(timeout=EXAMPLE_WITHIN_MS)
            shown_s = time.perf_counter() - began
            assert page.get_by_text("This is a public demo.").count() == demo_only
            meanwhile()
            button.click()
            page.get_by_text("Hypotheses at step").first.wait_for(timeout=EXAMPLE_WITHIN_MS)
            if PICTURES and not demo_only:
                page.screenshot(path=PICTURES / "installed.png")
            for place in ("new_run", "paper") if demo_only else ():
                page.goto(f"{address}/{place}")
                page.get_by_text("Built-in demo model").first.wait_for(timeout=EXAMPLE_WITHIN_MS)
                assert page.get_by_text("My endpoint").count() == 0
    finally:
        os.killpg(serving.pid, signal.SIGTERM)
        serving.wait()
    return shown_s


def notebook(check: Check, environment: Path, folder: Path) -> str:
    """Run the tutorial in an installed package, and photograph it."""
    python = environment / "bin" / "python"
    check.run("uv", "pip", "install", "--quiet", "--python", python, "nbconvert", "ipykernel", tool=True)
    to_html = ("-m", "nbconvert", "--execute", "--to", "html", "--output-dir", folder, ROOT / "docs/tutorial.ipynb")
    check.run(python, *to_html)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1500})
        page.goto((folder / "tutorial.html").as_uri())
        page.get_by_text("Who survived the Titanic?").first.wait_for(timeout=EXAMPLE_WITHIN_MS)
        picture = page.screenshot(path=PICTURES / "notebook.png" if PICTURES else None)
    return f"every cell runs; its picture has {len(picture) / 1e3:.0f} kB"


def tracked(check: Check, python: str, wheel: Path, folder: Path) -> str:
    """Trace a demo run, log it to MLflow's server, and read it back there."""
    environment, port = folder / "tracked", free_port()
    check.run("uv", "venv", "--quiet", "--python", python, environment, tool=True)
    check.run("uv", "pip", "install", "--quiet", "--python", environment, f"{wheel}[mlflow,otel]", tool=True)
    vpp, run = environment / "bin" / "vpp", folder / "tracked-run"
    words = (vpp, "run", PENGUINS, "--target", "species", "--demo", "--epochs", "1", "--run-dir", run, "--json")
    traces = {**check.environment(folder), "OTEL_TRACES_EXPORTER": "console"}
    done = subprocess.run([*map(str, words)], cwd=folder, env=traces, capture_output=True, text=True, check=True)
    requests = json.loads(done.stdout)["spent"]["requests"]
    spans = done.stderr.count('"name": "chat demo"')
    assert spans == requests, f"{spans} spans of {requests} requests"
    server = [str(check.tool("uvx")), "mlflow", "server", "--port", str(port), "--backend-store-uri", "sqlite:///m.db"]
    home, quiet, uri = folder / "mlflow", subprocess.DEVNULL, f"http://127.0.0.1:{port}"
    home.mkdir()
    serving = subprocess.Popen(
        server, cwd=home, env=check.environment(home), stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        wait_until(lambda: is_up(f"{uri}/health"), "MLflow is up", within_s=STARTS_WITHIN_S)
        number = check.run(vpp, "export", run, "--mlflow", uri)
        with urllib.request.urlopen(f"{uri}/api/2.0/mlflow/runs/get?run_id={number}") as reply:
            logged = json.load(reply)["run"]["data"]
    finally:
        os.killpg(serving.pid, signal.SIGTERM)
        serving.wait()
    return f"{spans} spans; MLflow has {len(logged['params'])} parameters and {len(logged['metrics'])} metrics"


def priced(check: Check, folder: Path) -> str:
    """Plan a run with LiteLLM's package beside the installed one."""
    environment = folder / "tracked"
    check.run("uv", "pip", "install", "--quiet", "--python", environment, "--no-deps", "litellm", tool=True)
    asked = ("--base-url", "https://api.openai.com/v1", "--model", "gpt-4o-mini", "--plan", "--quiet")
    plan = check.run(environment / "bin" / "vpp", "run", PENGUINS, "--target", "species", *asked)
    listed = " ".join(plan.split()).partition("LiteLLM's list prices: ")[2].partition(" If yours")[0]
    assert listed, plan
    return listed


def is_up(address: str) -> bool:
    """Return whether a server answers."""
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def answers(page: Page, address: str) -> bool:
    """Open the app; False while its port refuses connections."""
    try:
        return bool((reply := page.goto(address)) and reply.ok)
    except PlaywrightError:
        return False


def container(image: Image) -> str:
    """Serve the app from an image's root as its user, run the example, and run the health check."""
    words = image.words([*image.entrypoint, *image.command])
    check_health = partial(image.run, *image.health)
    shown_s = example_run(words, "http://127.0.0.1:8501", cwd=image.root, env=dict(os.environ), meanwhile=check_health)
    return f"{megabytes(image.root)} with Debian; first page after {shown_s:.1f} s; the example runs as {image.user}"


def space(image: Image) -> str:
    """Serve a Space's image under the name that its host gives it."""
    image.variables["SPACE_HOST"] = SPACE_HOST
    address = f"http://{SPACE_HOST}:8501"
    shown_s = example_run(image.words(image.command), address, cwd=image.root, env=dict(os.environ), demo_only=True)
    return f"first page after {shown_s:.1f} s; the example runs, no other model is offered"


def streamlit_cloud(check: Check, folder: Path) -> str:
    """Serve a clone with the changes of docs/hosting.md, as Streamlit's own host starts it.

    Its name ends in .test: browsers ask a name in .app by HTTPS alone.
    """
    clone = folder / "clone"
    subprocess.run(("git", "clone", "--quiet", str(ROOT), str(clone)), check=True)
    page = (clone / "docs/hosting.md").read_text("utf-8")
    keys = page.partition("**Streamlit Community Cloud.**")[2].partition("Deploy the fork")[0]
    changed = re.findall(r"^    (\w+) = (.*)$", keys.replace("streamlit.app", "streamlit.test"), re.MULTILINE)
    assert changed, "docs/hosting.md names no key"
    config = clone / ".streamlit/config.toml"
    text = config.read_text("utf-8")
    for name, value in changed:
        text, n = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert n == 1, f"config.toml has {n} lines {name}"
    config.write_text(text, "utf-8")
    shutil.copy(clone / "docs/hosting/streamlit-cloud.toml", clone / ".streamlit/secrets.toml")
    port = free_port()
    words = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    address = f"http://vpp.streamlit.test:{port}"
    shown_s = example_run(words, address, cwd=clone, env=check.environment(folder), demo_only=True)
    return f"first page after {shown_s:.1f} s; the example runs, no other model is offered"


def main(tools: Path) -> int:
    """Print a line for each way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check, dist = Check(tools, folder), folder / "dist"
        check.line("sdist and wheel", lambda: packed(dist))
        (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
        check.line("twine check", lambda: check.run("twine", "check", "--strict", wheel, sdist, tool=True)[-60:])
        check.line("check-wheel-contents", lambda: check.run("check-wheel-contents", wheel, tool=True)[-40:])
        known = pythons(tools)
        for version in PYTHONS:
            way, place = f"Python {version}, empty environment", folder / version
            if version in known:
                check.line(way, lambda p=known[version], f=place: installed(check, p, wheel, f))
            else:
                print(f"skipped  {way}: not on this machine", flush=True)
        check.line("every extra", lambda: extras(check, next(iter(known.values())), wheel, folder / "extras"))
        first = folder / next(iter(known)) / "bin"
        check.line("vpp app", lambda: served(check, (first / "vpp",), folder / "home"))
        check.line("notebook", lambda: notebook(check, first.parent, folder))
        check.line("traces and MLflow", lambda: tracked(check, next(iter(known.values())), wheel, folder))
        check.line("list prices", lambda: priced(check, folder))
        check.line("cross_val_score", lambda: check.run(first / "python", "-c", CROSS_VALIDATION))
        check.line("uvx --from WHEEL vpp", lambda: check.run("uvx", "--from", wheel, "vpp", "--version", tool=True))
        uvx_app = (tools / "bin" / "uvx", "--from", wheel, "vpp")
        check.line("uvx --from WHEEL vpp app", lambda: served(check, uvx_app, folder / "uvx-home"))
        check.line("pipx run", lambda: check.run("pipx", "run", "--spec", wheel, "vpp", "--version", tool=True))
        check.line("sdist", lambda: check.run("uvx", "--from", sdist, "vpp", "--version", tool=True))
        for dockerfile in DOCKERFILES:
            linted = (ROOT / dockerfile, "--failure-threshold", "style")
            check.line(f"hadolint {dockerfile}", lambda w=linted: check.run("hadolint", *w, tool=True) or "no finding")
        schema = ("--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml")
        check.line("compose.yaml", lambda: check.run("check-jsonschema", *schema, tool=True))
        check.line("Streamlit Community Cloud", lambda: streamlit_cloud(check, folder))
        images(check, folder, wheel)
        return int(check.has_failed)


def images(check: Check, folder: Path, wheel: Path) -> None:
    """Build both images step by step and serve them, where that is possible."""
    if not can_build():
        print("skipped  images: needs root and debootstrap", flush=True)
        return
    debian, context = folder / "debian", folder / "space"
    check.line("an empty Debian", lambda: megabytes(empty_debian(debian)))
    shutil.copytree(ROOT / "docs/hosting/space", context)
    shutil.copy(wheel, context)
    shutil.copy(ROOT / "requirements.txt", context)
    app, demo = folder / "app-stages", folder / "space-stages"
    check.line("Dockerfile, step by step", lambda: container(built(ROOT / "Dockerfile", ROOT, debian, app)))
    check.line(f"{DOCKERFILES[1]}, step by step", lambda: space(built(context / "Dockerfile", context, debian, demo)))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
