"""The report: two pages and an appendix, as Markdown and as HTML with no script and nothing to fetch."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests import inspected
from tests.reporting.builders import (
    YES_NO,
    dataset,
    drawn,
    evaluated,
    finished,
    proposed,
    resampled,
    reweighted,
    run,
    scored,
    started,
)
from tests.reporting.renderers import RENDERERS, tokens
from tests.show.test_escaping import HOSTILE
from vpp.data.dataset import Dataset
from vpp.events import Event, Proposed, RunFailed, RunFinished
from vpp.reporting.document import report_html, report_markdown, write_all, write_html
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

NBSP = "\N{NO-BREAK SPACE}"
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


def smc_run(data: Dataset = YES_NO, texts: Sequence[str] = ("even", "odd"), **spec: Any) -> list[Event]:
    """Two particles, two steps, a resampling that lost the text `lost`."""
    config = spec.get("config") or Config(particles=2)
    labels = data.classes or (1.0, 2.0)
    test = {text: [labels[k % 2]] * len(data.test) for k, text in enumerate(texts)}
    train = {text: [labels[k % 2]] * len(data.train) for k, text in enumerate(texts)}
    return [
        started(config, data),
        *drawn("lost", texts[0]),
        *(scored(0, k, t, {0: labels[k], 1: labels[k]}, role="buffer") for k, t in enumerate(("lost", texts[0]))),
        reweighted(0, (0.125, 0.875), beta=10.0),
        resampled(0, 1, 1),
        *(proposed(0, k, texts[0], t, why="taken", accepted=True) for k, t in enumerate(texts)),
        finished(0, texts),
        *(scored(1, k, t, {1: labels[k % 2]}, role="buffer") for k, t in enumerate(texts)),
        reweighted(1, (0.75, 0.25)),
        *(proposed(1, k, t, t, why="unchanged") for k, t in enumerate(texts)),
        finished(1, texts, weights=(0.75, 0.25)),
        *(scored(1, k, t, {1: labels[k % 2]}, role="final") for k, t in enumerate(texts)),
        reweighted(1, (0.75, 0.25), role="final"),
        evaluated(data, test, slots=texts, weights=(0.75, 0.25)),
        evaluated(data, train, slots=texts, weights=(0.75, 0.25), split="train"),
        RunFinished(outcome="finished"),
    ]


def plain(report: str) -> str:
    return report.replace(NBSP, " ")


def titles(report: str, mark: str) -> list[str]:
    return [line.removeprefix(mark) for line in report.splitlines() if line.startswith(mark)]


def test_a_finished_run_is_two_pages_that_begin_with_the_verdict_and_an_appendix(tmp_path: Path) -> None:
    reader = run(tmp_path, *smc_run())
    report = plain(report_markdown(reader))
    assert (titles(report, "## "), titles(report, "### ")) == (PAGES, APPENDIX)
    assert report.startswith("# toy\n\n**Right on 2 of 3 test rows. No better than always answering “no”.")
    assert "\n1. 75 % · right on 2 of 3 test rows · right on 2 of 4 training rows\n\n> even\n" in report
    assert "\n| no | 2 | 0 |\n| yes | 1 | 0 |\n" in report
    assert "66.7 % of 3 test rows are right, which means 21 % to 94 % (Wilson, 95 %)" in report
    assert "\n| 4 | 4 | no 75 %, yes 25 % | yes (wrong) |\n" in report
    assert "\n| this run | 66.7 % |" in report
    assert "| weights | Each different hypothesis counts once, scored on the 1 training row" in report


def test_the_runs_written_by_hand_have_their_worked_out_figures(tmp_path: Path) -> None:
    report = plain(report_markdown(inspected.labels(tmp_path / "labels")))
    # EVEN and PAIR answer alike, BIG differs on two of ten rows: at 95 % three hypotheses stay apart.
    facts = "right on 5 of 6 test rows · right on 4 of 4 training rows · 2 copies"
    assert f"1. 60 % · {facts}\n\n> Say yes if a is even, else no.\n" in report
    assert "87 % sure on average, right on 83 %." in report
    assert "| unsure and wrong | 1 row |" in report
    numbers = plain(report_markdown(inspected.numbers(tmp_path / "numbers")))
    # Means 1, 3, 4.5 and 8 / 3 miss 1, 3, 5 and 2 by 0, 0, 1 / 2 and 2 / 3.
    assert ", the worst by 0.667; on average 0.0417 too high." in numbers
    # The mean of 0, 1, 2, 4 misses 1, 3, 5, 2 by 12.75 squared in all.
    assert "| one answer | 3.188 |" in numbers


def test_the_demo_model_is_named_and_no_other_model_is_called_so(tmp_path: Path) -> None:
    assert "The demo model answered" in report_markdown(run(tmp_path, *smc_run())).split("## Hypotheses")[0]
    events = [started(Config(particles=2), YES_NO, model="qwen"), *smc_run()[1:]]
    report = report_markdown(run(tmp_path / "qwen", *events, endpoint=SERVER))
    assert "demo" not in report
    assert "Learner qwen, optimizer qwen; 36 calls" in report


def test_every_unfinished_run_can_be_reported(tmp_path: Path) -> None:
    for length in range(1, len(smc_run())):
        report = report_markdown(run(tmp_path / str(length), *smc_run()[:length]))
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
    benign = kinds_by_renderer(hostile_report(tmp_path / "benign", ["word"] * 8))
    for first in range(0, len(HOSTILE), 4):
        texts = [on_disk[(first + k) % len(on_disk)] for k in range(8)]
        report = kinds_by_renderer(hostile_report(tmp_path / str(first), texts))
        for name, expected in benign.items():
            assert set(report[name]) <= {*expected, "hardbreak"}, (name, texts)
            for kind in ("heading_open", "td_open"):
                assert report[name][kind] == expected[kind], (name, kind, texts)


def kinds_by_renderer(markdown: str) -> dict[str, Counter[str]]:
    """How often each kind of token comes in the report, by renderer."""
    return {name: Counter(t.type for t in tokens(markdown, renderer)) for name, renderer in RENDERERS.items()}


def hostile_report(folder: Path, texts: Sequence[str]) -> str:
    labels = [f"{texts[0]} 1", f"{texts[1]} 2"]
    data = dataset(labels, labels, name=f"col {texts[2]}", target=f"target {texts[3]}")
    provenance = replace(data.provenance, file=texts[4], notes=(texts[5],))
    data = replace(data, provenance=provenance)
    events = smc_run(data, (f"first {texts[6]}", f"second {texts[7]}"))
    unread = proposed(1, 0, f"first {texts[6]}", None, why="unparsable", raw=texts[0], reason=texts[1])
    is_first = [isinstance(event, Proposed) and (event.step, event.particle) == (1, 0) for event in events]
    events[is_first.index(True)] = unread
    failed = RunFailed(reason="error", detail=texts[2])
    return report_markdown(run(folder, *events[:-1], failed, data=data, name=texts[3]))


MARKUP = "</script><img src=x> <!-- [a](http://b)"


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
