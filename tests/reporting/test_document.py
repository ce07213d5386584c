"""report.html as a file: one script, no text inside it, nothing to fetch. tests/app/test_finished_run.py opens it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests import inspected
from tests.reporting.builders import dataset, run
from tests.reporting.sampled import VARIANTS, sampled_run
from vpp.reporting.document import report_html

from .test_markdown import smc_run

HOSTILE = "</script><img src=x> <!-- [a](http://b)"


def figures(html: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, flags=re.DOTALL)
    assert found
    read: list[dict[str, Any]] = json.loads(found.group(1))
    return read


def without_scripts(html: str) -> str:
    return re.sub(r"<script\b.*?</script>", "", html, flags=re.DOTALL)


def test_charts_are_embedded_in_both_inks_with_the_script_once_and_nothing_is_fetched(tmp_path: Path) -> None:
    html = report_html(inspected.labels(tmp_path))
    embedded = figures(html)
    assert html.count("plotly.js v") == 1
    assert len(embedded) == without_scripts(html).count('class="chart"') == 4
    inks = {mode: embedded[0][mode]["layout"]["template"]["layout"]["font"]["color"] for mode in ("light", "dark")}
    assert inks == {"light": "#42505c", "dark": "#b7c0c6"}
    # Two steps, of weights 0.375, 0.125 twice each and 0.7 with three times 0.1: ESS 1 / 0.3125 and 1 / 0.52.
    assert embedded[0]["light"]["data"][2]["y"] == pytest.approx([3.2, 1 / 0.52])
    # Captions are numbered as they stand.
    page = without_scripts(html)
    assert re.findall(r"<b>Figure (\d)\.</b> (\w+)", page) == [
        ("1", "Effective"),
        ("2", "Accepted"),
        ("3", "Mean"),
        ("4", "Answer"),
    ]
    assert page.count('role="img" aria-label="') == page.count("<summary>Show as table</summary>") == 4
    # The policy lets nothing be fetched.
    assert html.index("Content-Security-Policy") < html.index("<script")
    assert "default-src 'none'; script-src 'unsafe-inline'" in html
    assert not re.search(r"<(link|img|iframe|a)\b|<script[^>]*\bsrc=", page)


def test_text_from_outside_is_in_no_script_and_makes_no_element(tmp_path: Path) -> None:
    labels = [f"{HOSTILE} 1", f"{HOSTILE} 2"]
    data = dataset(labels, labels, name=f"col {HOSTILE}", target=f"target {HOSTILE}")
    hostile = run(tmp_path / "hostile", *smc_run(data, (f"a {HOSTILE}", f"b {HOSTILE}")), data=data, name=HOSTILE)
    html, plain = report_html(hostile), report_html(run(tmp_path / "plain", *smc_run()))
    assert html.count("<script") == plain.count("<script")
    assert html.count("</script") == plain.count("</script")
    assert "src=x" not in json.dumps(figures(html))
    tags = [set(re.findall(r"<([a-z0-9]+)\b", without_scripts(each))) for each in (html, plain)]
    assert tags[0] == tags[1]


@pytest.mark.parametrize("name", ["vml", "vml5", "mh", "always accept", "adaptive"])
def test_every_method_has_a_chart(name: str) -> None:
    html = report_html(sampled_run(name))
    assert figures(html)
    assert ("Effective sample size by step" in html) == VARIANTS[name].is_weighted
