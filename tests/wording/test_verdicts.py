"""Verdicts and the thresholds on which they turn."""

from vpp.wording.verdicts import abstention_verdict, acceptance_verdict, follows_verdict

NBSP = "\N{NO-BREAK SPACE}"


def test_acceptance_is_low_high_or_from_too_few_proposals() -> None:
    few, low = "Too few proposals for a verdict.", "Low acceptance: the texts hardly change."
    high = f"Acceptance near 100{NBSP}%: rejection has little effect."
    cases = {(0, 9): few, (0, 10): low, (1, 10): "", (9, 10): "", (10, 10): high}
    assert {case: acceptance_verdict(*case) for case in cases} == cases


MANY = "look at the raw answers"


def test_a_share_at_its_threshold_is_neither_below_nor_above() -> None:
    """In floating point 0.07 times 100 is more than 7, and 0.29 times 100 is less than 29."""
    for n in range(20, 2000, 20):
        assert MANY in abstention_verdict(n // 20, n), n
        assert MANY not in abstention_verdict(n // 20 - 1, n), n
        assert acceptance_verdict(n // 10, n) == acceptance_verdict(n - n // 10, n) == "", n


def test_whether_spread_follows_error_turns_on_its_threshold_and_on_chance() -> None:
    much, little = "The error is larger where answers spread more.", "The spread hardly predicts the error."
    assert [follows_verdict(rho, 100) for rho in (0.5, 0.49, -0.5)] == [much, little, little]
    few = "No clear link: chance alone can reach 0.26 on 60 rows."
    assert [follows_verdict(rho, 60) for rho in (0.25, 0.0, -0.25)] == [few] * 3
    assert follows_verdict(0.26, 60) == little
    assert follows_verdict(0.99, 3) == "No clear link: chance alone can reach 1.00 on 3 rows."
