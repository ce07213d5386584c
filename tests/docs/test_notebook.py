"""The tutorial notebook runs in a kernel of its own; only its fit is made smaller."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.test_pages import ROOT

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
WITHIN_S = 120


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs stay out of the repository"
    for cell in notebook.cells:
        cell.source = cell.source.replace("particles=6", "particles=2, train_size=20, test_size=10")
    NotebookClient(notebook, timeout=WITHIN_S, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [kind for cell in notebook.cells for kind in kinds(cell)]
    assert shown.count("text/markdown") == 3, "posteriors"
    assert "text/html" in shown, "frames"
    printed = "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", []))
    assert "step -1:" in printed
    assert "step/s" in printed, "the bar of a fit"
    assert "answer/s" in printed, "the bar of a question"
    assert "['Gentoo']" in str(notebook.cells)


def kinds(cell: Any) -> list[str]:
    return [kind for out in cell.get("outputs", []) for kind in out.get("data", {})]
