"""Shares of a vote, rescaled to the weight that answered."""

import pytest

from vpp.posterior.calibration import answered_shares


def test_shares_are_of_the_weight_that_answered():
    assert answered_shares({"yes": 0.45, "no": 0.05}) == pytest.approx({"yes": 0.9, "no": 0.1})
    assert answered_shares({}) == answered_shares({"yes": 0.0}) == {}
