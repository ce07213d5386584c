"""Verdicts and the thresholds on which they turn."""

from dataclasses import asdict

from vpp.wording.verdicts import (
    DEFAULTS,
    MOVABLE,
    Thresholds,
    abstention_verdict,
    acceptance_verdict,
    follows_verdict,
    read,
    written,
)

NBSP = "\N{NO-BREAK SPACE}"


def test_every_threshold_can_be_moved_and_its_default_is_within_its_bounds() -> None:
    assert [movable.name for movable in MOVABLE] == list(asdict(DEFAULTS))
    for movable in MOVABLE:
        assert movable.least <= movable.shown(DEFAULTS) <= movable.most


def test_what_is_moved_is_written_for_an_address_and_read_again() -> None:
    at = Thresholds(one_voice=2.5, few_rows=12, well_backed=0.9)
    assert written(at) == "one_voice:2.5,well_backed:0.9,few_rows:12"
    assert read(written(at)) == at
    assert written(DEFAULTS) == ""


UNREADABLE = ("", "few_rows", "few_rows:nan", "few_rows:inf", "few_rows:many", "other:3", ",,:")
ROUNDED = {
    "one_voice:1.5432": "",
    "one_voice:2.37,follows:0.63,chance:0.0149": "one_voice:2.4,follows:0.65,chance:0.01",
    "few_rows:7.4": "few_rows:7",
    "abstained:0.0723": "abstained:0.07",
}


def test_values_in_an_address_are_rounded_to_the_fields_steps_and_clipped_to_its_range() -> None:
    assert {text: written(read(text)) for text in ROUNDED} == ROUNDED
    assert read("well_backed:7,few_rows:-3") == Thresholds(well_backed=1.0, few_rows=1)
    assert {read(text) for text in UNREADABLE} == {DEFAULTS}


def test_acceptance_is_low_high_or_from_too_few_proposals() -> None:
    few, low = "Too few proposals for a verdict.", "Low acceptance: the texts hardly change."
    high = f"Acceptance near 100{NBSP}%: rejection has little effect."
    cases = {(0, 9): few, (0, 10): low, (1, 10): "", (9, 10): "", (10, 10): high}
    assert {case: acceptance_verdict(*case) for case in cases} == cases
    at = Thresholds(low_acceptance=0.3, high_acceptance=0.6, few_judged=5)
    assert [acceptance_verdict(n, 10, at=at) for n in (2, 3, 6, 7)] == [low, "", "", high]
    assert acceptance_verdict(0, 4, at=at) == few


MANY = "look at the raw answers"


def test_a_share_at_its_threshold_is_neither_below_nor_above() -> None:
    """In floating point 0.07 times 100 is more than 7, and 0.29 times 100 is less than 29."""
    for share in range(1, 100):
        at = read(f"abstained:{share / 100},low_acceptance:{share / 100},high_acceptance:{share / 100}")
        assert MANY in abstention_verdict(share, 100, at=at), share
        assert MANY not in abstention_verdict(share - 1, 100, at=at), share
        if share == 50:  # the only share within the bounds of both
            assert acceptance_verdict(share, 100, at=at) == ""
        if share <= 50:
            assert acceptance_verdict(share, 100, at=read(f"low_acceptance:{share / 100}")) == "", share
        if share >= 50:
            assert acceptance_verdict(share, 100, at=read(f"high_acceptance:{share / 100}")) == "", share


def test_whether_spread_follows_error_turns_on_its_threshold_and_on_chance() -> None:
    much, little = "The error is larger where answers spread more.", "The spread hardly predicts the error."
    assert [follows_verdict(rho, 100) for rho in (0.5, 0.49, -0.5)] == [much, little, little]
    assert follows_verdict(0.5, 100, at=Thresholds(follows=0.6)) == little
    few = "No clear link: chance alone can reach 0.26 on 60 rows."
    assert [follows_verdict(rho, 60) for rho in (0.25, 0.0, -0.25)] == [few] * 3
    assert follows_verdict(0.26, 60) == little
    assert follows_verdict(0.99, 3) == "No clear link: chance alone can reach 1.00 on 3 rows."
