"""The Posterior page's states, without a browser."""

import re
from collections.abc import Sequence
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.reporting.builders import SEED
from vpp.wording import markup


def deck(app: AppTest, key: str) -> str:
    """The cards that a component draws; empty where there is no such deck."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.id.endswith(key)]
    return found[0].bytes.decode().partition("\n")[2] if found else ""


def texts(html: str, of: Sequence[str]) -> list[str]:
    """Return those sentences that are in a deck, in its order."""
    places = {text: html.find(text.removeprefix(SEED).strip() + "</p>") for text in of}
    return sorted((text for text, place in places.items() if place >= 0), key=lambda text: places[text])


OUT = (inspected.LUCK, inspected.NONE, inspected.SEVEN)


def test_a_finished_run_is_read_from_its_ideas_to_what_was_ruled_out(app: AppTest, tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    page = shown(opened(app, reader, "posterior"))
    for words in (
        'under a constant answer: about 360 : 1. <a href="#ruled-out">Three texts were ruled out.</a>',
        "heaviest first",
        "Sequential Monte Carlo · K = 4 · 4 training rows, 6 test",
        markup.DEMO_CHIP,
        "Compared on 10 rows: 6 test and 4 training. Bar length = summed weight.",
        "Four particles hold three ideas; at 95 % agreement three different explanations remain.",
        "2 rejected, 1 resampled away and 1 unreadable",
        "4 texts: all are shown.",
    ):
        assert words in page
    sections = re.findall(r"<h2><button[^>]*>([^<]+)|<h2>([^<]+)", page)
    assert ["".join(names) for names in sections] == [
        "Hypotheses grouped by identical predictions",
        "Ask the posterior",
        "Genealogy",
        "Put it on trial",
        "Ruled out",
        "Agreement between hypotheses",
    ]
    assert texts(deck(app, "posterior.ruled_out.deck"), OUT) == [inspected.LUCK, inspected.NONE, inspected.SEVEN]
    assert "Its ancestors" not in page
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(2).run()
    assert "Particle 2 after step 1, and which step brought in each sentence" in shown(app)
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(None).run()
    assert "Its ancestors" not in shown(app)
    assert not app.warning
    app.slider(key="posterior.threshold").set_value(80).run()
    assert "at 80 % agreement two different explanations remain." in shown(app)
    assert "<td>1 and 2</td><td>3</td>" in shown(app)
    assert not app.exception
