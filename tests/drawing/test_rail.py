"""The three small figures of a step: the map, the bars by step, and the genealogy of the last steps."""

import re

import pytest

from tests import inspected
from tests.inspected import LABEL_CONFIG, LABELS, NUMBER_CONFIG, NUMBERS, label_events
from tests.inspection.test_hypothesis_map import MH, two_chains
from tests.reporting.builders import drawn, reweighted, started, view_of
from vpp.drawing.hypothesis_map import map_alt, map_caption, map_html, point_label, stress_words
from vpp.drawing.last_generations import generations_html
from vpp.drawing.step_bars import bars_html
from vpp.inspection.hypothesis_map import HypothesisMap, Point, hypothesis_map
from vpp.settings import Config
from vpp.wording.words import NBSP

VIEW = view_of(*label_events())
ALWAYS = Config(method="always-accept", particles=2, batch_size=2, epochs=1)


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


def test_chains_and_numbers_have_their_own_words() -> None:
    chains = hypothesis_map(view_of(started(MH, LABELS), *two_chains(1)), MH, LABELS, 0)
    assert point_label(chains, chains.alive[1]) == "particle 1, 1 of 2, differs from the heaviest on 2 of 2 rows"
    numbers = hypothesis_map(view_of(*inspected.number_events()), NUMBER_CONFIG, NUMBERS, None)
    assert point_label(numbers, numbers.alive[1]).replace(NBSP, " ") == (
        "particle 1, weight 0.25, differs from the heaviest by 25 % of the target’s range"
    )


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (HypothesisMap(), "No hypotheses to map yet."),
        (HypothesisMap(n_particles=1), "A map of the hypotheses needs two particles."),
        (HypothesisMap(n_particles=4), "No map: no row has an answer from every particle yet."),
        (
            HypothesisMap(
                points=(Point(x=0, y=0, weight=1, slots=(0, 1, 2), front=0, text="a"),), n_particles=3, n_rows=6
            ),
            "No map: all 3 particles give the same answers on 6 rows.",
        ),
    ],
)
def test_a_line_says_why_there_is_no_map(found: HypothesisMap, why: str) -> None:
    assert map_html(found) == f'<p class="cap">{why}</p>'


def test_stress_is_told_as_a_share_of_the_distances() -> None:
    assert stress_words(0.123).replace(NBSP, " ") == "distances off by about 12 % (stress 0.12)"
    assert stress_words(0.004) == "distances true to scale (stress 0.00)"


def test_the_bars_of_weights_tell_the_ess_and_mark_what_resampled() -> None:
    words = [caption_of(bars_html(VIEW, LABEL_CONFIG, LABELS, step)) for step in (0, 1, None)]
    assert words == [
        "ESS 3.2 of 4 · resamples below 2",
        "ESS 1.9 of 4 · below 2, so resampled",
        "ESS 3.3 of 4 at the end",
    ]
    html = bars_html(VIEW, LABEL_CONFIG, LABELS, 0).replace(NBSP, " ")
    assert "ESS as a share of K by step: from 48 % to 83 %; resampled at 1 step." in html
    assert html.count('class="limit"') == html.count('class="ring"') == 1
    assert re.findall('class="now" d="([^"]*)"', html) == ["M0.00,62h123.67v-49.60h-123.67z"]


def test_without_weights_the_bars_are_accepted_shares_or_errors() -> None:
    view = view_of(started(MH, LABELS), *two_chains(2))
    assert caption_of(bars_html(view, MH, LABELS, 1)) == "None judged yet"
    assert caption_of(bars_html(VIEW, MH, LABELS, 1)) == "1 of 3 proposals accepted at step 1 · whole run 33 %"
    assert caption_of(bars_html(VIEW, MH, LABELS, None)) == "33 % of 6 proposals accepted, whole run"
    assert caption_of(bars_html(view, ALWAYS, LABELS, 0)) == "50 % wrong on the batch of step 0"
    assert 'class="ring"' not in bars_html(view, ALWAYS, LABELS, 1)


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


def test_a_long_run_shows_six_columns_and_lines_that_come_in_from_the_left() -> None:
    view = view_of(started(MH, LABELS, steps=9), *two_chains(9))
    html = generations_html(view, MH, 8)
    assert caption_of(html) == "No new text since step 3 · large dot: new text"
    assert re.findall(r"<text[^>]*>(\w+)</text>", html) == ["3", "4", "5", "6", "7", "8"]
    assert dict(re.findall(r'class="(\w+)" d="([^"]*)"', html))["alive"].count("M-") == 2
    assert caption_of(generations_html(view, MH, 0)) == "No new text since the start · large dot: new text"


def test_a_first_population_has_no_ancestors() -> None:
    smc = Config(particles=2)
    view = view_of(started(smc, LABELS), *drawn("a", "b"), reweighted(0, (0.5, 0.5)))
    assert caption_of(generations_html(view, smc, 0)) == "2 particles at step 0, without ancestors"
    assert generations_html(view_of(started(smc, LABELS)), smc, None) == '<p class="cap">No hypotheses yet.</p>'
