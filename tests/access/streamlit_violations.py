"""What Streamlit's own elements break, whoever uses them: test_streamlit.py shows each on a bare page.

An element is named by the nearest data-testid around the node that axe-core names; a widget as in bare.py.
"""

from typing import NamedTuple


class Listed(NamedTuple):
    """A rule of axe-core that an element breaks by itself."""

    rule: str
    testid: str
    widget: str
    why: str


ENHANCED = "color-contrast-enhanced"
LISTED = (
    Listed("presentation-role-conflict", "stFileUploaderDropzone", "file_uploader", "a label on role=presentation"),
    Listed(ENHANCED, "stFileUploaderDropzoneInstructions", "file_uploader", "the size limit is faded text"),
    Listed(ENHANCED, "stFileChip", "file_uploader", "the size of an uploaded file is faded text"),
    Listed(
        "focus-order-semantics", "stMultiSelectTagsContainer", "multiselect", "a chosen option takes focus, roleless"
    ),
    Listed(ENHANCED, "stMultiSelectTagsContainer", "multiselect", "white on the primary colour"),
    Listed(ENHANCED, "stMarkdownContainer", "button", "a primary button's label is white on the primary colour"),
    Listed("focus-order-semantics", "stCode", "code", "a block of code takes focus, to be scrolled, roleless"),
)
