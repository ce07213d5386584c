"""Input columns as form fields: their ranges, typed rows, and values outside the training rows."""

from dataclasses import replace

import pytest

from tests.reporting.builders import YES_NO
from vpp.data.dataset import Column, Row
from vpp.data.labelling import Field, input_fields, typed_row
from vpp.errors import DataError

CELLS = (("10", "red"), ("-2.5", None), (None, "blue"), ("9", "red"))
DATA = replace(
    YES_NO,
    inputs=("size", "colour"),
    columns=(
        Column(name="colour", kind="category", n_missing=1, n_distinct=2),
        Column(name="size", kind="number", n_missing=1, n_distinct=3),
    ),
    train=tuple(
        Row(id=i, inputs=(("size", size), ("colour", colour)), target="yes") for i, (size, colour) in enumerate(CELLS)
    ),
    test=(Row(id=4, inputs=(("size", "99"), ("colour", "green")), target="no"),),
)


def test_a_field_knows_the_training_rows_alone() -> None:
    size, colour = input_fields(DATA)
    assert size == Field(name="size", kind="number", example="10", low="-2.5", high="10")
    assert colour == Field(name="colour", kind="category", example="red", values=("blue", "red"))


@pytest.mark.parametrize(
    ("cell", "outside"), [("-2.5", False), ("10.0", False), ("10.01", True), ("-3", True), ("ten", True), (None, False)]
)
def test_a_number_beyond_the_range_is_outside(cell: str | None, outside: bool) -> None:
    assert input_fields(DATA)[0].is_outside(cell) == outside


@pytest.mark.parametrize(("cell", "outside"), [("red", False), ("green", True), (None, False)])
def test_a_category_not_seen_is_outside(cell: str | None, outside: bool) -> None:
    assert input_fields(DATA)[1].is_outside(cell) == outside


def test_what_is_typed_becomes_a_row_and_an_empty_field_is_missing() -> None:
    fields = input_fields(DATA)
    assert typed_row(fields, [" 7 ", ""]).inputs == (("size", "7"), ("colour", None))
    assert typed_row(fields, ["NA", "green"]).inputs == (("size", None), ("colour", "green"))


@pytest.mark.parametrize(
    ("cells", "said"), [(["7,5", "red"], "such as 10, not '7,5'"), ([" ", None], "every field is empty")]
)
def test_an_invalid_row_is_refused(cells: list[str | None], said: str) -> None:
    with pytest.raises(DataError, match=said):
        typed_row(input_fields(DATA), cells)
