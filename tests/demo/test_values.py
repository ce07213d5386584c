"""Cells as prompts show them."""

from vpp.demo.rules import read_row, read_value


def test_a_cell_has_the_value_that_a_person_sees() -> None:
    for text, value in (
        ("1234.50 €", 1234.5),
        ("-3 °C", -3.0),
        ("45 %", 45.0),
        ("12 km/h", 12.0),
        ("5 US$", 5.0),
        ("−5", -5.0),
        ("1e5", 1e5),
        ("0", 0.0),
        ("0.5", 0.5),
        ("00123", "00123"),
        ("5 rooms and a bath", "5 rooms and a bath"),
        ("31.01.2024", "31.01.2024"),
        ("3 4 0 7", (3.0, 4.0, 0.0, 7.0)),
        ("missing", None),
    ):
        assert read_value(text) == value, text
    assert read_row("price: 12.50 €\nzip: 00123").cells == {"price": 12.5, "zip": "00123"}
