from pathlib import Path

from tests import inspected
from tests.reporting.builders import SEED
from vpp.drawing.ledger import counts_words, ruled_out_html, ruled_out_sentence
from vpp.events import hypothesis_id
from vpp.inspection.ruled_out import RuledOut, parted, ruled_out
from vpp.settings import Config


def entries(folder: Path) -> tuple[RuledOut, ...]:
    reader = inspected.labels(folder)
    return ruled_out(reader.refresh().view, reader.dataset())


def article(html: str, text: str) -> str:
    """The one of a text."""
    return next(part for part in html.split("<article")[1:] if text.removeprefix(SEED).strip() in part)


SHOWN = {
    # LUCK at step 1 for particle 2: wrong on row 2 of 2, where PAIR is right; log 0.5 = -0.69.
    inspected.LUCK: (
        "last at step 1, particle 2",
        "proposed three times, rejected three times",
        "1 of 2 rows contradicts it; the text that stayed is right there.",
        '<td>2</td><td title="a 2">a 2</td><td><b>no</b></td><td>yes</td>',
        "Log-likelihood −2.50, against −0.25 of the text it would replace.",
        "log α = −2.25 is below log u = −0.69.",
        "in all at step 1 and step 0",
    ),
    inspected.SEVEN: ("2 of 2 rows contradict it; the text that stayed is right on 1 of them.",),
    inspected.NONE: (
        "2 of 4 rows contradict it; the heaviest is right there.",
        "Weight 0.100 before the particles were redrawn, no copy after.",
        "Log-likelihood −5.00, against −0.50 of the heaviest.",
    ),
    "Sorry.": ('<pre class="raw">Sorry.</pre>', "No hypothesis could be read: the answer has no “New rule:” line."),
}


def test_each_text_is_shown_with_its_times_its_rows_and_its_arithmetic(tmp_path: Path) -> None:
    html = ruled_out_html(entries(tmp_path), seed_text=SEED)
    for text, facts in SHOWN.items():
        assert [fact for fact in facts if fact not in article(html, text)] == [], text
    assert "rejected once" not in article(html, inspected.SEVEN)


def test_reasons_are_counted_apart(tmp_path: Path) -> None:
    found = entries(tmp_path)
    assert counts_words(found) == "2 rejected, 1 resampled away and 1 unreadable"
    assert ruled_out_sentence(found, Config()) == "Three texts were ruled out."
    assert ruled_out_sentence((), Config()) == "Nothing was ruled out."
    assert ruled_out_sentence((), Config(method="vml")) == ""


def test_a_text_not_drawn_though_its_idea_was_is_not_ruled_out(tmp_path: Path) -> None:
    """NONE was resampled away; LUCK, rejected, was judged by rows whoever answers alike."""
    found, alike = entries(tmp_path), {hypothesis_id(inspected.NONE): 2, hypothesis_id(inspected.LUCK): 1}
    gone, lived_on = parted(found, alike)
    assert [entry.text for entry in lived_on] == [inspected.NONE]
    assert ruled_out_sentence(gone, Config()) == "Two texts were ruled out."
    written = ruled_out_html(lived_on, seed_text=SEED, survivors=alike)
    assert "not drawn</span>" in written
    assert "resampled away</span>" not in written
    assert "it answers like idea 3, which survived." in written
