"""The Python examples of README.md run; the run of one is there already, that of the other has fewer rows."""

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
    fewer = example(ESTIMATOR).replace("train_size=80", "train_size=60, test_size=30")
    exec(compile(fewer, "README.md", "exec"), names)
    always = names["y_test"].value_counts(normalize=True).max()
    assert names["model"].score(names["X_test"], names["y_test"]) > always
