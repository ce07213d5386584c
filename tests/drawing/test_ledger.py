from pathlib import Path

from vpp.drawing.ledger import counts_words, ruled_out_html, ruled_out_sentence, why_words

from tests import inspected
from tests.reporting.builders import SEED
from vpp.events import hypothesis_id
from vpp.findings.ruled_out import RuledOut, ruled_out, without_survivors
from vpp.settings import Config


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def entries(folder: Path) -> tuple[RuledOut, ...]:
    reader = inspected.labels(folder)
    return ruled_out(reader.refresh().view, reader.dataset())


def test_each_text_has_a_line_with_its_step_and_the_rows_against_it(tmp_path: Path) -> None:
    """LUCK at step 1 for particle 2: wrong on row 2 of 2, where PAIR is right."""
    lines = {entry.text: plain(why_words(entry, {hypothesis_id(inspected.SEVEN): 2})) for entry in entries(tmp_path)}
    assert lines == {
        inspected.LUCK: "Step 1, particle 2, three times in all. 1 of 2 rows contradicts it (row 2); the text that "
        "stayed is right there.",
        inspected.SEVEN: "Step 0, particle 3. 2 of 2 rows contradict it (rows 0 and 1); the text that stayed is right "
        "on 1 of them. On all rows compared it answers like idea 3, which survived.",
        inspected.NONE: "Step 1, particle 3, weight 0.100. 2 of 4 rows contradict it (rows 1 and 3); the heaviest is "
        "right there.",
        "Sorry.": "Step 1, particle 0. No hypothesis could be read: the answer has no “New rule:” line.",
    }
    html = ruled_out_html(entries(tmp_path / "again"), seed_text=SEED, survivors={})
    assert html.count('<li class="out">') == 4
    assert '<pre class="raw">Sorry.</pre>' in html


def test_reasons_are_counted_apart(tmp_path: Path) -> None:
    found = entries(tmp_path)
    assert counts_words(found) == "2 rejected, 1 resampled away and 1 unreadable"
    assert ruled_out_sentence(found, Config()) == "Three texts were ruled out."
    assert ruled_out_sentence((), Config()) == "Nothing was ruled out."
    assert ruled_out_sentence((), Config(method="vml")) == ""


def test_a_text_not_drawn_though_its_idea_was_is_not_ruled_out(tmp_path: Path) -> None:
    """NONE was resampled away; LUCK, rejected, was judged by rows whoever answers alike."""
    found, alike = entries(tmp_path), {hypothesis_id(inspected.NONE): 2, hypothesis_id(inspected.LUCK): 1}
    gone = without_survivors(found, alike)
    assert [entry.text for entry in found if entry not in gone] == [inspected.NONE]
    assert ruled_out_sentence(gone, Config()) == "Two texts were ruled out."
