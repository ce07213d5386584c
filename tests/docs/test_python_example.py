"""The Python example of README.md runs as it stands; only the run itself is one that is there already."""

from pathlib import Path

import pytest

import vpp
from tests import inspected
from tests.docs.test_pages import ROOT

HEAD = "## From Python"


def example() -> str:
    """Return the indented block of the section."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(HEAD)[1].split("\n## ")[0]
    return "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {}

    def fit(data: str, **options: str) -> vpp.Posterior:
        given.update(options, data=data)
        return vpp.load_run(inspected.labels(tmp_path).directory.path)

    monkeypatch.setattr(vpp, "fit", fit, raising=False)
    exec(compile(example(), "README.md", "exec"), {})
    assert given == {"data": "assets/examples/penguins.csv", "target": "species", "endpoint": "demo"}
    assert (ROOT / given["data"]).exists()
    assert inspected.EVEN in capsys.readouterr().out
