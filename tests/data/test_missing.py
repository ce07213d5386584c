"""Words for a missing cell, and columns in which they are labels."""

from collections import Counter

import pytest

from vpp.data.kinds import MISSING, clean_cell, labels_among


@pytest.mark.parametrize("word", sorted(MISSING))
def test_a_word_for_a_missing_cell_is_known_in_any_case(word):
    assert clean_cell(f" {word.upper()} ") is None


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["None", "Mild", "Severe", "Mild", "Severe"], {"None"}),
        (["None", "Mild", "Severe"], set()),
        (["None", "1", "2", "1", "2"], set()),
        (["none", "x", "x", "x"], set()),
        (["NA", "EU", "AS"], {"NA"}),
        (["NA", "male", "female", "male", "female"], set()),
        (["na", "EU", "AS"], set()),
        (["-", "+", "+"], {"-"}),
        (["-", "3", "+"], set()),
        (["-", ""], set()),
    ],
)
def test_a_word_is_a_label_only_among_its_like(texts, labels):
    assert labels_among(Counter(texts)) == labels
