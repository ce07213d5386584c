"""The constant answer beside the hypotheses, in words."""

import math

import pytest

from tests import inspected
from vpp.events import Constant
from vpp.findings.result import ConstantAnswer
from vpp.runs.view import RunView
from vpp.wording import brief
from vpp.wording.brief import constant_note, constant_sentence


@pytest.mark.parametrize(
    ("odds", "weight", "words"),
    [
        (40.0, None, "about 40 : 1."),
        (1e9, 1e-9, "over a million : 1."),
        (1 / 3, 0.3, "1 : about 3."),
        (4.6, 0.91, "about 4.6 : 1. Nothing was found."),
    ],
)
def test_the_odds_against_a_constant_answer_say_when_nothing_was_found(
    odds: float, weight: float | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    constant = Constant(answer="no", shares=(0.7, 0.3), log_likelihood=-9.0)
    found = ConstantAnswer(constant=constant, weight=weight, log_odds=math.log(odds))
    monkeypatch.setattr(brief, "constant_answer", lambda *_: found)
    of = RunView(), inspected.LABEL_CONFIG, inspected.LABELS
    plain = constant_sentence(*of).replace("\N{NO-BREAK SPACE}", " ")
    assert plain == f"Odds of the training rows under the hypothesis and under a constant answer: {words}"
    stands = constant_note(*of)
    assert (stands == "") == (weight is None)
    assert weight is None or "(“no”; each label as often as it occurs) has weight" in stands
