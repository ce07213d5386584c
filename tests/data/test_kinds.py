"""Kinds of columns, and which columns only name their rows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.kinds import find_kind, is_identifier, is_number, sequence_items


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "+.5", "3.", "1e-3"], "number"),
        (["1", None, "2"], "number"),
        (["2024-01-31", "1999/1/2"], "date"),
        (["2024-01-31T12:30:00Z", "2024-01-31 12:30"], "date"),
        (["3 4 0 7", "1 2"], "sequence"),
        (["[3, 4, 0, 7]", "(1, -2)", "[1 2 3]"], "sequence"),
        (["3;4;0;7", "3,4", "3|4"], "sequence"),
        (["3-4-0-7", "1-2"], "sequence"),
        (["Adelie", "Gentoo", "Adelie", "Gentoo"], "category"),
        (["yes", "no", "yes", None], "category"),
        (["a long day", "a short one", "no day at all"], "text"),
        ([None, None], "text"),
        (["1", "two", "1", "two"], "category"),
        (["1e999", "2", "2"], "category"),
        (["1,5", "2,5", "3,25"], "text"),
        (["2024-13-01", "2024-02-30", "12"], "text"),
        (["[3, 4", "5, 6"], "text"),
        (["0", "1", "0"], "category"),
        (["0", "1", "2"], "number"),
        (["00123", "04109"], "text"),
        (["007", "008", "007"], "category"),
        (["4111111111111111", "4222222222222220"], "text"),
        (["555-1234", "555-9876"], "text"),
        (["31.01.2024", "1.2.2024"], "date"),
    ],
)
def test_a_kind_is_what_every_present_cell_is(cells, kind):
    assert find_kind(cells) == kind


@pytest.mark.parametrize("name", ["zip", "Postal code", "PLZ", "phone_number", "home phone", "ISBN"])
def test_a_name_may_tell_that_digits_count_nothing(name):
    assert find_kind(["94103", "10115", "20095"], name=name) == "text"
    assert find_kind(["94103", "10115", "20095"], name="price") == "number"
    assert find_kind(["1", "2", "3"], name=name) == "number"


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_python_writes_is_a_number(value):
    assert is_number(repr(value))
    assert float(repr(value)) == value


@pytest.mark.parametrize("text", ["inf", "nan", "1_000", "1,000", "١", "0x1f", "", "1 2", "9" * 400, "--1", "e5"])
def test_what_is_not_a_plain_finite_number_is_none(text):
    assert not is_number(text)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("n", ["0", "1", "2", "3"]),
        ("n", ["3", "1", "2"]),
        ("customer_id", ["48213", "977", "5120"]),
        ("PassengerId", ["10", "30", "20"]),
        ("No", ["10", "30", "20"]),
        ("sample", ["A-017", "A-020", "B-003"]),
        ("key", ["9f86d081", "e3b0c442", "0a1b2c3d"]),
        ("n", ["9" * 5000, "8" * 5000]),
        ("mail", ["ann@example.org", "bo+x@example.org", "cy@example.org"]),
        ("zip", ["94103", "10115", "20095"]),
        ("hash", ["9f86d081", "12e45678", "60303031"]),
        ("seen", ["2024-01-31 12:30", "2024-02-01 08:15", "2024-02-01 09:00"]),
    ],
)
def test_an_index_and_codes_only_name_their_rows(name, cells):
    assert is_identifier(name, cells, find_kind(cells, name=name))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("mass", ["3750.5", "3800.1", "3250.2"]),
        ("step", ["1.0", "2.0", "3.0"]),
        ("mass", ["3750", "3800", "3250"]),
        ("paid", ["10", "30", "20"]),
        ("id", ["1", "2", "2"]),
        ("id", ["1", None, "3"]),
        ("review", ["a good 1", "a bad 2", "so so 3"]),
        ("word", ["apple", "pear", "plum"]),
        ("steps", ["3-4-0-7", "1-2", "5-6"]),
        ("compound", ["NaCl", "H2O", "CO2"]),
        ("word", ["pear" * 5000, "plum" * 5000]),
    ],
)
def test_measurements_words_and_repeats_do_not(name, cells):
    assert not is_identifier(name, cells, find_kind(cells, name=name))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("3 4 0 7", (3, 4, 0, 7)),
        ("[3, -4; 0|7]", (3, -4, 0, 7)),
        ("(+1 -2)", (1, -2)),
        ("3-4-0-7", (3, 4, 0, 7)),
        ("7", None),
        ("3 four", None),
        (f"1 {'9' * 400}", None),
    ],
)
def test_a_sequence_is_its_integers(text, items):
    assert sequence_items(text) == items
