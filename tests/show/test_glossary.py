"""A term is a label with its meaning; tests/app/test_terms.py holds that pages and glossary go together."""

import re

from vpp.show import markup
from vpp.show.markup import BY_LABEL, GLOSSARY


def test_a_label_that_the_glossary_lacks_is_text_alone() -> None:
    assert markup.term("<b>") == "&lt;b&gt;"
    assert 'popovertarget="term-ess"' in markup.term("Effective sample size")


def test_a_columns_name_is_no_term_unless_the_head_is_the_products_own() -> None:
    assert "<button" not in markup.table(("weight",), ())
    assert "<button" in markup.table(("weight",), (), terms=True)


def test_every_term_has_a_place_of_its_own_on_the_page() -> None:
    ids = re.findall(r'<div popover id="([^"]+)"', markup.glossary())
    assert len(ids) == len(set(ids)) == len(GLOSSARY)
    assert len(BY_LABEL) == sum(len(entry.labels) for entry in GLOSSARY), "no two terms share a label"
