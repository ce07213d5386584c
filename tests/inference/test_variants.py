"""What each option of a sampler changes, and what it leaves alone."""

import asyncio
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.errors import InputError
from vpp.events import ParticleDrawn, Proposed, Resampled, Reweighted, Scored
from vpp.inference.plan import first_rounds, plan
from vpp.inference.population import Chain, Particle
from vpp.inference.proposing import propose
from vpp.inference.sampling import PRIOR_DRAWS
from vpp.posterior.weights import ess
from vpp.problem import Prediction, likelihood_of
from vpp.randomness import rng
from vpp.runs.view import fold
from vpp.settings import Config, preset

from . import scripted

TASKS = pytest.mark.parametrize("task", ["classification", "regression"])


def whole_run(name, task="classification", *, n_train=20, script=None, **options):
    config = scripted.variant(name, **options)
    script = script or scripted.Script(task)
    problem = scripted.make_problem(config, script, n_train=n_train)
    return problem, script, scripted.run(problem, config)


@TASKS
def test_vml5_is_five_hypotheses_that_begin_as_the_seed_sentence_and_take_everything_and_vml_the_first(task):
    _, _, events = whole_run("vml5", task, particles=3)
    first, *later = scripted.populations(events)
    assert [p.text for p in first.particles] == [scripted.SEED_TEXT] * 5
    assert all([p.parent for p in population.particles] == list(range(5)) for population in later)
    assert {p.why for p in scripted.of_kind(events, Proposed)} == {"taken", "unchanged", "unparsable"}
    assert len({tuple(p.particles[k].text for p in later) for k in range(5)}) == 5, "each goes its own way"
    *_, one = whole_run("vml", task)
    *_, five = whole_run("vml5", task)
    assert [e for e in five if getattr(e, "particle", None) == 0] == [e for e in one if hasattr(e, "particle")]


@TASKS
def test_always_accept_begins_as_mh_and_evaluates_no_proposal(task):
    *_, events = whole_run("always-accept", task)
    *_, mh = whole_run("mh", task)
    assert Counter(scripted.of_kind(events, ParticleDrawn)) == Counter(scripted.of_kind(mh, ParticleDrawn))
    assert not scripted.of_kind(events, Scored, role="proposal")
    for proposed in scripted.of_kind(events, Proposed):
        assert proposed.accepted == (proposed.why == "taken")
    assert {tuple(p.weights) for p in scripted.populations(events)} == {(0.2,) * 5}


JUDGED = {"mh": "batch", "mh on the buffer": "buffer", "mh on all rows": "train", "smc filtered": "buffer"}


@TASKS
@pytest.mark.parametrize("name", JUDGED)
def test_both_sides_of_a_ratio_are_of_the_rows_asked_for_without_tempering(name, task):
    problem, _, events = whole_run(name, task)
    decisions = scripted.of_kind(events, Proposed, why="likelihood")
    assert {proposed.accepted for proposed in decisions} == {True, False}
    assert not scripted.of_kind(events, Proposed, why="taken")
    for proposed in decisions:
        batch, buffer = problem.batch(proposed.step), problem.buffer(proposed.step, size=12)
        rows = {"batch": batch, "buffer": buffer, "train": problem.dataset.train}[JUDGED[name]]
        scored = scripted.of_kind(events, Scored, step=proposed.step)
        old = next(e for e in scored if e.hypothesis == proposed.parent and e.role != "proposal")
        (new,) = (e for e in scored if e.particle == proposed.particle and e.role == "proposal")
        assert old.rows == new.rows == tuple(row.id for row in rows)
        assert (old.log_likelihood, new.log_likelihood) == (proposed.log_likelihood, proposed.log_likelihood_proposal)
        assert proposed.log_alpha == pytest.approx(min(0.0, new.log_likelihood - old.log_likelihood))


def rewriting_of(*wrong, slot=0, **options):
    """The rows that a text at step 2 is rewritten from, and its candidate. wrong: places of its mistakes among the
    scored rows; the batch is the last four."""
    config = scripted.paper(**{"mutate": "filtered", "batch_size": 4, **options})
    script = scripted.Script("classification")
    problem = scripted.make_problem(config, script)
    scored = problem.scored_rows(config, 2)
    answers = [None if place in wrong else row.target for place, row in enumerate(scored)]
    given = tuple(Prediction(row=row.id, value=value) for row, value in zip(scored, answers, strict=True))
    theta = Particle(text=scripted.TEXTS[0], parent=slot, predictions=given)
    likelihood = likelihood_of(problem.dataset, config)
    chain = Chain(problem=problem, config=config, likelihood=likelihood, step=2, slot=slot, particle=theta)
    candidate = asyncio.run(propose(chain, temperature=1.0))
    asked = [list(map([row.id for row in scored].index, rows)) for _, rows, *_ in script.proposed]
    assert len(asked) + len(script.drawn) == 1
    assert candidate.rows in ((), *(rows for _, rows, *_ in script.proposed))
    return asked, bool(candidate.rows), candidate.origin


BATCH = [8, 9, 10, 11]


def test_mistakes_on_other_scored_rows_take_up_to_half_of_a_batch_without_any():
    assert rewriting_of(1, 9) == ([BATCH], False, "refined"), "with one the prompt is the paper's"
    assert rewriting_of(1) == ([[1, 9, 10, 11]], True, "refined")
    assert rewriting_of(1, 3, 7, slot=0) == ([[7, 1, 10, 11]], True, "refined")
    assert rewriting_of(1, 3, 7, slot=1) == ([[1, 3, 10, 11]], True, "refined")


@pytest.mark.parametrize("name", ["smc filtered", "mh on all rows"])
def test_after_a_rewrite_that_comes_back_unchanged_the_next_call_is_a_fresh_draw(name):
    *_, events = whole_run(name, mutate="filtered")
    proposals = {(proposed.step, proposed.particle): proposed for proposed in scripted.of_kind(events, Proposed)}
    ancestors = {resampled.step: resampled.ancestors for resampled in scripted.of_kind(events, Resampled)}
    after = [
        now.origin
        for (step, slot), now in proposals.items()
        if (before := proposals.get((step - 1, ancestors.get(step, range(99))[slot])))
        and (before.why, before.origin) == ("unchanged", "refined")
    ]
    assert after == ["prior"] * len(after) != []


def test_a_text_without_a_mistake_is_drawn_afresh_and_the_papers_prompts_show_the_batch_all_the_same():
    assert rewriting_of() == rewriting_of(method="mh") == ([], False, "prior")
    for options in ({"mutate": "every"}, {"mutate": "every", "method": "mh"}, {"method": "always-accept"}):
        (rows,), _, origin = rewriting_of(**options)
        assert (len(rows), origin) == (4, "refined"), options


@TASKS
@pytest.mark.parametrize("tempering", ["incremental", "adaptive"])
def test_carried_weights_are_the_products_of_the_steps_since_they_were_last_equal(tempering, task, monkeypatch):
    monkeypatch.setattr("vpp.inference.tempered.ESS_SHARE", 0.8)
    problem, _, events = whole_run("smc", task, tempering=tempering, particles=6)
    exponent, log_evidence = 0.0, 0.0
    log_w = np.zeros(6)
    for reweighted in scripted.of_kind(events, Reweighted):
        step = reweighted.step
        scored = sorted(scripted.of_kind(events, Scored, step=step, role="buffer"), key=lambda e: e.particle)
        assert all(e.rows == tuple(row.id for row in problem.dataset.train) for e in scored)
        log_lik = np.array([e.log_likelihood for e in scored])
        log_w = log_w + (1 / reweighted.beta - exponent) * log_lik
        exponent = 1 / reweighted.beta
        assert list(reweighted.log_weights) == pytest.approx(log_w.tolist(), rel=1e-9)
        assert reweighted.ess == pytest.approx(ess(reweighted.weights))
        mean = math.log(np.mean(np.exp(log_w - log_w.max()))) + log_w.max()
        assert reweighted.log_evidence == pytest.approx(log_evidence + mean)
        if scripted.of_kind(events, Resampled, step=step):
            log_evidence, log_w = log_evidence + mean, np.zeros(6)
        for proposed in scripted.of_kind(events, Proposed, step=step, why="likelihood"):
            ratio = proposed.log_likelihood_proposal - proposed.log_likelihood
            assert proposed.log_alpha == pytest.approx(min(0.0, exponent * ratio))
    assert exponent == 1.0
    assert scripted.of_kind(events, Resampled)


def test_incremental_exponents_are_the_papers_and_adaptive_ones_keep_the_ess_at_its_threshold_up_to_the_end():
    betas = [e.beta for e in scripted.of_kind(whole_run("smc incremental")[2], Reweighted)]
    assert betas == pytest.approx(np.linspace(10, 1, 8).tolist())
    _, _, events = whole_run("smc", tempering="adaptive", particles=10)
    exponents = [1 / e.beta for e in scripted.of_kind(events, Reweighted)]
    assert exponents == sorted(exponents)
    assert exponents[-1] == 1.0
    short = [e for e in scripted.of_kind(events, Reweighted) if e.beta > 1 and e.step < 7]
    assert short
    for reweighted in short:
        assert reweighted.ess == pytest.approx(5.0, rel=1e-6)
        assert scripted.of_kind(events, Resampled, step=reweighted.step)
    at_end = [e for e in scripted.of_kind(events, Reweighted) if e.beta == 1]
    assert [bool(scripted.of_kind(events, Resampled, step=e.step)) for e in at_end] == [e.ess < 5 for e in at_end]
    assert max(e.ess for e in at_end) > 5
    *_, events = whole_run("smc", tempering="adaptive", particles=10, epochs=1, batch_size=20)
    (reweighted,) = scripted.of_kind(events, Reweighted)
    assert reweighted.beta == 1.0, "the last step goes to the end of the schedule"
    assert reweighted.ess < 5.0, "bisection would have stopped short"


@pytest.mark.parametrize("name", ["mh", "smc incremental"])
def test_restarts_come_with_the_chance_asked_for_whatever_the_particle(name):
    _, script, events = whole_run(name, restart=0.3, particles=60, epochs=3)
    origins = [e.origin for e in scripted.of_kind(events, Proposed)]
    n = len(origins)
    # Hoeffding: false-alarm rate 1e-6 for n draws of chance 0.3.
    assert abs(origins.count("prior") / n - 0.3) < math.sqrt(math.log(2e6) / (2 * n))
    assert len(script.drawn) == origins.count("prior")
    for proposed in scripted.of_kind(events, Proposed):
        chosen = rng(0, "restart", proposed.step, proposed.particle).random() < 0.3
        assert (proposed.origin == "prior") == chosen, "decided by the address alone"
    assert {temperature for temperature, _ in script.drawn} == {1.0}
    assert len({seed for _, seed in script.drawn}) == len(script.drawn), "each has a seed of its own"
    for unjudged in ("always-accept", "vml", "smc"):
        assert not whole_run(unjudged, restart=1.0)[1].drawn, unjudged


def test_first_hypotheses_from_the_prior_see_no_row():
    _, script, events = whole_run("mh", restart=1.0, particles=7)
    drawn = scripted.of_kind(events, ParticleDrawn)
    assert [e.temperature for e in drawn] == [1.0] * 7
    assert len(script.drawn) == 7 * 9, "at this chance every proposal is drawn so too"
    assert not script.proposed
    assert script.predicted[0][0] != scripted.SEED_TEXT, "nobody asked what the seed sentence gives"


def test_a_first_hypothesis_that_cannot_be_read_is_drawn_again_and_the_last_try_is_kept():
    def seldom(temperature, seed):
        return (scripted.TEXTS[seed % 16], "read") if scripted.digest("seldom", seed) % 4 == 0 else (None, "unread")

    def never(temperature, seed):
        return None, "unread"

    _, script, events = whole_run(
        "mh", restart=1.0, particles=12, epochs=1, n_train=5, script=scripted.Script("classification", imagine=seldom)
    )
    drawn = scripted.of_kind(events, ParticleDrawn)
    assert 12 < len(script.drawn) <= 12 * PRIOR_DRAWS + 12
    assert len({seed for _, seed in script.drawn}) == len(script.drawn), "each try has a seed of its own"
    assert sum(e.reason is None for e in drawn) > 6
    *_, events = whole_run("mh", restart=1.0, script=scripted.Script("classification", imagine=never))
    assert {e.text for e in scripted.of_kind(events, ParticleDrawn)} == {scripted.SEED_TEXT}
    assert all(e.reason for e in scripted.of_kind(events, ParticleDrawn))


@given(n_train=st.integers(5, 60), batch_size=st.integers(1, 5), epochs=st.integers(1, 3), size=st.integers(1, 90))
def test_by_default_no_row_is_weighed_twice_and_in_the_papers_buffer_repeats_stay(n_train, batch_size, epochs, size):
    def buffers(name):
        config = replace(preset(name), epochs=epochs, batch_size=batch_size)
        problem = scripted.make_problem(config, scripted.Script("classification"), n_train=n_train)
        seen = [row.id for step in range(problem.steps) for row in problem.batch(step)]
        return [row.id for row in problem.buffer(problem.steps - 1, size=size)], seen

    rows, seen = buffers("recommended")
    assert rows == list(dict.fromkeys(reversed(seen)))[::-1][-size:], "each row once, where it was seen last"
    rows, seen = buffers("paper")
    assert rows == seen[-size:]


METHODS = pytest.mark.parametrize("method", ["vml", "mh", "smc"])


@METHODS
@TASKS
def test_unchanged_and_unparsable_proposals_are_told_apart_and_keep_the_particle(method, task):
    _, script, events = whole_run(method, task, particles=8, n_train=60)
    texts = fold(events).texts
    after = {p.step: p for p in scripted.populations(events)}
    unchanged = scripted.of_kind(events, Proposed, why="unchanged")
    unparsable = scripted.of_kind(events, Proposed, why="unparsable")
    assert unchanged
    assert unparsable
    for event in (*unchanged, *unparsable):
        assert not event.accepted
        assert after[event.step].particles[event.particle].text == texts[event.parent]
        assert (event.log_alpha, event.u, event.log_likelihood_proposal) == (None, None, None)
    for event in unchanged:
        assert (event.text, event.proposal, event.reason) == (texts[event.parent], event.parent, None)
    for event in unparsable:
        assert (event.text, event.proposal, event.reason) == (None, None, scripted.FAULT)
        assert event.raw.startswith("I would rather not")
    steps = scripted.of_kind(events, Proposed)
    assert len(steps) == len(script.proposed) - len(scripted.of_kind(events, ParticleDrawn)) * (method != "vml")


@pytest.mark.parametrize(("threshold", "always"), [(0.0, False), (1.0, True)])
def test_the_threshold_decides_when_to_resample(threshold, always, monkeypatch):
    # Strictly below the threshold times K: ESS is never below 0, and below K unless all weigh the same.
    monkeypatch.setattr("vpp.inference.sequential_monte_carlo.ESS_SHARE", threshold)
    _, _, events = whole_run("smc", "regression")
    uneven = {e.step for e in scripted.of_kind(events, Reweighted) if e.ess < 5 - 1e-9}
    resampled = {e.step for e in scripted.of_kind(events, Resampled)}
    assert uneven
    assert resampled == (uneven if always else set())


GIVEN = (*(scripted.TEXTS[k] for k in (3, 9, 3, 12)), f"{scripted.SEED_TEXT} of my own")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("method", ["mh", "smc", "smc filtered", "smc incremental", "always-accept", "vml", "vml5"])
def test_the_first_population_is_the_texts_and_nothing_was_asked_or_planned_for_it(method, task):
    tau = "auto" if task == "regression" else "1.0"
    config = scripted.variant(method, seed=3, tau=tau, particles=4, final_weights="train", restart=0.0)
    script, texts = scripted.Script(task, memo=True), GIVEN[: config.size]
    events, _ = scripted.whole_run(config, script, start_texts=texts)
    drawn = scripted.of_kind(events, ParticleDrawn)
    assert [(e.particle, e.text, e.temperature, e.raw, e.origin) for e in drawn] == [
        (k, text, 0.0, "", "continued") for k, text in enumerate(texts)
    ]
    assert [p.text for p in scripted.populations(events)[0].particles] == list(texts)
    assert script.proposed[0][0] != scripted.SEED_TEXT
    whole = plan(config, n_train=18, n_test=7, given=len(texts))
    assert script.asked + whole.optimizer_calls <= whole.calls
    assert len(script.proposed) + len(script.drawn) == whole.optimizer_calls == len(scripted.of_kind(events, Proposed))
    assert first_rounds(config, given=len(texts)) == 0
    assert whole.rounds == plan(config, n_train=18, n_test=7).rounds - first_rounds(config)


IMPOSSIBLE = (
    ("restart", 1.5, "restart is 1.5: it must lie between 0 and 1"),
    ("tempering", "cold", "choose one of auto, paper, incremental, adaptive"),
    ("mutate", "never", "choose one of every, filtered"),
    ("abstention_cost", 3.0, "between 0 and 1"),
)


@pytest.mark.parametrize(("name", "value", "said"), IMPOSSIBLE)
def test_an_option_that_cannot_be_is_refused_in_one_line(name, value, said):
    with pytest.raises(InputError, match=said) as refused:
        Config(**{name: value})
    assert "\n" not in str(refused.value)


def test_each_wrong_label_has_a_given_epsilon_as_in_the_paper():
    three = replace(scripted.make_dataset("classification"), classes=("maybe", "no", "yes"))
    config = scripted.paper(method="mh")
    problem = scripted.make_problem(config, scripted.Script("classification"), dataset=three)
    terms = likelihood_of(problem.dataset, config).terms(["yes", "no"], ["yes", "yes"])
    assert terms.tolist() == pytest.approx([math.log(0.95), math.log(0.05)])
