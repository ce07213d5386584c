"""axe-core in a page: every rule, none disabled, and whether each finding is ours or Streamlit's."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page

from vpp.show.figures import TOKENS

SCRIPT = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
GET_IT = "no axe-core: make axe, which needs npm"
ENHANCED = "color-contrast-enhanced"
HELD_TO_AA = {colour for name in ("ink-3", "accept", "reject", "gone", "unsure") for colour in TOKENS[name]}
"""Captions and the words of verdicts are at 4.5 to 1, not at the 7 to 1 of level AAA, at which all other text is."""
RULES = 105
"""Number of rules in the version of axe-core that tests/package.json names."""


LISTED = {
    ("presentation-role-conflict", "stFileUploaderDropzone"): "a label on role=presentation",
    (ENHANCED, "stFileUploaderDropzoneInstructions"): "the size limit is faded text",
    (ENHANCED, "stFileChip"): "the size of an uploaded file is faded text",
    ("focus-order-semantics", "stMultiSelectTagsContainer"): "a chosen option takes focus, roleless",
    (ENHANCED, "stMultiSelectTagsContainer"): "white on the primary colour",
    (ENHANCED, "stMarkdownContainer"): "a primary button's label is white on the primary colour",
    ("focus-order-semantics", "stCode"): "a block of code takes focus, to be scrolled, roleless",
}
"""Why Streamlit's own elements break a rule in any app, on a bare page too: by rule and nearest data-testid."""
RUN = """async () => {
    const all = axe.getRules().map(({ruleId}) => ruleId)
    const found = await axe.run(document, {elementRef: true, runOnly: {type: 'rule', values: all}})
    const kinds = ['passes', 'violations', 'incomplete', 'inapplicable']
    const ran = new Set(kinds.flatMap((kind) => found[kind].map(({id}) => id))).size
    const told = (rule, {element, impact, html, any, failureSummary}) => ({
        rule,
        impact,
        html: html.slice(0, 200),
        ink: any[0]?.data?.fgColor ?? '',
        why: failureSummary,
        testid: element.closest('.vpp, [data-testid]')?.dataset.testid ?? '',
    })
    const nodes = found.violations.flatMap(({id, nodes}) => nodes.map((node) => told(id, node)))
    return {ran, nodes}
}"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A node that breaks a rule."""

    rule: str
    impact: str
    html: str
    ink: str
    """Colour of the text where the rule is of contrast."""
    why: str
    testid: str
    """Streamlit's name of the element it is in; empty in markup of ours and of the page as a whole."""

    @property
    def is_ours(self) -> bool:
        """Whether the node is in our markup, in a chart of ours, or the page as a whole."""
        return self.testid in ("", "stPlotlyChart")

    @property
    def is_let_pass(self) -> bool:
        """Whether a colour held to 4.5 to 1 misses only 7 to 1, or Streamlit's element is known to break the rule."""
        if self.is_ours:
            return self.rule == ENHANCED and self.ink in HELD_TO_AA
        return (self.rule, self.testid) in LISTED


def require() -> None:
    """Skip the test without axe-core; fail it if VPP_BROWSER=required."""
    if SCRIPT.exists():
        return
    if os.environ.get("VPP_BROWSER") == "required":
        pytest.fail(f"VPP_BROWSER=required, and there is {GET_IT}")
    pytest.skip(GET_IT)


def faults(page: Page) -> list[Finding]:
    """Return nodes that break a rule: ours to fix, and Streamlit's that are not on the list. None without axe-core."""
    if not SCRIPT.exists():
        return []
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))  # a script tag is barred by the app's policy
    found = page.evaluate(RUN)
    assert found["ran"] == RULES
    return [each for each in (Finding(**node) for node in found["nodes"]) if not each.is_let_pass]
