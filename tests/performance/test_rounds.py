"""The arithmetic of the bench: what a run must take, and what is read off the runs that were made."""

import json
from dataclasses import replace

import pytest

from tests.performance import latency, parts
from tests.performance.figures import Figure
from tests.performance.parts import PARTS, Part, measured
from tests.performance.rounds import REAL, STRESS, capacity_s, critical_path_s, merged, rounds
from tests.performance.workers import WorkerFailed, ran
from vpp.inference.plan import plan
from vpp.settings import Config

K10 = Config(particles=10, batch_size=10, buffer_size=40, epochs=1, mutate="every")


@pytest.mark.parametrize("method", ["vml", "mh", "mh-prefetch", "smc"])
@pytest.mark.parametrize("steps", [1, 6, 20])
def test_rounds_are_the_plans(method, steps):
    config = replace(K10, method=method.removesuffix("-prefetch"))
    whole = plan(config, n_train=10 * steps, n_test=10, is_prefetched=method == "mh-prefetch")
    assert sum(rounds(method, steps)) == whole.rounds


def test_the_critical_path_is_each_roles_rounds_by_its_latency():
    assert critical_path_s("vml", 6, REAL) == 25
    assert critical_path_s("smc", 6, REAL) == 29
    assert critical_path_s("mh", 20, REAL) == 105
    assert critical_path_s("mh-prefetch", 20, REAL) == 86
    assert critical_path_s("smc", 20, STRESS) == pytest.approx(0.3 * 85)


def test_a_small_server_takes_what_its_places_allow_a_round():
    seen = [
        {"role": "learner", "calls": 400},
        {"role": "optimizer", "calls": 10},
        {"role": "learner", "calls": 30},
        {"role": "learner", "calls": 34},
    ]
    assert merged(seen) == [("learner", 400), ("optimizer", 10), ("learner", 64)]
    assert capacity_s(merged(seen), REAL, 64) == pytest.approx(400 / 64 + 3 + 1)


def test_what_follows_for_more_steps_keeps_each_methods_excess():
    found = latency.Measured(REAL, 6, walls={"vml": [25 * 1.02] * 3, "smc": [29 * 1.04] * 3})
    figure = latency.followed(found, "smc", steps=20, name="x", target=1.15)
    assert figure.middle == pytest.approx(85 / 81 * 1.04 / 1.02)
    direct = {figure.name: figure for figure in latency.direct(found, targets=latency.TARGETS["real"]) if figure.values}
    assert direct["real: SMC / VML, wall clock, T = 6"].middle == pytest.approx(29 * 1.04 / (25 * 1.02))
    assert direct["real: VML, wall clock / its critical path, T = 6"].holds


def test_a_method_that_failed_takes_its_ratio_with_it():
    found = latency.Measured(REAL, 6, walls={"vml": [25.0]}, faults={"mh-prefetch": "no option"})
    figure = latency.ratio(found, "mh-prefetch", name="x", target=1.15)
    assert (figure.holds, figure.fault) == (False, "no option")


def journal(*events, folder):
    path = folder / "events.jsonl"
    lines = [{"at": at, "usage": {"learner": 3}, "event": event} for at, event in events]
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b'{"torn')
    return path


def test_a_runs_wall_clock_is_the_journals(tmp_path):
    told = ((100.0, {"type": "run_started", "steps": 6}), (129.5, {"type": "run_finished"}))
    found = ran(journal(*told, folder=tmp_path))
    assert (found.wall_s, found.steps, found.usage) == (29.5, 6, {"learner": 3})
    with pytest.raises(WorkerFailed, match="has no run_finished"):
        ran(journal(told[0], folder=tmp_path))


def test_a_part_that_breaks_or_hangs_is_told_and_does_not_hold():
    broken = Part("no such part", "what is broken", lambda folder, short: [], 60)
    assert "ended with 1" in measured(broken, short=False)[0].fault
    hanging = Part("full", "what hangs", lambda folder, short: [], 0.01)
    assert "not done within" in measured(hanging, short=False)[0].fault
    assert not measured(hanging, short=False)[0].holds


def test_parts_have_names_of_their_own():
    assert len({part.name for part in PARTS}) == len(PARTS)
    assert set(parts.WHOLE_ALONE) < {part.name for part in PARTS}


def test_the_verdict_counts_targets_and_names_what_does_not_hold():
    from tests.performance.__main__ import section, verdict

    figures = [
        Figure(name="a", values=(1.0,), target=2.0),
        Figure(name="b", values=(3.0,), target=2.0),
        Figure(name="c", values=(3.0,)),
    ]
    assert verdict(figures) == "1 of 2 targets hold. Not: b."
    told = "\n".join(section({"some things": figures}, "Two cores."))
    assert "### Some things" in told
    assert "| b | 3 | at most 2 (missed) |" in told
    assert "1 of 2 targets hold. Not: b.\n\nTwo cores.\n" in told


def test_what_was_asked_for_stands_first_a_dash_for_what_was_not_measured():
    from tests.performance.headline import headline

    found = latency.Measured(STRESS, 20, walls={"vml": [24.0, 25.0], "smc": [30.0, 30.0]})
    told = headline(latency.direct(found, targets=latency.TARGETS["stress"]))
    assert told[2] == "| SMC / VML | 15.8 | – | – | – | 1.23 | at most 1.45 |"
    assert told[3].startswith("| MH plain / VML | 14.7 | – | – | – | not measured: it was not run |")
    assert len(told) == 10
    assert headline([Figure(name="another", values=(1.0,))]) == []


def test_every_figure_that_was_asked_for_is_measured_under_its_name():
    from tests.performance.headline import ROWS

    def walls(steps):
        return {method: [critical_path_s(method, steps, REAL)] for method in latency.METHODS}

    made = [
        *latency.direct(latency.Measured(REAL, 20, walls=walls(20))),
        *latency.from_short(latency.Measured(REAL, 6, walls=walls(6)), steps=20),
        *latency.direct(latency.Measured(REAL, 6, walls=walls(6))),
        *latency.direct(latency.Measured(STRESS, 20, walls=walls(20))),
    ]
    names = {figure.name for figure in made}
    assert {name for row in ROWS[:-1] for name in row[2:]} <= names
