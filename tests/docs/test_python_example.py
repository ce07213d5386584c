"""The Python example of README.md runs as it stands; only the run itself is one that is there already."""

from pathlib import Path
from typing import Any

import pytest

import vpp
from tests import inspected
from tests.docs.test_pages import ROOT

HEAD = "## From Python"
ESTIMATOR = "## From scikit-learn"


def example(head: str) -> str:
    """Return the indented block of the section."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(head)[1].split("\n## ")[0]
    return "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {}

    def fit(data: str, **options: str) -> vpp.Posterior:
        given.update(options, data=data)
        return vpp.load_run(inspected.labels(tmp_path).directory.path)

    monkeypatch.setattr(vpp, "fit", fit, raising=False)
    exec(compile(example(HEAD), "README.md", "exec"), {})
    assert given == {"data": "assets/examples/penguins.csv", "target": "species", "endpoint": "demo"}
    assert (ROOT / given["data"]).exists()
    assert inspected.EVEN in capsys.readouterr().out


def test_the_estimator_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(example(ESTIMATOR), "README.md", "exec"), names)
    always = names["y_test"].value_counts(normalize=True).max()
    assert names["model"].score(names["X_test"], names["y_test"]) > always
