"""The Posterior page's states, without a browser."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.reporting.builders import SEED
from vpp.show import markup

OUT = (inspected.LUCK, inspected.NONE, "Sorry.")


def test_a_finished_run_is_read_from_its_hypotheses_to_what_was_ruled_out(app: AppTest, tmp_path: Path) -> None:
    page = shown(opened(app, inspected.labels(tmp_path), "posterior"))
    for words in (
        "One hypothesis has 60 % of the weight; two others share the rest.",
        "heaviest first",
        "Sequential Monte Carlo · 4 training rows",
        markup.DEMO_CHIP,
        "Every change passes an accept step on the last rows",
        "2 rejected, 1 dropped and 1 unreadable",
    ):
        assert words in page
    sections = re.findall(r"<h2><button[^>]*>([^<]+)|<h2>([^<]+)", page)
    assert ["".join(names) for names in sections] == [
        "Hypotheses",
        "Ask about new rows",
        "Does the model obey the rule?",
        "Ruled out",
    ]
    lines = page[page.index('class="ledger"') :]
    places = [lines.index(f">{text.removeprefix(SEED).strip()}</span>") for text in OUT]
    assert places == sorted(places)
    assert "log α" not in lines, "a closed line has no details"
    assert inspected.SEVEN.removeprefix(SEED).strip() not in lines, "the newest three are shown"
    assert 'aria-label="Weight by step. Hypothesis 1 ends heaviest, with 60 %."' in page
    assert not app.warning
    assert not app.exception
