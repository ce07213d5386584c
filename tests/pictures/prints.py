"""The pictures in docs/pictures: which part of which scene."""

from dataclasses import dataclass

from vpp.wording.theme import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A part of a scene, from one selector's top to another's; without a first one, of the window with its sidebar."""

    name: str
    scene: str
    first: str = ""
    until: str = ""
    at_most: int = 1400
    """CSS pixels of height."""
    mode: Mode = "light"
    width: int = 1440


def section(title: str) -> str:
    """The head of a section."""
    return f'.sec:has(h2:has-text("{title}"))'


TOP = ".vpp .title"
POINTS, PARTICLES = section("Point by point"), section("Particle by particle")
PRINTS = (
    Print(name="watch", scene="watch-step", until="article.card >> nth=3", at_most=1800),
    Print(name="front", scene="front", at_most=1000),
    Print(name="new-run", scene="new-run", first=section("Data"), until=section("Model")),
    Print(name="endpoint", scene="new-run-endpoint", first=section("Model")),
    Print(name="watch-live", scene="watch-live", first=TOP, at_most=1200, mode="dark"),
    Print(name="card", scene="watch-chains", first="article.card:has(details[open])", at_most=376),
    Print(name="posterior", scene="posterior", first=TOP, until=section("Ask the posterior"), at_most=2200),
    Print(name="asked", scene="posterior-asked", first=section("Ask the posterior"), until=section("Genealogy")),
    Print(name="genealogy", scene="posterior-ancestors", first=section("Genealogy"), until=section("Ruled out")),
    Print(name="ruled-out", scene="posterior", first=section("Ruled out"), until="article.out >> nth=3"),
    Print(name="disagreement", scene="disagreement", first=TOP, until=PARTICLES),
    Print(name="point", scene="disagreement-point", first=POINTS, until=PARTICLES, at_most=1100),
    Print(name="compare", scene="compare", first=TOP, mode="dark"),
    Print(name="paper", scene="paper", first=TOP, at_most=1000),
    Print(name="report", scene="report", first=TOP, at_most=1100),
    Print(name="failed", scene="watch-failed", first=TOP, at_most=520),
    Print(name="phone", scene="watch", mode="dark", width=390, at_most=1100),
)
