"""Runs of several seeds as one: their pooled posterior, and the command that makes, stops and extends them."""

import asyncio
import math
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts.opening import SHIPPED
from tests.inference.scripted import run_conclusion
from tests.inspected import log_marginal
from tests.processes import Desk, Model, wait_until
from tests.reporting.builders import DEMO, SEED, YES_NO, drawn, finished, started, view_of
from vpp.data.dataset import Row
from vpp.errors import InputError
from vpp.events import Event, RunFinished
from vpp.findings.comparison import seeds, seeds_record, weights_by_text
from vpp.posterior.likelihood import labels_alone
from vpp.problem import Prediction
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.group import Group, begin, group_of, pooling_spec, weigh
from vpp.runs.preparation import Preparation, dataset_spec, problem_of
from vpp.runs.spec import RunSpec
from vpp.runs.view import RunView, candidates, constant_weight, population_of
from vpp.settings import Config
from vpp.verification import verify

SPEC = RunSpec(
    name="toy", config=Config(batch_size=2, epochs=1, reading="rows"), endpoint=DEMO, dataset=dataset_spec(YES_NO)
)
TEXTS = tuple(f"{SEED} Rule {number}." for number in range(5))
Answers = dict[str, tuple[str | None, ...]]
LABELS = st.sampled_from(["yes", "no"])


def answers_of(answer: st.SearchStrategy[str | None]) -> st.SearchStrategy[Answers]:
    return st.fixed_dictionaries({text: st.tuples(*[answer] * 7) for text in TEXTS})


ANSWERS = answers_of(st.none() | LABELS)
"""Answers of each text to the four training rows and the three test rows."""
LAST = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6)
"""The last population of a run, copies included."""


@dataclass
class Says:
    """A learner that reads the first text as a program, and the others row by row."""

    answers: Answers

    async def predict(self, hypothesis: str, rows: Sequence[Row]) -> tuple[Prediction, ...]:
        branch, values = 0 if hypothesis == TEXTS[0] else None, self.answers[hypothesis]
        return tuple(Prediction(row=row.id, value=values[row.id], branch=branch) for row in rows)


def ended(texts: Sequence[str], answers: Answers) -> RunView:
    """A run that ends with these texts, weighed and evaluated as the sampler does it."""
    config = replace(SPEC.config, particles=len(texts))
    events: list[Event] = [started(config, YES_NO), *drawn(*texts), finished(1, texts)]
    problem = replace(problem_of(replace(SPEC, config=config), YES_NO), learner=Says(answers))
    last = run_conclusion(problem, config, population_of(view_of(*events)))
    return view_of(*events, *last, RunFinished(outcome="finished"))


def pooled(*views: RunView) -> RunView:
    spec = pooling_spec([str(place) for place in range(len(views))], views, SPEC, YES_NO)
    return view_of(started(spec.config, YES_NO), *asyncio.run(weigh(spec, YES_NO, views)))


def posterior(view: RunView) -> tuple[dict[str, float], dict[str, tuple[object, ...]]]:
    """Weights by text, the constant's included, and the averaged answers to each part."""
    weights = {**weights_by_text(view), "": constant_weight(view)}
    return weights, {part: each.averaged for part, each in view.evaluations.items()}


def assert_same(one: RunView, other: RunView) -> None:
    (weights, averages), (others, expected) = posterior(one), posterior(other)
    assert weights == pytest.approx(others, rel=1e-9, abs=1e-12)
    assert averages == expected


@given(ANSWERS, LAST)
def test_the_pooled_posterior_of_one_run_is_that_runs_posterior(answers: Answers, texts: list[str]) -> None:
    run = ended(texts, answers)
    assert_same(pooled(run), run)


@given(ANSWERS, LAST, LAST)
def test_neither_copies_nor_the_order_of_the_runs_change_it(answers: Answers, a: list[str], b: list[str]) -> None:
    one, other = ended(a, answers), ended(b, answers)
    both = pooled(one, other)
    assert_same(pooled(other, one), both)
    assert_same(pooled(one, other, one), both)
    assert_same(pooled(ended([*a, a[0], a[-1]], answers), other), both)


@given(answers_of(LABELS), LAST, LAST)
def test_it_is_likelihood_times_a_uniform_prior_over_all_that_was_written(
    answers: Answers, a: list[str], b: list[str]
) -> None:
    views, texts = (ended(a, answers), ended(b, answers)), {*a, *b}
    assert set().union(*map(candidates, views)) == {hypothesis for view in views for hypothesis in view.texts}
    targets = ["yes", "no", "yes", "no"]
    exact = {"": math.exp(labels_alone(targets, ("no", "yes")))}
    for text in texts:
        right = sum(answer == target for answer, target in zip(answers[text], targets, strict=False))
        exact[text] = math.exp(log_marginal(right, 4 - right)) / len(texts)
    total = sum(exact.values())
    assert posterior(pooled(*views))[0] == pytest.approx({text: each / total for text, each in exact.items()})


# On disk


def test_a_shipped_run_pooled_alone_keeps_its_weights_and_its_programs(tmp_path: Path) -> None:
    run = RunDirectory(shutil.copytree(SHIPPED, tmp_path / SHIPPED.name))
    run.amend(group="g")
    group = Group(tmp_path, "g")
    made = group.pool()
    assert made is not None
    reader, own = RunReader(made), RunReader(run)
    assert_same(reader.refresh().view, own.refresh().view)
    assert verify(made).holds
    assert reader.read_answers().translations.keys() == {state.hypothesis for state in reader.refresh().view.population}
    written = made.journal.stat().st_mtime_ns
    again = group.pool()
    assert again
    assert again.path == made.path
    assert made.journal.stat().st_mtime_ns == written
    found = seeds_record(seeds(group))
    assert found["pooled"]["accuracy"] == found["runs"][0]["accuracy"]
    assert [idea["weights"] for idea in found["ideas"]] == [[pytest.approx(idea["weight"])] for idea in found["ideas"]]


def test_what_is_no_group_is_refused(tmp_path: Path) -> None:
    prepared = Preparation(dataset=YES_NO, spec=SPEC)
    with pytest.raises(InputError, match="at least 1"):
        begin(prepared, 0, tmp_path)
    weighing = replace(SPEC, config=Config(method="weigh"), start=("Say yes.",))
    with pytest.raises(InputError, match="same result for every seed"):
        begin(Preparation(dataset=YES_NO, spec=weighing), 2, tmp_path)


def test_a_group_is_rows_and_settings_and_neither_seed_nor_name_nor_cap(tmp_path: Path) -> None:
    prepared = Preparation(dataset=YES_NO, spec=SPEC)
    first = begin(prepared, 2, tmp_path)
    again = replace(SPEC, name="other", cap=replace(SPEC.cap, calls=9), config=replace(SPEC.config, seed=1))
    assert begin(Preparation(dataset=YES_NO, spec=again), 2, tmp_path)[0].path == first[1].path
    assert [run.spec().config.seed for run in Group(tmp_path, group_of(prepared.spec)).runs] == [0, 1, 2]
    assert [run.spec().cap.calls for run in first] == [0, 9]
    assert group_of(replace(prepared.spec, cell_limit=9)) != group_of(prepared.spec)
    assert Group(tmp_path, "").runs == []


# The command


def test_the_command_makes_the_runs_that_are_missing_and_pools_them(desk: Desk, served: Model) -> None:
    found = desk.run("several", "--seeds", "2", *served.options).finish()
    assert found.code == 0, found.err
    group = found.result
    assert [run["seed"] for run in group["runs"]] == [0, 1]
    assert {run["status"] for run in group["runs"]} == {"finished"}
    made = RunDirectory(group["pooled"]["dir"])
    assert verify(made).holds
    assert {"report.md", "posterior.json", "predictions.csv"} <= {each.name for each in made.path.iterdir()}
    assert sum(group["pooled"]["weights"].values()) + group["pooled"]["constant"] == pytest.approx(1)
    assert all(len(idea["weights"]) == 2 >= idea["runs"] >= 1 for idea in group["ideas"])
    data = {(Path(run["dir"]) / "data.csv").read_bytes() for run in (*group["runs"], group["pooled"])}
    assert len(data) == 1
    asked = served.asked
    again = desk.run("several", "--seeds", "2", *served.options).finish()
    assert (again.result, served.asked) == (group, asked)
    more = desk.run("several", "--seeds", "3", *served.options).finish().result
    assert [run["run"] for run in more["runs"]][:2] == [run["run"] for run in group["runs"]]
    assert (more["pooled"]["run"], len(made.spec().pooled)) == (group["pooled"]["run"], 3)


def test_a_stopped_command_keeps_what_is_done_and_goes_on(desk: Desk, served: Model) -> None:
    served.hold_after = 40
    running = desk.run("several", "--seeds", "2", *served.options, VPP_MAX_RUNNING="1")
    wait_until(lambda: served.asked > 40, "the model is asked")
    running.signal(signal.SIGINT)
    served.hold_after = None
    stopped = running.finish()
    assert stopped.code == 130
    assert {run["status"] for run in stopped.result["runs"]} <= {"stopped", "finished"}
    done = desk.run("several", "--seeds", "2", *served.options).finish()
    assert done.code == 0, done.err
    assert {run["status"] for run in done.result["runs"]} == {"finished"}
    assert [run["run"] for run in done.result["runs"]] == [run["run"] for run in stopped.result["runs"]]
