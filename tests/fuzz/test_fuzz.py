"""The short form of `make fuzz`: some hundred inputs a target, always the same ones, and what campaigns have found."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import BY_NAME, TARGETS, Target

FOUND = sorted(path for path in (Path(__file__).parent / "found").glob("*/*") if path.is_file())


@st.composite
def inputs(draw: st.DrawFn, target: Target) -> bytes:
    """A seed with some bytes put in, taken out or changed; sometimes bytes alone."""
    seeds = list(target.seeds())
    content = bytearray(draw(st.sampled_from(seeds)) if seeds else b"")
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        content[at : at + draw(st.integers(0, 6))] = draw(st.binary(max_size=6))
    return bytes(content)[: target.longest]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_any_input_is_read_or_refused(target: Target) -> None:
    @settings(
        max_examples=target.examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(inputs(target))
    def one(data: bytes) -> None:
        target.check(data)

    one()


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_stays_mended(path: Path) -> None:
    BY_NAME[path.parent.name].check(path.read_bytes())
