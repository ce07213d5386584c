"""Dates as people write them, one form a column."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpp.data.kinds import DateForm, find_form, is_date


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (["2024-01-31", "1999/1/2"], "year-month-day"),
        (["2024-01-31T12:30:00Z", "2024-01-31 12:30"], "year-month-day"),
        (["31.01.2024", "1.2.24"], "day/month/year"),
        (["13/04/2024", "5/6/2024"], "day/month/year"),
        (["4/13/2024 3:15 PM", "5/6/2024"], "month/day/year"),
        (["31 Jan 2024", "1 February 2024"], "day month year"),
        (["Jan 31, 2024"], "month day, year"),
        (["20240131", "20240201", "20231224"], "yearmonthday"),
        (["20240131", "20240201"], None),
        (["2024-13-01"], None),
        (["2024-02-30"], None),
        (["31.01.2024", "2024-01-31"], None),
        (["3-4-0-7"], None),
        (["1-2-3", "10-11-12"], None),
        (["12:30"], None),
        ([], None),
    ],
)
def test_a_column_has_one_form(cells, name):
    form = find_form(cells)
    assert (form.name if form else None) == name


def test_a_day_that_could_be_a_month_is_said_only_where_that_matters():
    assert find_form(["03/04/2024"]) == DateForm("month/day/year", "day/month/year")
    assert find_form(["03/03/2024"]) == DateForm("month/day/year")


def test_a_zone_is_taken_into_account_and_half_days_are():
    form = find_form(["2024-01-31T12:30:00+02:00"])
    assert form
    assert form.read("2024-01-31T12:30:00+02:00") == datetime(2024, 1, 31, 10, 30)
    assert DateForm("month/day/year").read("1/31/24 12:05 AM") == datetime(2024, 1, 31, 0, 5)
    with pytest.raises(ValueError, match="not a date"):
        form.read("soon")


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2069, 12, 31)))
def test_a_moment_is_read_back_from_each_form(moment):
    moment = moment.replace(microsecond=0)
    for name, form in {
        "year-month-day": "%Y-%m-%dT%H:%M:%S",
        "day/month/year": "%d.%m.%y %H:%M:%S",
        "month/day/year": "%m/%d/%Y %I:%M:%S %p",
        "month day, year": "%B %d, %Y %H:%M:%S",
    }.items():
        assert DateForm(name).read(moment.strftime(form)) == moment
        assert is_date(moment.strftime(form))
