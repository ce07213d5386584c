"""report.html as a file: no script and nothing to fetch. tests/app/test_finished_run.py opens it."""

import re
from pathlib import Path

import pytest

from tests import inspected
from tests.reporting.builders import dataset, run
from tests.reporting.sampled import VARIANTS, sampled_run
from vpp.reporting.document import report_html

from .test_markdown import smc_run

HOSTILE = "</script><img src=x> <!-- [a](http://b)"


def test_bars_by_step_stand_in_the_summary_and_nothing_is_fetched(tmp_path: Path) -> None:
    html = report_html(inspected.labels(tmp_path))
    summary = html.partition("In brief")[2].partition("<section>")[0]
    assert 'aria-label="ESS as a share of K by step: from 48 % to 83 %; resampled at 1 step.' in summary.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "Content-Security-Policy" in html
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert not re.search(r"<(script|link|img|iframe|a)\b", html)


def test_text_from_outside_is_in_no_script_and_makes_no_element(tmp_path: Path) -> None:
    labels = [f"{HOSTILE} 1", f"{HOSTILE} 2"]
    data = dataset(labels, labels, name=f"col {HOSTILE}", target=f"target {HOSTILE}")
    hostile = run(tmp_path / "hostile", *smc_run(data, (f"a {HOSTILE}", f"b {HOSTILE}")), data=data, name=HOSTILE)
    html, plain = report_html(hostile), report_html(run(tmp_path / "plain", *smc_run()))
    tags = [set(re.findall(r"<([a-z0-9]+)\b", each)) for each in (html, plain)]
    assert tags[0] == tags[1]


@pytest.mark.parametrize("name", ["vml", "vml5", "mh", "always accept", "adaptive"])
def test_every_method_has_bars(name: str) -> None:
    html = report_html(sampled_run(name))
    assert html.count('<figure class="bars">') == 1
    assert ("ESS as a share of K by step" in html) == VARIANTS[name].is_weighted
