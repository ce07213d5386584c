"""Rules that Streamlit's own elements break in any app: test_streamlit.py shows each on a bare page."""

from typing import NamedTuple


class Listed(NamedTuple):
    """A rule of axe-core that a Streamlit element breaks."""

    rule: str
    testid: str
    """The nearest data-testid around the node that axe-core names."""
    why: str


ENHANCED = "color-contrast-enhanced"
LISTED = (
    Listed("presentation-role-conflict", "stFileUploaderDropzone", "a label on role=presentation"),
    Listed(ENHANCED, "stFileUploaderDropzoneInstructions", "the size limit is faded text"),
    Listed(ENHANCED, "stFileChip", "the size of an uploaded file is faded text"),
    Listed("focus-order-semantics", "stMultiSelectTagsContainer", "a chosen option takes focus, roleless"),
    Listed(ENHANCED, "stMultiSelectTagsContainer", "white on the primary colour"),
    Listed(ENHANCED, "stMarkdownContainer", "a primary button's label is white on the primary colour"),
    Listed("focus-order-semantics", "stCode", "a block of code takes focus, to be scrolled, roleless"),
)
