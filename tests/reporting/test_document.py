"""report.html as a file: no script and nothing to fetch. tests/app/test_finished_run.py opens it."""

import re
from pathlib import Path

from tests import inspected
from tests.reporting.builders import dataset, run
from vpp.reporting.document import report_html

from .test_markdown import smc_run

HOSTILE = "</script><img src=x> <!-- [a](http://b)"


def test_the_file_holds_the_pages_of_the_app_and_fetches_nothing(tmp_path: Path) -> None:
    reader = inspected.labels(tmp_path)
    report = report_html(reader)
    assert '<div class="report"><p class="say">Right on 4 of 5 test rows' in report
    assert "default-src 'none'; style-src 'unsafe-inline'; font-src data:" in report
    assert not re.search(r"<(script|link|img|iframe|button)\b", report)
    assert set(re.findall(r"url\((.{5})", report)) == {"data:"}
    assert len(report) < 1_500_000


def test_the_table_of_contents_leads_to_every_section_of_the_appendix(tmp_path: Path) -> None:
    appendix = report_html(inspected.labels(tmp_path)).partition('class="report appendix"')[2]
    links = re.findall(r'href="#([^"]+)"', appendix)
    assert len(links) == appendix.count("<h2>") - 1
    assert re.findall(r'<div id="([^"]+)"', appendix) == links


def test_text_from_outside_makes_no_element(tmp_path: Path) -> None:
    labels = [f"{HOSTILE} 1", f"{HOSTILE} 2"]
    data = dataset(labels, labels, name=f"col {HOSTILE}", target=f"target {HOSTILE}")
    hostile = run(tmp_path / "hostile", *smc_run(data, (f"a {HOSTILE}", f"b {HOSTILE}")), data=data, name=HOSTILE)
    report, plain = report_html(hostile), report_html(run(tmp_path / "plain", *smc_run()))
    tags = [set(re.findall(r"<([a-z0-9]+)\b", each)) for each in (report, plain)]
    assert tags[0] == tags[1]
