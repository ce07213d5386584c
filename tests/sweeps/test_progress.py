"""Progress of a sweep: the time left, and the line on standard error."""

import io
from typing import Any

import pytest

from tests.sweeps.outcomes import outcome, spec
from vpp.bench.cells import Cell
from vpp.bench.sweep import CellView, SweepView
from vpp.cli.benching import SweepProgress, sweep_line


def done(method: str, seed: int, *, wall_s: float) -> CellView:
    return CellView(
        cell=Cell(task="linear", method=method, seed=seed),
        state="finished",
        wall_s=wall_s,
        outcome=outcome("linear", method, seed, 1.0, wall_s=wall_s),
    )


def cell(method: str, seed: int, **changed: Any) -> CellView:
    return CellView(cell=Cell(task="linear", method=method, seed=seed), **{"state": "not run", **changed})


def view(*cells: CellView) -> SweepView:
    return SweepView(spec=spec(), cells=cells)


def left(*cells: CellView, jobs: int = 1) -> float | None:
    return view(*cells).seconds_left([each for each in cells if each.outcome is None], jobs=jobs)


def test_there_is_no_estimate_before_a_cell_of_each_waiting_method_is_finished() -> None:
    assert left(cell("vml", 0), cell("mh", 0)) is None
    assert left(done("vml", 0, wall_s=1.0), cell("mh", 0), cell("vml", 1)) is None
    assert left(done("vml", 0, wall_s=1.0)) is None


def test_the_time_left_is_each_methods_mean_pace() -> None:
    cells = (
        done("vml", 0, wall_s=2.0),
        done("vml", 1, wall_s=4.0),
        done("mh", 0, wall_s=10.0),
        cell("vml", 2),
        cell("mh", 1),
    )
    assert left(*cells) == pytest.approx(3 + 10)


def test_running_cells_count_with_their_remaining_time() -> None:
    cells = (done("mh", 0, wall_s=10.0), cell("mh", 1, state="running", wall_s=4.0), cell("mh", 2))
    assert left(*cells) == pytest.approx(16.0)


def test_several_jobs_share_the_work_but_no_cell_is_split() -> None:
    cells = (done("mh", 0, wall_s=10.0), cell("mh", 1), cell("mh", 2), cell("mh", 3))
    assert left(*cells, jobs=2) == pytest.approx(15.0)
    assert left(*cells, jobs=8) == pytest.approx(10.0)


def test_the_line_counts_finished_waiting_and_running_cells() -> None:
    shown = view(
        done("vml", 0, wall_s=1.0),
        cell("vml", 1, state="running", step=4, steps=20),
        cell("vml", 2, state="paused", detail="the server is away"),
    )
    line = sweep_line(shown, shown.cells, jobs=2)
    assert line.startswith(
        "1 of 3 cells, 2 left, linear-vml-1 step 4 of 20, linear-vml-2 paused (the server is away), "
    )
    assert line.endswith("about 1\N{NO-BREAK SPACE}s left")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_line_is_overwritten_and_removed() -> None:
    stream = Terminal()
    progress = SweepProgress(stream, quiet=False)
    shown = view(done("vml", 0, wall_s=1.0), cell("vml", 1))
    for _ in range(3):
        progress.look(shown, shown.cells, jobs=1)
    assert stream.getvalue().count("1 of 2 cells") == 1
    progress.say("linear-vml-1: mse 1")
    assert stream.getvalue().endswith("\r\x1b[Klinear-vml-1: mse 1\n")


def test_a_log_gets_events_only_and_quiet_prints_nothing() -> None:
    shown = view(done("vml", 0, wall_s=1.0))
    for quiet, expected in ((False, "linear-vml-0: mse 1 (1 of 1 cells, 0 left)\n"), (True, "")):
        stream = io.StringIO()
        progress = SweepProgress(stream, quiet=quiet)
        progress.look(shown, shown.cells, jobs=1)
        progress.say("linear-vml-0: mse 1")
        progress.close()
        assert stream.getvalue() == expected
