"""Praise of a rule is refused, though it names labels or speaks of items and values."""

import pytest

from vpp.data.dataset import Dataset

from .test_guards import ADMISSION, DIGITS, HOUSES, PENGUINS, REVIEWS, fault
from .test_leaks import BITS, HEART

PRAISE = [
    (HEART, "This is an excellent rule that predicts sick or healthy patients very well."),
    (HEART, "The current rule is good and correctly gives sick and healthy for most rows."),
    (HEART, "The rule gives the correct output, healthy or sick, for every patient."),
    (BITS, "The rule works well for all items."),
    (BITS, "The rule correctly gives 0 and 1 for all rows."),
    (DIGITS, "The rule works well for all items."),
    (DIGITS, "The rule correctly predicts the number."),
    (HOUSES, "The current rule is good and fits all values well."),
    (HOUSES, "The rule correctly predicts the number."),
]
RULES = [
    (ADMISSION, "The rule is to always answer admitted."),
    (HEART, "This rule gives sick for age above 40 and healthy for the rest."),
    (HEART, "The new rule is: typical pain means sick, all others are healthy"),
    (PENGUINS, "The rule says Torgersen is Adelie and Biscoe is Gentoo"),
    (REVIEWS, "This rule predicts positive for great reviews and negative for bad ones"),
    (DIGITS, "The rule outputs the parity of the integers."),
    (DIGITS, "This rule gives 1 for odd sums and 0 for even sums."),
    (HOUSES, "The rule is to output the median price, about 150."),
]


@pytest.mark.parametrize(("dataset", "text"), PRAISE)
def test_praise_is_refused(dataset: Dataset, text: str) -> None:
    assert "it only speaks of a rule: say which inputs give which output" in (fault(dataset, text) or "")


@pytest.mark.parametrize(("dataset", "rule"), RULES)
def test_a_rule_may_speak_of_itself(dataset: Dataset, rule: str) -> None:
    assert fault(dataset, rule) is None
