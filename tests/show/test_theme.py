"""Colours: one set for all files, readable on every surface."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from vpp.show.figures import HUES, TOKENS, Mode, Token

ROOT = Path(__file__).parents[2]
MODES: tuple[Mode, ...] = ("light", "dark")
HEX = re.compile(r"#[0-9a-fA-F]{3,8}\b")
SOURCES = [
    *ROOT.glob("vpp/**/*.py"),
    *ROOT.glob("pages/**/*.py"),
    *ROOT.glob("assets/*.js"),
    *ROOT.glob("assets/*.html"),
    ROOT / "app.py",
]
SHEET = (ROOT / "assets/vpp.css").read_text()
PRIMARY = Token("#16202a", "#657787")
"""Colour of sliders and ticked boxes. Streamlit writes white on it in both themes, so it cannot be ink in the dark."""
PAGES = ("paper", "sheet", "sunk")
VERDICTS = ("accept", "reject", "gone", "unsure")
LABELS = tuple(f"l{n}" for n in range(HUES))
TEXTS = ("ink", "ink-2", "ink-3", *VERDICTS, *LABELS)


def rgb_of(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    dark, light = sorted(float(colour @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def screen_colour(name: str, mode: Mode) -> np.ndarray:
    return linear(rgb_of(getattr(TOKENS[name], mode)))


def colours(text: str) -> set[str]:
    return {found.lower() for found in HEX.findall(text)}


def test_the_stylesheet_has_its_tokens_and_no_other_colour() -> None:
    assert {*TEXTS, *PAGES} < TOKENS.keys()
    assert len(HEX.findall(SHEET)) == 2 * len(TOKENS)


def test_every_class_of_the_stylesheet_is_drawn_somewhere() -> None:
    """Keys of Streamlit's containers aside, which pages may put together."""
    selectors = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "", SHEET, flags=re.DOTALL)
    classes = set(re.findall(r"\.(?!st-key-)([a-zA-Z][\w-]*)", selectors))
    assert classes - {*LABELS} - {word for path in SOURCES for word in re.findall(r"[\w-]+", path.read_text())} == set()


def test_each_colour_of_streamlits_theme_is_one_token_in_both_themes() -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]
    sidebars = tuple(theme[mode].pop("sidebar") for mode in MODES)
    for light, dark in (sidebars, (theme["light"], theme["dark"])):
        assert light.keys() == dark.keys()
        assert {Token(light[key], dark[key]) for key in light} <= {*TOKENS.values(), PRIMARY}


def test_drawings_have_no_other_colours_and_no_colour_stands_elsewhere() -> None:
    for name in ("logo.svg", "icon.svg"):
        assert colours((ROOT / "assets" / name).read_text()) == {*TOKENS["accept"], *TOKENS["ink"]}, name
    found = {
        path.name for path in SOURCES if re.search(rf"{HEX.pattern}|\b(rgb|hsl|oklch)a?\((?!0,0,0,0)", path.read_text())
    }
    assert found == set()


WRITTEN_ON = (
    *((words, page) for words in TEXTS for page in PAGES),
    *((words, f"{verdict}-tint") for verdict in VERDICTS for words in ("ink", verdict)),
    ("ink-2", "accept-tint"),
    ("ink-2", "unsure-tint"),
    ("ink-3", "accept-tint"),
    ("ink-3", "reject-tint"),
    ("paper", "ink"),
)


@pytest.mark.parametrize("mode", MODES)
def test_text_is_readable_on_every_surface(mode: Mode) -> None:
    for words, surface in WRITTEN_ON:
        assert contrast(screen_colour(words, mode), screen_colour(surface, mode)) >= 4.5, (words, surface)
    far = 0.32 * rgb_of(getattr(TOKENS["ink"], mode)) + 0.68 * rgb_of(getattr(TOKENS["sunk"], mode))
    assert contrast(screen_colour("ink", mode), linear(far)) >= 4.5
    assert contrast(np.ones(3), linear(rgb_of(getattr(PRIMARY, mode)))) >= 4.5
