"""The page of ratios."""

from pathlib import Path

import pytest

from tests.performance.ratios import BEGIN, END, Ratio, divided, put


def test_the_page_says_which_limits_are_missed(tmp_path: Path) -> None:
    ratios = [divided("a", 3.0, 2.0, unit="s", most=1.4), divided("b", 3.0, 2.0, unit="s"), Ratio(name="c", value=1.0)]
    assert [ratio.holds for ratio in ratios] == [False, True, True]
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    put(page, "About.", ratios)
    text = page.read_text()
    assert "| a | 1.50 | 1.4 (missed) | 3 / 2 s |\n| b | 1.50 | – | 3 / 2 s |" in text
    assert text.startswith("above\n<!-- bench -->\n\nAbout.\n")
    assert text.endswith("|\n<!-- end -->\nbelow\n")
    page.write_text("no marks")
    with pytest.raises(ValueError):
        put(page, "About.", ratios)
