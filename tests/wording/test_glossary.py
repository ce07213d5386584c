"""A term is a label with its meaning; tests/app/test_terms.py holds that pages and glossary go together."""

import re

from vpp.wording import markup
from vpp.wording.glossary import GLOSSARY


def test_a_label_that_the_glossary_lacks_is_text_alone() -> None:
    assert markup.term("<b>") == "&lt;b&gt;"
    assert 'popovertarget="term-ess"' in markup.term("Effective sample size")


def test_a_columns_name_is_no_term_unless_the_head_is_the_products_own() -> None:
    assert "<button" not in markup.table(("weight",), ())
    assert "<button" in markup.table(("weight",), (), terms=True)


SOURCES = {
    "hypothesis": ("Section 2", "the prompt as the parameter of a model"),
    "particle": ("Section 3.3", "the population that is weighed"),
    "particles K": ("Section 3.3", "the same"),
    "weight": ("Section 3.3", "tempered importance weights"),
    "ESS": ("Sections 2 and 3.3", "1 / sum of squares stands in the text, without a number"),
    "resampling": ("Section 3.3", "systematic, below K/2"),
    "β": ("Section 3.3, Eq. 10", "the numbered formula divides the log-likelihood by it"),
    "log-likelihood": ("Section 3.1, Eq. 5 and 6", "5 for numbers, 6 for labels"),
    "log α, log u": ("Section 3.2, Eq. 9", "the acceptance probability; Eq. 4 is the general one"),
    "acceptance": ("Section 3.2, Eq. 9", "the same"),
    "rewritten": ("Section 5.4", "the ablation that takes every proposal"),
    "step": ("Algorithms 1 and 2", "the loop of each"),
    "vote": ("Section 3.1, Eq. 8", "the heaviest label; Eq. 7 is for numbers"),
    "weighted mean": ("Section 3.1, Eq. 7", "the average; Eq. 8 is for labels"),
    "uncertain point": ("Section 5.3", "the analysis; Section 4 is related work"),
    "right where all agree": ("Section 5.3", "the same"),
    "all five together": ("Section 5.1", "VML x 5 among the methods compared"),
}
"""Where the paper says it, counted through its numbered sections and equations, and what stands there."""


def test_every_source_is_the_place_in_the_paper_that_says_it() -> None:
    said = {entry.name: entry.source for entry in GLOSSARY if entry.source}
    assert said == {name: source for name, (source, _) in SOURCES.items()}


def test_every_term_has_a_place_of_its_own_on_the_page() -> None:
    ids = re.findall(r'<div popover id="([^"]+)"', markup.glossary())
    assert len(ids) == len(set(ids)) == len(GLOSSARY)
