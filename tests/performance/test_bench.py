"""The arithmetic of the bench: what a run must take, and the page that reports it."""

import pytest

from tests.markdown import END, put
from tests.performance import latency
from tests.performance.__main__ import report, verdict
from tests.performance.figures import Figure, unmeasured
from tests.performance.headline import ROWS, headline
from tests.performance.parts import PARTS, Part, measured
from tests.performance.rounds import REAL, STRESS, capacity_s, critical_path_s, merged


def test_the_critical_path_is_each_roles_rounds_by_its_latency():
    """The seconds of docs/performance.md."""
    assert [critical_path_s(method, 20, REAL) for method in latency.METHODS] == [81, 105, 86, 85]
    assert critical_path_s("smc", 20, STRESS) == pytest.approx(0.3 * 85)


def test_a_small_server_takes_what_its_places_allow_a_round():
    seen = [("learner", 400), ("optimizer", 10), ("learner", 30), ("learner", 34)]
    rounds = merged({"role": role, "calls": calls} for role, calls in seen)
    assert rounds == [("learner", 400), ("optimizer", 10), ("learner", 64)]
    assert capacity_s(rounds, REAL, 64) == pytest.approx(400 / 64 + 3 + 1)


def test_every_figure_of_the_headline_is_measured_under_its_name():
    def walls(steps, latency_):
        walls = {method: [critical_path_s(method, steps, latency_)] for method in latency.METHODS}
        return latency.Measured(latency_, steps, walls=walls)

    figures = [
        *latency.direct(walls(20, REAL), {}),
        *latency.from_short(walls(6, REAL), steps=20),
        *latency.direct(walls(6, REAL), {}),
        *latency.direct(walls(20, STRESS), latency.TARGETS["stress"]),
    ]
    assert {name for row in ROWS[:-1] for name in row[2:]} <= {figure.name for figure in figures}
    assert headline(figures)[2] == "| SMC / VML | 15.8 | 1.05 | 1.05 | at most 1.15 | 1.05 | at most 1.45 |"


def test_the_report_says_which_targets_are_missed_and_what_was_not_measured(tmp_path):
    figures = [
        Figure(name="a", values=(1.0, 3.0), target=2.0, command="make it", note="of one kind"),
        Figure(name="b", values=(2.0,), target=2.0, sense="under", command="make it", note="of one kind"),
        Figure(name="c", values=(2.0,), target=2.0, sense="at least"),
        Figure(name="d", values=(1234.5,)),
        unmeasured("e", "no such\noption", target=1.2),
    ]
    assert verdict(figures) == "2 of 4 targets hold. Not: b; e."
    page = tmp_path / "page.md"
    page.write_text(f"above\n<!-- bench -->\nold\n{END}\nbelow\n<!-- other -->\nkept\n{END}\n")
    put(page, "bench", report({"some things": figures}, "Two cores."))
    text = page.read_text()
    assert text.startswith("above\n<!-- bench -->\n2 of 4 targets hold. Not: b; e.\n\nTwo cores.\n\n### Some things\n")
    assert "| a | 2 (1–3) | at most 2 |\n| b | 2 | under 2 (missed) |\n| c | 2 | at least 2 |" in text
    assert "| e | not measured: no such option | at most 1.20 (missed) |\n\n- Of one kind.\n<!-- end -->\nbelow" in text
    with pytest.raises(ValueError, match="no place for third"):
        put(page, "third", [])


def test_a_target_of_speed_allows_a_slower_machine_more_beyond_the_ideal_and_a_faster_one_no_less():
    wall = Figure(name="a", values=(1.3,), target=1.1, ideal=1.0)
    assert [wall.on(slowness).target for slowness in (0.5, 1.0, 3.0)] == [1.1, 1.1, pytest.approx(1.3)]
    assert not wall.holds
    assert wall.on(3.01).holds
    assert Figure(name="b", values=(501.0,), target=500.0).on(3.0).holds is False


def test_a_part_that_breaks_or_hangs_is_reported_and_does_not_hold():
    assert len({part.name for part in PARTS}) == len(PARTS)
    broken = Part("broken", "a broken part", "latency.no_such_function", 60)
    assert "ended with 1" in measured(broken, short=False)[0].fault
    hanging = Part("hanging", "a hanging part", "latency.full", 0.01)
    assert "not done within" in measured(hanging, short=False)[0].fault
    assert not measured(hanging, short=False)[0].holds
