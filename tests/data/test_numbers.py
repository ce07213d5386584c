"""Numbers as people write them: every notation reads back to the same number; ambiguous ones are decided and marked."""

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vpp.data.columns import read_notation, read_number, write_number

MARKS = [(".", ""), (",", ""), *map(tuple, (".,", ",.", ".'", ".’", ", ", ".\u202f", ",\xa0"))]
UNITS = ["", "€", "$", "CHF", "%", "kr", "US$"]
MINUS = re.compile("[(\\-−–‒﹣－]")
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=2)


def written(number: Decimal, marks: tuple[str, str], unit: str, *, before: bool, minus: str) -> str:
    """With two decimals, as a person would."""
    decimal, grouping = marks
    digits = f"{abs(number):,.2f}".replace(",", "\0").replace(".", decimal).replace("\0", grouping)
    sign = "" if number >= 0 else minus
    if not unit:
        return f"({digits})" if sign == "(" else f"{sign}{digits}"
    told = f"{unit} {digits}" if before else f"{digits} {unit}"
    return f"({told})" if sign == "(" else f"{sign}{told}"


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


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1,5e-3", "2"], ["1.5e-3", "2"]),
        (["5-", "1.000,5"], ["-5", "1000.5"]),
        (["12.345.678", "9"], ["12345678", "9"]),
        (["0,123", "1,234"], ["0.123", "1.234"]),
        (["1234,5", "1.234,5", ",5"], ["1234.5", "1234.5", "0.5"]),
        (["₹ 12,34,567.50", "₹ 999"], ["1234567.50", "999"]),
        (["1.234,5", "1,234.5"], None),
        (["5", "5 €"], None),
        (["192.168.0.1", "10.0.0.1"], None),
        (["3,4,0,7", "1,2,3,4"], None),
        (["1e999 €", "2 €"], None),
        (["١", "٢"], None),
    ],
)
def test_cells_are_read_in_their_common_notation_or_stay_unchanged(cells, read):
    assert list(read_notation(cells)[0]) == (read or cells)


@pytest.mark.parametrize(
    ("cells", "options", "read", "is_doubtful"),
    [
        (["1,234"], {}, "1234", True),
        (["1,234"], {"likely": ","}, "1.234", True),
        (["1.234"], {}, "1.234", None),
        (["1.234"], {"likely": ","}, "1234", True),
        (["1,234", "5,6"], {}, "1.234", False),
        (["1 100", "2 200"], {}, "1100", True),
        (["1 100", "22"], {}, "1100", False),
        (["1\u202f100", "2\u202f200"], {}, "1100", False),
    ],
)
def test_an_ambiguous_mark_is_decided_and_marked_as_doubtful(cells, options, read, is_doubtful):
    numbers, notation = read_notation(cells, **options)
    assert numbers[0] == read
    assert (notation.is_doubtful if notation else None) == is_doubtful
