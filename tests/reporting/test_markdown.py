"""The report: two pages and an appendix, as Markdown and as HTML with no script and nothing to fetch."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest

from tests import inspected
from tests.hostile.runs import Hostile
from tests.inspected import LABEL_CONFIG, LABELS, label_events, plain
from tests.reporting.builders import run, started
from tests.reporting.renderers import RENDERERS, tokens
from tests.sampled import VARIANTS, sampled_run
from tests.show.test_escaping import HOSTILE
from vpp.events import RunFailed
from vpp.reporting.document import posterior_json, report_html, report_markdown, write_all, write_html
from vpp.reporting.predictions import predictions_csv
from vpp.runs.journal import RunReader
from vpp.runs.spec import EndpointSpec

SERVER = EndpointSpec(base_url="http://localhost:8000/v1", model="qwen")
PAGES = ["Hypotheses by weight", "Right and wrong", "Rows in doubt or wrong", "Method and data", "Appendix"]
APPENDIX = [
    "Simple models",
    "Calibration and evidence",
    "Slices",
    "How far to trust this",
    "Options and table",
    "Versions and hashes",
    "The command that repeats the run",
]


def titles(report: str, mark: str) -> list[str]:
    return [line.removeprefix(mark) for line in report.splitlines() if line.startswith(mark)]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_method_is_reported_whole_and_has_no_figure_of_another(name: str, task: str) -> None:
    reader, config = sampled_run(name, task), VARIANTS[name]
    report = report_markdown(reader)
    assert titles(report, "## ") == PAGES
    assert json.loads(posterior_json(reader))["result"]["status"] == "finished"
    assert len(predictions_csv(reader).splitlines()) == 1 + len(reader.dataset().test)
    assert ("| Log evidence |" in report) == config.is_telescoping


def test_a_finished_run_is_two_pages_that_begin_with_the_verdict_and_an_appendix(tmp_path: Path) -> None:
    report = plain(report_markdown(inspected.labels(tmp_path / "labels")))
    assert (titles(report, "## "), titles(report, "### ")) == (PAGES, APPENDIX)
    assert report.startswith("# toy\n\n**Right on 4 of 5 test rows that it answered, “I don’t know” on 1.")
    # EVEN and PAIR answer alike, BIG differs on two of ten rows: at 95 % three hypotheses stay apart.
    facts = "right on 5 of 6 test rows · right on 4 of 4 training rows"
    assert f"1. 60 % · {facts}\n\n> Say yes if a is even, else no.\n" in report
    assert "\n| no | 2 | 1 | 0 |\n| yes | 0 | 2 | 1 |\n" in report
    assert "| unsure and wrong | 1 row |" in report
    assert "\n| 8 | 8 | yes 60 %, no 40 % | yes (I don’t know) |\n" in report
    assert "\n| this run | 83.3 % |" in report
    assert "| weights | Each different hypothesis counts once, scored on the last 4 rows" in report
    numbers = plain(report_markdown(inspected.numbers(tmp_path / "numbers")))
    # Means 1, 3, 4.5 and 8 / 3 miss 1, 3, 5 and 2 by 0, 0, 1 / 2 and 2 / 3.
    assert ", the worst by 0.667; on average 0.0417 too high." in numbers
    # The mean of 0, 1, 2, 4 misses 1, 3, 5, 2 by 12.75 squared in all.
    assert "| one answer | 3.188 |" in numbers


def test_the_appendix_has_the_programs_of_the_hypotheses_that_weigh(tmp_path: Path) -> None:
    reader = inspected.programs(tmp_path)
    section = report_markdown(reader).split("### Programs")[1].split("### ")[0]
    assert "def predict(a):\n    if ask('is it `short`?', a):" in section
    for words in ("1 of 2 rows right", "the model reads it alike on 1 of 2 rows", "yes for 1 of 3 texts"):
        assert words in plain(section).replace("The model", "the model")
    assert "Read row by row: the model says that no program can follow it." in section
    assert "<h2>Programs</h2>" in report_html(reader)


def test_the_demo_model_is_named_and_no_other_model_is_called_so(tmp_path: Path) -> None:
    assert "The demo model answered" in report_markdown(inspected.labels(tmp_path)).split("## Hypotheses")[0]
    events = [started(LABEL_CONFIG, LABELS, model="qwen"), *label_events()[1:]]
    report = report_markdown(run(tmp_path / "qwen", *events, data=LABELS, config=LABEL_CONFIG, endpoint=SERVER))
    assert "demo" not in report
    assert "Learner qwen, optimizer qwen; 36 calls" in report


def test_every_unfinished_run_can_be_reported(tmp_path: Path) -> None:
    events = label_events()
    for length in range(1, len(events)):
        report = report_markdown(run(tmp_path / str(length), *events[:length], data=LABELS, config=LABEL_CONFIG))
        assert titles(report, "## ")[-2:] == PAGES[-2:], length
        assert "The run is interrupted." in report, length


def test_the_command_stands_in_a_block_that_no_text_closes(tmp_path: Path) -> None:
    typed = ("run", "some where/toy.csv", "--run-dir", "runs/x", "--prior=```\n# owned\x1b[201~; rm -r x", "--demo")
    report = report_markdown(run(tmp_path, command=typed))
    fences = [token for token in tokens(report, RENDERERS["commonmark"]) if token.type == "fence"]
    words = "'some where/toy.csv' '--prior=```\n# owned\ufffd[201~; rm -r x' --demo"
    assert [fence.content for fence in fences] == [f"python -m vpp run {words}\n"]
    assert "not started on a command line" in report_markdown(run(tmp_path / "app"))


def test_no_key_or_password_is_shown(tmp_path: Path) -> None:
    endpoint = EndpointSpec(base_url="https://me:secret@host/v1", optimizer_base_url="https://u:secret@h/", model="m")
    typed = ("run", "toy.csv", "--base-url=https://me:secret@host/v1", "--run-dir=x")
    report = report_markdown(run(tmp_path, endpoint=endpoint, command=typed))
    assert "python -m vpp run toy.csv --base-url=https://host/v1\n" in report
    assert "secret" not in report


def test_hostile_text_anywhere_changes_nothing_in_the_reports_structure(tmp_path: Path) -> None:
    """Names, labels, cells, notes, hypotheses, raw answers and reasons, all hostile at the same time."""
    on_disk = [text for text in HOSTILE if "\ud800" not in text]
    benign = kinds_by_renderer(hostile_report(tmp_path / "benign", ["word"]))
    for first in range(0, len(on_disk), 4):
        texts = on_disk[first : first + 8]
        report = kinds_by_renderer(hostile_report(tmp_path / str(first), texts))
        for name, expected in benign.items():
            assert set(report[name]) <= {*expected, "hardbreak"}, (name, texts)
            for kind in ("heading_open", "td_open"):
                assert report[name][kind] == expected[kind], (name, kind, texts)


def kinds_by_renderer(markdown: str) -> dict[str, Counter[str]]:
    """How often each kind of token comes in the report, by renderer."""
    return {name: Counter(t.type for t in tokens(markdown, renderer)) for name, renderer in RENDERERS.items()}


def hostile_report(folder: Path, texts: Sequence[str]) -> str:
    """texts: taken in turn, each followed by its place."""
    turn = cycle(texts)
    hostile = Hostile(folder, text_of=cache(lambda place: f"{next(turn)} {place}"))
    ended = hostile.write(1), hostile.write(2, RunFailed(reason="error", detail=hostile.harm("failed")))
    return "\n\n".join(report_markdown(RunReader(each)) for each in ended)


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


def test_three_files_are_written_and_their_paths_returned_and_again_the_same_bytes(tmp_path: Path) -> None:
    directory = inspected.labels(tmp_path).directory
    before = {path.name for path in directory.path.iterdir()}
    paths = write_all(directory)
    assert paths[0] == directory.path / "report.md"
    assert paths[0].read_text(encoding="utf-8").startswith("# toy\n")
    written = {path.name for path in directory.path.iterdir()} - before
    assert written == {path.name for path in paths} == {"posterior.json", "predictions.csv", "report.md"}
    first = [path.read_bytes() for path in (*paths, write_html(directory))]
    assert first[-1].startswith(b"<!doctype html>")
    assert first == [path.read_bytes() for path in (*write_all(directory), write_html(directory))]
    assert not list(directory.path.glob(".*.part"))
