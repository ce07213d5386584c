"""Cells of long text: whole where the models' contexts hold them, else cut with a count of what is cut."""

from pathlib import Path

import pytest

from tests.processes import Desk

SMALL = ("--demo", "--target", "label", "--method", "vml", "--epochs", "1", "--templates", "paper", "--quiet")


def reviews(folder: Path, *, long: int) -> Path:
    """Write 24 labelled reviews with a line break each, 12 of them of `long` characters."""
    path = folder / "reviews.csv"
    lines = [
        f'"{n}: the stay\n{"was fine " * (long // 9 if n % 2 else 1)}",{("bad", "good")[n % 2]}' for n in range(24)
    ]
    path.write_text("\n".join(["review,label", *lines]))
    return path


def test_the_plan_counts_the_cells_that_are_shown_in_part(desk: Desk) -> None:
    data = reviews(desk.folder, long=4_500)
    limited = desk.vpp("run", data, *SMALL, "--plan", "--limit", "cell=1000")
    assert "12 cells of review are shown in part, their first 1,000 characters" in limited.out
    roomy = desk.vpp("run", data, *SMALL, "--plan", "--limit", "context=100000")
    assert "in part" not in roomy.out
    narrow = " ".join(desk.vpp("run", data, *SMALL, "--plan", "--limit", "context=4096").out.split())
    assert "By estimate, 12 cells of review are shown in part, their first" in narrow
    refused = desk.vpp("run", data, *SMALL, "--plan", "--limit", "cell=-1")
    names = "calls, cost, patience, certify, score-rows, learner, optimizer, context, call, wait, cell"
    assert f"'cell=-1' is not NAME=N with one of {names}" in refused.complaint


@pytest.mark.parametrize(("long", "cut"), [(4_500, {}), (27_000, {"review": 12})])
def test_a_run_cuts_cells_only_if_its_models_context_is_too_short(desk: Desk, long: int, cut: dict[str, int]) -> None:
    ended = desk.run("run", *SMALL, "--json", data=reviews(desk.folder, long=long)).finish()
    limit = desk.directory("run").spec().cell_limit
    assert ended.result["cells"] == {"limit": limit, "shown_in_part": cut}
    assert bool(limit) == bool(cut)
    report = (desk.directory("run").path / "report.md").read_text()
    assert ("12 cells of review are shown in part" in report) == bool(cut)
    assert "was fine was fine" in (desk.directory("run").path / "data.csv").read_text()
    assert not desk.look("run").view.usage.failed
