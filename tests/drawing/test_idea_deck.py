from dataclasses import replace
from pathlib import Path

from vpp.drawing.idea_deck import first_seen, ideas_html

from tests import inspected
from tests.reporting.builders import SEED
from vpp.findings.ideas import Ideas, merge_ideas
from vpp.runs.reader import RunReader


def ideas_of(reader: RunReader) -> Ideas:
    ideas = merge_ideas(reader.refresh().view, reader.dataset())
    assert ideas is not None
    return ideas


def test_an_idea_is_shown_with_its_errors_its_particles_and_when_it_came(tmp_path: Path) -> None:
    ideas = ideas_of(inspected.labels(tmp_path))
    html = ideas_html(ideas, seed_text=SEED)
    assert f'data-copy="{inspected.EVEN}"' in html
    assert html.count('class="copy"') == 4
    first, second, third = html.split("<article")[1:]
    for words in ("0.600", "idea 1", "2 particles", "5 of 6 test rows right", "4 of 4 training rows right"):
        assert words in first
    assert "first seen in the first draw" in first
    assert "weight 0.200 · first seen at step 0" in first
    assert "first seen at step 1" in second
    assert "<span>1 of them unreadable</span>" not in second
    assert "1 answer unreadable" in third
    for origin, words in (("yours", "yours, given at the start"), ("continued", "taken over from the earlier run")):
        given = replace(ideas.all[0].wordings[0], origin=origin)
        assert first_seen(given) == words
