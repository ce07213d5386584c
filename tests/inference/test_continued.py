"""A run that begins with the hypotheses of an earlier one: nothing is asked for them, all else is as ever."""

from dataclasses import replace

import pytest

from vpp.events import ParticleDrawn
from vpp.inference.evidence import why_nominal
from vpp.inference.plan import first_rounds, plan

from . import scripted

TEXTS = (scripted.TEXTS[3], scripted.TEXTS[9], scripted.TEXTS[3], f"{scripted.SEED_TEXT} of my own")
METHODS = ("mh", "smc", "smc filtered", "smc incremental", "always-accept")
each_method_and_task = pytest.mark.parametrize(
    ("method", "task"), [(m, t) for m in METHODS for t in ("classification", "regression")]
)


def configure(method, task):
    tau = "auto" if task == "regression" else "1.0"
    return scripted.variant(method, seed=3, tau=tau, particles=len(TEXTS), final_weights="train", restart=0.0)


def continued(config, script):
    return replace(scripted.make_problem(config, script, n_train=18), start_texts=TEXTS)


def whole_run(config, script):
    problem = continued(config, script)
    events = scripted.run(problem, config)
    return events, scripted.run_conclusion(problem, config, scripted.populations(events, problem.dataset)[-1])


@each_method_and_task
def test_the_first_population_is_the_texts_and_nothing_was_asked_for_it(method, task):
    script = scripted.Script(task)
    events, _ = whole_run(configure(method, task), script)
    drawn = scripted.of_kind(events, ParticleDrawn)
    assert [(e.particle, e.text, e.temperature, e.raw, e.origin) for e in drawn] == [
        (k, text, 0.0, "", "continued") for k, text in enumerate(TEXTS)
    ]
    assert [p.text for p in scripted.populations(events, None)[0].particles] == list(TEXTS)
    assert script.proposed[0][0] != scripted.SEED_TEXT
    assert script.drawn == []


@pytest.mark.parametrize("method", ["vml", "vml5"])
def test_vml_begins_with_them_too(method):
    config = scripted.variant(method)
    texts = tuple(scripted.TEXTS[k] for k in range(config.size))
    problem = scripted.make_problem(config, scripted.Script("classification"), n_train=18)
    events = scripted.run(replace(problem, start_texts=texts), config)
    assert [e.text for e in scripted.of_kind(events, ParticleDrawn)] == list(texts)


@each_method_and_task
def test_its_plan_bounds_its_calls_and_has_none_for_first_hypotheses(method, task):
    config = configure(method, task)
    script = scripted.Script(task, memo=True)
    whole_run(config, script)
    whole = plan(config, n_train=18, n_test=7, is_continued=True)
    assert not any("irst" in what for what, _ in whole.items)
    assert script.asked + len(script.proposed) <= whole.calls
    assert len(script.proposed) == whole.optimizer_calls
    assert first_rounds(config, is_continued=True) == 0
    assert whole.rounds == plan(config, n_train=18, n_test=7).rounds - 2


def test_its_evidence_is_nominal_and_says_why():
    within = scripted.variant("smc incremental", initial="prior", restart=1.0)
    assert why_nominal(within, "classification") == ()
    (reason,) = why_nominal(within, "classification", is_continued=True)
    assert "those of an earlier run" in reason
