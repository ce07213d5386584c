"""What a measured figure says, and the page that it is put into."""

import pytest

from tests.performance.figures import Figure, packed, shown, table, unmeasured, unpacked
from tests.performance.page import END, PAGE, put


def test_a_figure_is_the_median_and_holds_by_it():
    figure = Figure(name="ratio", values=(1.3, 1.1, 1.2), target=1.2)
    assert (figure.middle, figure.holds) == (1.2, True)
    assert figure.line == "ratio | 1.20 (1.10 to 1.30 of 3) | at most 1.20 | holds"


@pytest.mark.parametrize(
    ("value", "sense", "holds"),
    [
        (2.0, "at most", True),
        (2.01, "at most", False),
        (2.0, "under", False),
        (1.99, "under", True),
        (2.0, "at least", True),
        (1.99, "at least", False),
    ],
)
def test_a_target_is_met_to_the_letter(value, sense, holds):
    assert Figure(name="x", values=(value,), target=2.0, sense=sense).holds is holds


def test_what_has_no_target_is_no_verdict():
    figure = Figure(name="calls", values=(1234.0,))
    assert figure.holds is None
    assert figure.line == "calls | 1,234 (one run) | – | no target"


def test_what_was_not_measured_does_not_hold_and_says_why():
    figure = unmeasured("ratio", "no such\noption", target=1.2)
    assert figure.holds is False
    assert figure.line == "ratio | not measured: no such option | at most 1.20 | does not hold"
    assert Figure(name="empty").holds is False


def test_values_show_what_counts():
    assert [shown(v) for v in (0, 0.0123, 1.045, 12.345, 250.4, 12345.6)] == [
        "0", "0.012", "1.04", "12.35", "250", "12,346",
    ]  # fmt: skip


def test_figures_come_back_from_json():
    figures = [Figure(name="a", values=(1.0, 2.0), target=3.0, sense="under", note="n"), unmeasured("b", "why")]
    assert unpacked(packed(figures)) == figures


def test_a_table_has_a_row_a_figure_and_each_command_and_note_once():
    lines = table(
        [
            Figure(name="a", values=(1.0,), target=2.0, command="make it", note="of one kind"),
            Figure(name="b", values=(3.0, 1.0, 4.0), target=2.0, command="make it", note="of one kind"),
        ]
    )
    assert lines == [
        "`make it`",
        "",
        "| figure | median (range) | target |",
        "|---|---|---|",
        "| a | 1 | at most 2 |",
        "| b | 3 (1–4) | at most 2 (missed) |",
        "",
        "- Of one kind.",
    ]


def test_a_section_of_the_page_is_replaced_and_no_other(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n<!-- one -->\nold\n{END}\nbetween\n<!-- two -->\nkept\n{END}\nbelow\n")
    put("one", "new", page)
    assert page.read_text() == f"above\n<!-- one -->\nnew\n{END}\nbetween\n<!-- two -->\nkept\n{END}\nbelow\n"
    with pytest.raises(ValueError, match="no place for three"):
        put("three", "new", page)


def test_the_page_has_a_place_for_the_bench():
    told = PAGE.read_text(encoding="utf-8")
    assert told.index("<!-- bench -->") < told.index(END)
