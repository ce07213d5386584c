"""What happens to single particles: genealogy, rejected, unchanged and unparsable proposals, and tau's first look."""

import pytest

from vpp.events import ParticleDrawn, Proposed, Resampled, Reweighted

from . import scripted

TASKS = pytest.mark.parametrize("task", ["classification", "regression"])
METHODS = pytest.mark.parametrize("method", ["vml", "mh", "smc"])


def finished_run(task, method, *, write=scripted.rewrite, answer=scripted.answer, n_train=20, **options):
    config = scripted.paper(method=method, **options)
    script = scripted.Script(task, write=write, answer=answer)
    problem = scripted.make_problem(config, script, n_train=n_train)
    return problem, script, scripted.run(problem, config)


@TASKS
@METHODS
@pytest.mark.parametrize("buffer_size", [2, 12])
def test_the_optimizer_sees_the_predictions_of_the_text_it_is_given(method, task, buffer_size):
    problem, script, events = finished_run(task, method, particles=8, buffer_size=buffer_size)
    rows = {row.id: row for row in problem.dataset.train}
    if method == "smc" and buffer_size == 12:
        assert scripted.of_kind(events, Resampled), "some were shown what an ancestor gave"
    assert script.proposed
    for text, ids, predicted, _, _ in script.proposed:
        assert predicted == tuple(scripted.answer(text, rows[i], task=task) for i in ids)


@METHODS
@TASKS
def test_unchanged_and_unparsable_proposals_are_told_apart_and_keep_the_particle(method, task):
    _, script, events = finished_run(task, method, particles=8, n_train=60)
    texts = scripted.texts_of(events)
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
    _, _, events = finished_run("regression", "smc")
    uneven = {e.step for e in scripted.of_kind(events, Reweighted) if e.ess < 5 - 1e-9}
    resampled = {e.step for e in scripted.of_kind(events, Resampled)}
    assert uneven
    assert resampled == (uneven if always else set())
