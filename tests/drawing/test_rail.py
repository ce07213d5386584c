"""The figures beside the cards: the genealogy of the last steps."""

import re

from tests.inspected import LABEL_CONFIG, label_events
from tests.reporting.builders import view_of
from vpp.drawing.rail import generations_html
from vpp.wording.words import NBSP

VIEW = view_of(*label_events())


def caption_of(html: str) -> str:
    return re.findall(r'<figcaption class="cap">(.*?)</figcaption>', html)[0].replace(NBSP, " ")


def test_lines_end_where_a_particle_was_dropped_and_split_where_it_was_copied() -> None:
    html = generations_html(VIEW, LABEL_CONFIG, None)
    assert (
        caption_of(html)
        == "4 particles at the end descend from 3 at step 0 · size = weight · dotted: died out · ring: resampled"
    )
    drawn_paths = dict(re.findall(r'class="(\w+)" d="([^"]*)"', html))
    # Particles 0 and 1 at the end come from 0; of 8 lines, only that of NONE, from step 0 to step 1, died out.
    assert (drawn_paths["alive"].count("M"), drawn_paths["dead"].count("M")) == (7, 1)
    assert (drawn_paths["node"].count("M"), drawn_paths["ghost"].count("M")) == (10, 2)
    assert drawn_paths["break"].count("M") == drawn_paths["ring"].count("M") == 1
    assert re.findall(r"<text[^>]*>(\w+)</text>", html) == ["0", "1", "end"]
