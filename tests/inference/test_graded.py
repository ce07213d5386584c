"""Weights, evidence and accept steps on graded answers whose probabilities are known, against sums written out."""

import math

import numpy as np
import pytest

from vpp.events import Evaluated, Proposed, Reweighted, Scored
from vpp.llm.answers import pooled
from vpp.problem import Prediction

from . import scripted

EPSILON = 0.1


def problem_on(config, **options):
    return scripted.make_problem(config, scripted.Script("classification", grade=scripted.grade), **options)


def log_liks(rows):
    """(16,) log p(rows | theta) of the whole space: each row's label drawn by the reader, then flipped by epsilon."""

    def term(text, row):
        share = (scripted.grade(text, row) or {}).get(row.target, 0.0)
        return math.log(share * (1 - EPSILON) + (1 - share) * EPSILON)

    return np.array([math.fsum(term(text, row) for row in rows) for text in scripted.TEXTS])


def test_weights_and_evidence_of_given_sentences_are_the_exact_ones():
    texts = scripted.TEXTS[2:9]
    config = scripted.paper(method="weigh", particles=len(texts), epsilon=EPSILON, batch_size=20, epochs=1)
    problem = scripted.replace(problem_on(config), start_texts=texts, start_origin="yours")
    weighed = scripted.of_kind(scripted.run(problem, config), Reweighted)[-1]
    joint = np.exp(log_liks(problem.dataset.train)[2:9]) / len(texts)
    assert weighed.weights == pytest.approx(joint / joint.sum(), rel=1e-12)
    assert weighed.log_evidence == pytest.approx(math.log(joint.sum()), rel=1e-12)


def test_every_score_and_decision_of_a_filtered_run_is_the_exact_one():
    config = scripted.paper(method="smc", mutate="filtered", epsilon=EPSILON)
    problem = problem_on(config)
    events, rows = scripted.run(problem, config), {row.id: row for row in problem.dataset.train}
    texts = {scripted.hypothesis_id(text): j for j, text in enumerate(scripted.TEXTS)}
    scores = {}
    for event in scripted.of_kind(events, Scored):
        if event.hypothesis not in texts:
            continue  # the seed sentence, which no text of the space is
        scored = [rows[row] for row in event.rows]
        assert event.log_likelihood == pytest.approx(log_liks(scored)[texts[event.hypothesis]], rel=1e-12)
        scores[event.step, event.particle, event.role] = event.log_likelihood
    decided = [event for event in scripted.of_kind(events, Proposed) if event.why == "likelihood"]
    for event in decided:
        gain = event.log_likelihood_proposal - event.log_likelihood
        assert event.log_alpha == pytest.approx(min(0, gain), abs=1e-12)
        assert event.log_likelihood_proposal == scores[event.step, event.particle, "proposal"]
    assert any(event.accepted for event in decided)
    assert not all(event.accepted for event in decided)


def test_the_vote_is_the_mixture_and_each_recorded_label_the_likeliest():
    config = scripted.paper(method="smc", epsilon=EPSILON)
    problem = problem_on(config)
    events = scripted.run(problem, config)
    population = scripted.populations(events)[-1]
    evaluated = scripted.of_kind(scripted.run_conclusion(problem, config, population), Evaluated)[0]
    rows = {row.id: row for row in problem.dataset.labelled}
    by_id = {scripted.hypothesis_id(text): text for text in (*scripted.TEXTS, scripted.SEED_TEXT)}
    for place, (row, averaged) in enumerate(zip(evaluated.rows, evaluated.averaged, strict=True)):
        grades = [scripted.grade(by_id[hypothesis], rows[row]) or {} for hypothesis in evaluated.hypotheses]
        mixture = {
            label: math.fsum(w * grade.get(label, 0) for w, grade in zip(evaluated.weights, grades, strict=True))
            for label in ("no", "yes")
        }
        assert averaged == max(mixture, key=lambda label: mixture[label])
        for slot, grade in enumerate(grades):
            said = evaluated.predictions[slot][place]
            assert said == (max(grade, key=lambda label: grade[label]) if grade else None)


def test_the_share_of_several_answers_counts_unreadable_ones_for_no_label():
    said = [("b", 1, "second"), (None, 3, ""), ("a", 2, "first"), ("b", 1, "third")]
    drawn = [(Prediction(row=7, value=value, explanation=why), calls) for value, calls, why in said]
    prediction, calls = pooled(drawn)
    assert (prediction.value, prediction.explanation, calls) == ("b", "second", 7)
    assert prediction.shares == {"a": 0.25, "b": 0.5}
    silent, _ = pooled([(Prediction(row=7, value=None, raw="?", reason="none"), 3)] * 2)
    assert (silent.value, silent.shares, silent.reason) == (None, None, "none")
