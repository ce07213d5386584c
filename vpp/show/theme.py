"""Colours of both themes, shared by the stylesheet, Streamlit's theme and the report.

assets/vpp.css and .streamlit/config.toml cannot import; tests/show/test_theme.py holds their values equal to these.
"""

from typing import Literal, NamedTuple

Mode = Literal["light", "dark"]


class Token(NamedTuple):
    """A colour in each theme, as #rrggbb."""

    light: str
    dark: str

    def of(self, mode: Mode) -> str:
        return self.light if mode == "light" else self.dark


TOKENS: dict[str, Token] = {
    "paper": Token("#f7f8f6", "#12171c"),
    "sheet": Token("#ffffff", "#181f25"),
    "sunk": Token("#edf0ee", "#0d1115"),
    "ink": Token("#16202a", "#e9ece8"),
    "ink-2": Token("#42505c", "#b7c0c6"),
    "ink-3": Token("#5b6771", "#929da6"),
    "rule": Token("#d9ddda", "#2b343c"),
    "edge": Token("#7f8a92", "#6a7680"),
    "past": Token("#848f97", "#5f6b75"),
    "accept": Token("#0b5fa5", "#74b7f2"),
    "accept-tint": Token("#e4eff9", "#15293b"),
    "reject": Token("#8f1f06", "#ec7a52"),
    "reject-tint": Token("#faeae4", "#341f19"),
    "gone": Token("#4b3358", "#9a86b8"),
    "gone-tint": Token("#f0ebf6", "#272135"),
    "unsure": Token("#7a6200", "#e8c860"),
    "unsure-tint": Token("#fbf1dc", "#2d2614"),
    "l0": Token("#1d6a66", "#6cc0b8"),
    "l1": Token("#80540f", "#dcab62"),
    "l2": Token("#67488f", "#b9a3e0"),
    "l3": Token("#49691f", "#a4c572"),
    "l4": Token("#8f3f68", "#de9bbd"),
    "l5": Token("#435a73", "#9fb6ce"),
}
"""Surfaces (paper, sheet, sunk), ink, lines (rule; edge of a control; past bars), verdicts, tints, labels."""
PRIMARY = Token("#16202a", "#657787")
"""Colour of sliders and ticked boxes. Streamlit writes white on it in both themes, so it cannot be ink in the dark."""
