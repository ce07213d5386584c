"""Verdicts and the thresholds on which they turn."""

from vpp.wording.verdicts import acceptance_verdict

NBSP = "\N{NO-BREAK SPACE}"


def test_acceptance_is_low_high_or_from_too_few_proposals() -> None:
    few, low = "Too few proposals for a verdict.", "Low acceptance: the texts hardly change."
    high = f"Acceptance near 100{NBSP}%: rejection has little effect."
    cases = {(0, 9): few, (0, 10): low, (1, 10): "", (9, 10): "", (10, 10): high}
    assert {case: acceptance_verdict(*case) for case in cases} == cases
