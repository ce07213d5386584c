"""Kinds of columns, dates, words for a missing cell, and numbers as people write them."""

import math
import re
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.columns import date_forms, is_date, is_identifier, read_columns, read_date
from vpp.data.numbers import is_number, read_notation, read_number, write_number


def kind_of(cells: list[str], name: str = "x") -> str:
    return read_columns({name: cells})[0][0].kind


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "+.5", "3.", "1e-3"], "number"),
        (["0", "1", "2"], "number"),
        (["[3, 4, 0, 7]", "(1, -2)", "[1 2 3]", "3;4;0;7", "3-4"], "text"),
        (["1ST", "2nd", "3rd", "11th", "2nd"], "category"),
        (["11 st", "12.5st", "13.5 st"], "number"),
        (["12 rd/s", "13.5 rd/s"], "number"),
        (["a long day", "a short one", "no day at all"], "text"),
        (["1e999", "2", "2"], "category"),
        (["2024-13-01", "2024-02-30", "12"], "text"),
        (["31 Jan 2024", "1 February 2024"], "date"),
        (["20240131", "20240201"], "number"),
        (["31.01.2024", "2024-01-31"], "text"),
        (["", "NA"], "text"),
        ([f"the parcel number {i} was {word}" for i in range(21) for word in ("late", "late")], "text"),
        ([f"strongly {i} agree" for i in range(21)] * 2, "category"),
        (["I do agree with that", "I do not agree at all"] * 9, "category"),
    ],
)
def test_a_kind_is_what_every_present_cell_is(cells, kind):
    assert kind_of(cells) == kind


@pytest.mark.parametrize("name", ["zip", "Postal code", "home phone", "ISBN"])
def test_integers_under_the_name_of_a_code_are_no_numbers(name):
    assert kind_of(["94103", "10115", "20095"], name) == "text"
    assert kind_of(["94103", "10115", "20095"], "price") == "number"
    assert kind_of(["1", "2", "3"], name) == "number"


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_python_writes_is_a_number(value):
    assert is_number(repr(value))
    assert float(repr(value)) == value


@pytest.mark.parametrize("text", ["inf", "nan", "1_000", "1,000", "١", "0x1f", "", "1 2", "9" * 400, "--1", "e5"])
def test_other_texts_are_no_plain_numbers(text):
    assert not is_number(text)


@pytest.mark.parametrize(
    ("name", "cells", "is_id"),
    [
        ("n", ["3", "1", "2"], True),
        ("customer_id", ["48213", "977", "5120"], True),
        ("PassengerId", ["10", "30", "20"], True),
        ("n", ["9" * 5000, "8" * 5000], True),
        ("mail", ["ann@example.org", "bo+x@example.org", "cy@example.org"], True),
        ("seen", ["2024-01-31 12:30", "2024-02-01 08:15", "2024-02-01 09:00"], True),
        ("step", ["1.0", "2.0", "3.0"], False),
        ("mass", ["3750", "3800", "3250"], False),
        ("id", ["1", "2", "2"], False),
        ("id", ["1", None, "3"], False),
        ("review", ["a good 1", "a bad 2", "so so 3"], False),
        ("steps", ["3 4 0 7", "1 2", "5 6"], False),
        ("word", ["pear" * 5000, "plum" * 5000], False),
    ],
)
def test_an_index_and_codes_only_name_their_rows_and_measurements_words_and_repeats_do_not(name, cells, is_id):
    assert is_identifier(name, cells, kind_of([cell or "" for cell in cells], name)) == is_id


@pytest.mark.parametrize(
    ("cells", "note", "undo"),
    [
        (["4.5kg", "15.8kg"], "line 9 holds '15.8kg', read as 15.8 kg", "--kind 'w=text'"),
        (["10,0", "1.000"], "line 9 holds '1.000', read as 1000", "--read decimal=point or --kind 'w=text'"),
        (["81 744", "9 100"], "line 5 holds '81 744', read as 81744", "--kind 'w=text'"),
        (["a", "NA", "b"], "1 cell is missing, written as 'NA' (1, as in line 9)", "with --missing"),
        (
            ["1", "2", "3", "4", "45.0\x07"],
            r"though mostly numbers: line 21 holds '45.0\x07'",
            "correct it in the file",
        ),
        (["1", "2", "3", "x"], "though mostly numbers: line 17 holds 'x'", "--missing 'w=x'"),
        (["$5", "€7"], "not in one notation (line 5 holds '$5', line 9 holds '€7')", "with --inputs"),
        (["00123", "00456"], "line 5 holds '00123', read as a code of digits", "--kind 'w=number'"),
        (["03/04/2024"], "line 5 holds '03/04/2024', which could be month/day/year or day", "--kind 'w=text'"),
        (["EU", "NA", "AS"], "line 9 holds 'NA', read as a label", "--missing 'w=NA'"),
    ],
)
def test_a_guess_is_a_note_with_its_line_and_what_undoes_it(cells, note, undo):
    (text,) = read_columns({"w": cells}, lines=range(5, 5 + 4 * len(cells), 4))[2]
    assert note in text
    assert undo in text[text.index(note) + len(note) :]


def test_two_orders_of_day_and_month_are_doubtful_only_if_they_differ():
    def said(cells: list[str]) -> bool:
        return any("could be month/day/year or day/month/year" in note for note in read_columns({"x": cells})[2])

    assert said(["03/04/2024"])
    assert not said(["03/03/2024"])
    assert not said(["13/04/2024", "5/6/2024"])
    assert date_forms([]) == []


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2069, 12, 31)))
def test_a_moment_is_read_back_from_each_form(moment):
    moment = moment.replace(microsecond=0)
    for name, form in {
        "year-month-day": "%Y-%m-%dT%H:%M:%S",
        "day/month/year": "%d.%m.%y %H:%M:%S",
        "month/day/year": "%m/%d/%Y %I:%M:%S %p",
        "month day, year": "%B %d, %Y %H:%M:%S",
    }.items():
        assert read_date(moment.strftime(form), name) == moment
        assert is_date(moment.strftime(form))
    assert read_date(moment.strftime("%Y-%m-%d %H:%M:%S+00:00"), "year-month-day") == moment


def test_a_zone_is_converted_to_utc_and_an_impossible_hour_is_no_date():
    moments = {"2024-01-31T12:30:00+02:00": datetime(2024, 1, 31, 10, 30), "2024-01-31 13:30 PM": None, "soon": None}
    assert {text: read_date(text, "year-month-day") for text in moments} == moments


MARKS = [(".", ""), (",", ""), *map(tuple, (".,", ",.", ".'", ".’", ", ", ".\u202f", ",\xa0"))]
UNITS = ["", "€", "$", "CHF", "%", "kr", "US$"]
MINUS = re.compile("[(\\-−–‒﹣－]")
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2)


def written(number: Decimal, marks: tuple[str, str], unit: str, *, before: bool, minus: str) -> str:
    """Write a number with two decimals, as a person writes it."""
    decimal, grouping = marks
    digits = f"{abs(number):,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", grouping)
    sign = "" if number >= 0 else minus
    if not unit:
        return f"({digits})" if sign == "(" else f"{sign}{digits}"
    amount = f"{unit} {digits}" if before else f"{digits} {unit}"
    return f"({amount})" if sign == "(" else f"{sign}{amount}"


def digits(text: str) -> str:
    """The digits of a number without zeros before them."""
    return re.sub("[^0-9]", "", text).lstrip("0")


@settings(deadline=None)
@given(
    numbers=st.lists(NUMBERS, min_size=1, max_size=6),
    marks=st.sampled_from(MARKS),
    unit=st.sampled_from(UNITS),
    before=st.booleans(),
    minus=st.sampled_from(["-", "−", "("]),
)
def test_every_notation_reads_back_to_the_same_numbers(numbers, marks, unit, before, minus):
    numbers = [*numbers, Decimal("0.25")]
    before = before and unit not in ("%",)
    cells = [written(number, marks, unit, before=before, minus=minus) for number in numbers]
    read, notation = read_notation(cells)
    assert list(map(Decimal, read)) == numbers
    assert notation is None or (notation.unit, notation.decimal) == (unit, marks[0])
    assert [read_number(cell, notation) for cell in cells] == list(read)
    assert [Decimal(read_number(write_number(number, notation), notation) or "") for number in read] == numbers


@settings(deadline=None)
@given(
    st.one_of(
        st.lists(st.text(max_size=12), max_size=5),
        st.lists(st.from_regex(r"-?[1-9][0-9]{0,2}[.,' ][0-9]{1,3}( [€%])?", fullmatch=True), max_size=3),
    ),
    st.sampled_from([None, ".", ","]),
)
def test_any_cells_are_read_or_unchanged(cells, decimal):
    read, notation = read_notation(cells, decimal=decimal)
    if notation is None:
        assert list(read) == cells
    else:
        assert list(read) == [read_number(cell, notation) for cell in cells]
        for cell, number in zip(cells, read, strict=True):
            assert math.isfinite(float(number))
            assert digits(number) == digits(cell)
            assert number.startswith("-") or not cell.startswith("-")
            assert not number.startswith("-") or MINUS.search(cell)
