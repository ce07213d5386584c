"""Verdicts and the thresholds on which they turn."""

import math

from vpp.wording.verdicts import (
    abstention_verdict,
    acceptance_verdict,
    entropy_verdict,
    ess_sentence,
    follows_verdict,
    miss_verdict,
    spread_verdict,
    tau_advice,
    too_few_words,
)

NBSP = "\N{NO-BREAK SPACE}"


def spaced(words: str) -> str:
    return words.replace(NBSP, " ")


def test_one_hypothesis_holds_nearly_all_weight_below_a_threshold() -> None:
    one, two = "one particle holds nearly all weight", "about two particles carry the weight"
    assert one in ess_sentence(1.4, 10)
    assert two in ess_sentence(1.5, 10)


def test_acceptance_is_low_high_or_from_too_few_proposals() -> None:
    few, low = "Too few proposals for a verdict.", "Low acceptance: the texts hardly change."
    high = f"Acceptance near 100{NBSP}%: rejection has little effect."
    cases = {(0, 9): few, (0, 10): low, (1, 10): "", (9, 10): "", (10, 10): high}
    assert {case: acceptance_verdict(*case) for case in cases} == cases


MANY = "look at the raw answers"


def test_abstentions_are_many_from_a_threshold_on() -> None:
    assert abstention_verdict(0, 100) == "Every answer could be read."
    assert spaced(abstention_verdict(4, 100)).startswith("4 % could not be read; these have no vote")
    assert MANY in abstention_verdict(5, 100)


def test_a_share_at_its_threshold_is_neither_below_nor_above() -> None:
    """In floating point 0.07 times 100 is more than 7, and 0.29 times 100 is less than 29."""
    for n in range(20, 2000, 20):
        assert MANY in abstention_verdict(n // 20, n), n
        assert acceptance_verdict(n // 10, n) == acceptance_verdict(n - n // 10, n) == "", n


def test_few_rows_are_too_few() -> None:
    assert too_few_words(1) == "1 test row is too few for a verdict: fewer than 30."
    assert too_few_words(6) == "6 test rows are too few for a verdict: fewer than 30."
    assert too_few_words(30) == ""


def test_an_entropy_is_compared_with_a_vote_between_two() -> None:
    bits = -0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)
    assert entropy_verdict(bits) == "As divided, on average, as a vote of 0.750 to 0.250."
    assert entropy_verdict(0) == "Unanimous: no row is divided."
    assert entropy_verdict(1e-5) == "Less divided than a vote of 0.999 to 0.001."
    assert entropy_verdict(1) == "As divided as an even split in two."
    assert entropy_verdict(1.2) == "More divided than an even split in two."


def test_a_miss_stands_beside_that_of_one_number_for_every_row() -> None:
    # The truths 0 and 4 lie 2 from their mean.
    assert miss_verdict(1, [0, 4]) == "A typical miss is 1; the same number for every row would miss by 2."
    assert miss_verdict(4, [0, 4]) == "A typical miss is 2; the best single number for every row misses by as much."
    assert miss_verdict(1e300, [3e160, -3e160]).startswith("A typical miss is 1e150; the same number")
    assert miss_verdict(9, [0, 4]) == "A typical miss is 3; the best single number misses by only 2."


def test_a_spread_is_held_against_a_typical_miss() -> None:
    assert spread_verdict(1, 4).startswith("Below a typical miss, 2:")
    assert spread_verdict(2, 4).startswith("Not below a typical miss, 2:")
    assert spread_verdict(0, 4).startswith("Below a typical miss, 2:")
    assert spread_verdict(0, 0) == "No spread and no miss: they agree, and they are right."


def test_agreement_of_wrong_numbers_comes_with_advice() -> None:
    cure = "A larger τ than 0.8 would let more hypotheses count (--tau; under More options)."
    assert spread_verdict(0.9, 4, 0.8).endswith(f"noise. {cure}")
    assert spread_verdict(1, 4, 0.8).endswith("noise.")
    assert tau_advice(0.8, ess=1.4) == cure
    assert tau_advice(0.8, ess=1.5) == ""
    assert tau_advice(None, ess=1) == ""


def test_whether_spread_follows_error_turns_on_its_threshold_and_on_chance() -> None:
    much, little = "The error is larger where answers spread more.", "The spread hardly predicts the error."
    assert [follows_verdict(rho, 100) for rho in (0.5, 0.49, -0.5)] == [much, little, little]
    few = "No clear link: chance alone can reach 0.26 on 60 rows."
    assert [follows_verdict(rho, 60) for rho in (0.25, 0.0, -0.25)] == [few] * 3
    assert follows_verdict(0.26, 60) == little
    assert follows_verdict(0.99, 3) == "No clear link: chance alone can reach 1.00 on 3 rows."
