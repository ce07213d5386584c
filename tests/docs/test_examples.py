"""The Python examples of README.md and the tutorial notebook run; what takes long is made smaller."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import vpp
from tests import inspected
from tests.docs.test_pages import ROOT


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
    exec(compile(example("## From Python"), "README.md", "exec"), {})
    assert given == {"data": "assets/examples/penguins.csv", "target": "species", "endpoint": "demo"}
    assert (ROOT / given["data"]).exists()
    assert inspected.EVEN in capsys.readouterr().out


def test_the_estimator_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    fewer = example("## From scikit-learn").replace("train_size=80", "train_size=60, test_size=30")
    exec(compile(fewer, "README.md", "exec"), names)
    always = names["y_test"].value_counts(normalize=True).max()
    assert names["model"].score(names["X_test"], names["y_test"]) > always


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs stay out of the repository"
    for cell in notebook.cells:
        cell.source = cell.source.replace("particles=6", "particles=2, train_size=20, test_size=10")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = [kind for out in outputs for kind in out.get("data", {})]
    assert kinds.count("text/markdown") == 3, "posteriors"
    assert "text/html" in kinds, "frames"
    printed = "".join(out.get("text", "") for out in outputs)
    assert all(words in printed for words in ("step -1:", "step/s", "answer/s")), "bars of a fit and of a question"
    assert "['Gentoo']" in str(notebook.cells)
