"""The Posterior page's states, without a browser."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests import inspected
from tests.app.drawn import app as app
from tests.app.drawn import opened, shown
from tests.reporting.builders import SEED
from vpp.show import markup

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
    ):
        assert words in page
    sections = re.findall(r"<h2><button[^>]*>([^<]+)|<h2>([^<]+)", page)
    assert ["".join(names) for names in sections] == [
        "Hypotheses grouped by identical predictions",
        "Ask the posterior",
        "Agreement between hypotheses",
        "Put it on trial",
        "Genealogy",
        "Ruled out",
    ]
    places = [page.find(text.removeprefix(SEED).strip() + "</p>", page.find('class="ledger"')) for text in OUT]
    assert 0 < places[0] < places[1] < places[2]
    assert "from first hypothesis" not in page
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(2).run()
    assert "Ancestors of particle 2 after step 1, from first hypothesis" in shown(app)
    app.selectbox(key=f"posterior.genealogy.particle.{reader.directory.id}").set_value(None).run()
    assert "from first hypothesis" not in shown(app)
    assert not app.warning
    assert not app.exception
