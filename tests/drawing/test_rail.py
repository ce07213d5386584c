"""The three small figures of a step: the map, the bars by step, and the genealogy of the last steps."""

import re

from tests.inspected import LABEL_CONFIG, LABELS, label_events
from tests.reporting.builders import view_of
from vpp.drawing.rail import generations_html, map_alt, map_caption, map_html, point_label
from vpp.inspection.hypothesis_map import HypothesisMap, Point, hypothesis_map
from vpp.wording.words import NBSP

VIEW = view_of(*label_events())


def end_map() -> HypothesisMap:
    return hypothesis_map(VIEW, LABEL_CONFIG, LABELS, None)


def caption_of(html: str) -> str:
    return re.findall(r'<figcaption class="cap">(.*?)</figcaption>', html)[0].replace(NBSP, " ")


def test_each_dot_says_who_it_is_and_how_far_it_is_from_the_heaviest() -> None:
    found = end_map()
    assert [point_label(found, point) for point in found.points] == [
        "particles 0 and 2, weight 0.60, the heaviest",
        "particle 1, weight 0.30, differs from the heaviest on 2 of 10 rows",
        "particle 3, weight 0.10, differs from the heaviest on 4 of 10 rows",
        "particle 3 of the step before, now gone",
    ]
    assert map_alt(found) == (
        "Map of 4 particles with 3 different behaviours. Heaviest: particles 0 and 2, weight 0.60. "
        "Particle 3 differs from the heaviest on 4 of 10 rows, the most of all."
    )
    assert map_caption(found) == (
        "Distance: share of 10 rows answered differently · area: weight · number: particle · "
        "line: from its parent · dashed: text now gone · distances true to scale (stress 0.00)"
    )


def test_dots_can_be_focused_and_name_their_slots() -> None:
    html = map_html(end_map())
    assert html.count('class="dot" role="listitem" tabindex="0"') == 3
    assert re.findall(r'data-key="(\d+)" data-slots="([\d ]+)" style="transform:translate\(', html) == [
        ("0", "0 2"),
        ("1", "1"),
        ("3", "3"),
    ]
    drawing, table = html.split("</svg>")
    assert "Say" not in drawing
    assert "<td>Say yes if a is above 6, else no.</td>" in table


def test_html_in_a_hypothesis_is_text_in_the_table() -> None:
    points = [Point(x=x, y=0, weight=0.5, slots=(k,), front=k, text="<img src=x>") for k, x in enumerate((0.0, 0.1))]
    html = map_html(HypothesisMap(points=tuple(points), n_particles=2, n_rows=10))
    assert html.count("<td>&lt;img src=x&gt;</td>") == 2
    assert "<img" not in html


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
