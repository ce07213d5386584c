"""A run that begins with the hypotheses of an earlier one: nothing is asked for them, all else is as ever."""

import pytest

from vpp.events import ParticleDrawn, Proposed
from vpp.inference.plan import first_rounds, plan
from vpp.inference.tempered import why_nominal

from . import scripted

TEXTS = (*(scripted.TEXTS[k] for k in (3, 9, 3, 12)), f"{scripted.SEED_TEXT} of my own")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("method", ["mh", "smc", "smc filtered", "smc incremental", "always-accept", "vml", "vml5"])
def test_the_first_population_is_the_texts_and_nothing_was_asked_or_planned_for_it(method, task):
    tau = "auto" if task == "regression" else "1.0"
    config = scripted.variant(method, seed=3, tau=tau, particles=4, final_weights="train", restart=0.0)
    script, texts = scripted.Script(task, memo=True), TEXTS[: config.size]
    events, _ = scripted.whole_run(config, script, start_texts=texts)
    drawn = scripted.of_kind(events, ParticleDrawn)
    assert [(e.particle, e.text, e.temperature, e.raw, e.origin) for e in drawn] == [
        (k, text, 0.0, "", "continued") for k, text in enumerate(texts)
    ]
    assert [p.text for p in scripted.populations(events)[0].particles] == list(texts)
    assert script.proposed[0][0] != scripted.SEED_TEXT
    whole = plan(config, n_train=18, n_test=7, given=len(texts))
    assert not any("irst" in what for what, _ in whole.items)
    assert script.asked + whole.optimizer_calls <= whole.calls
    assert len(script.proposed) + len(script.drawn) == whole.optimizer_calls == len(scripted.of_kind(events, Proposed))
    assert first_rounds(config, given=len(texts)) == 0
    assert whole.rounds == plan(config, n_train=18, n_test=7).rounds - first_rounds(config)


def test_its_evidence_is_nominal_and_says_why():
    within = scripted.variant("smc incremental", restart=1.0)
    assert why_nominal(within) == ()
    (reason,) = why_nominal(within, source="continued")
    assert "those of an earlier run" in reason
    (reason,) = why_nominal(within, source="yours")
    assert "given by a person" in reason
