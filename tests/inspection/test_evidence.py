"""Quotes of an explanation are found again in a row's text."""

from vpp.inspection.quoted import Run, invented, quotes, runs

CELL = 'The Staff\nwere kind. I <b>recommend</b> it, "as is".'


def marked(*quoted: str) -> list[str]:
    parts = runs(CELL, quoted)
    assert "".join(part.text for part in parts) == CELL
    return [part.text for part in parts if part.is_quoted]


def test_quotes_are_taken_from_explanations_once_each() -> None:
    said = (
        '"the staff were" names people, "!" nothing.',
        "As “The  staff were” and \"I recommend.\" show: 'no!', ‘never’, «oui», „nein“.",
        '"a',
    )
    assert quotes(said) == ["The  staff were", "I recommend", "no", "never", "oui", "nein"]


def test_an_apostrophe_is_no_quotation_mark() -> None:
    said = "The guest's room, the guests' view and '90s rock 'n' roll don't, 'the guest's dog' and ‘it’s’ do."
    assert quotes([said]) == ["the guest's dog", "it’s"]


def test_a_quote_is_found_whatever_its_case_and_white_space() -> None:
    assert marked("the staff were") == ["The Staff\nwere"]
    assert marked("staff were kind", "were kind. I") == ["Staff\nwere kind. I"]
    assert marked() == []
    assert runs("", ["x"]) == []
    assert runs("ab", ["ab"]) == [Run("ab", True)]


def test_a_part_of_a_word_or_a_pattern_is_no_quote() -> None:
    assert marked("recommen", "kin.", ".*") == []
    assert invented([CELL, "ab"], ["recommend", "never said", "AB"]) == ["never said"]
