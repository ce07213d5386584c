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
from tests.wording.test_escaping import HOSTILE
from vpp.data.dataset import Dataset
from vpp.events import Event, Proposed, RunFailed, RunFinished
from vpp.reporting.markdown import report_markdown
from vpp.runs.spec import EndpointSpec
from vpp.settings import Config

NBSP = "\N{NO-BREAK SPACE}"
SERVER = EndpointSpec(base_url="http://localhost:8000/v1", model="qwen")
SECTIONS = [
    "In brief",
    "The posterior",
    "What the data ruled out",
    "Where the particles disagree",
    "Does uncertainty mean error?",
    "How far to trust this",
    "Data",
    "Method and settings",
    "Reproduce",
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


def test_a_finished_run_is_reported_whole(tmp_path: Path) -> None:
    report = plain(report_markdown(run(tmp_path, *smc_run())))
    assert [line[3:] for line in report.splitlines() if line.startswith("## ")] == SECTIONS
    assert report.startswith("# toy\n")
    assert "**Right on 2 of 3 test rows. No better than always answering “no”." in report
    # Right on 2 of 4 training rows: B(3, 11) / B(1, 9) against B(3, 3), which is 1 : 3.18.
    heaviest = "Odds of the training rows under the heaviest of 3 hypotheses"
    against = f"{heaviest} and under a constant answer: 1 : about 3.2."
    outcome = "The weighted vote gets 2 of 3 test rows right."
    assert f"holds 75 % of the weight; another holds the rest. {against} {outcome}**" in report
    assert (
        "| Test accuracy, weighted vote | 66.7 % | 2 of 3: with 3 rows, that means 21 % to 94 %. (Wilson, 95 %) |"
        in report
    )
    assert (
        "| Baseline | 66.7 % | The same test rows, always answered with the most frequent training label: no |"
        in report
    )
    assert "| Weights used | train | Each different hypothesis counts once, scored on the 1 training row" in report
    assert "| ESS | 1.6 of 2 | ESS 1.6 of 2: about two sentences carry the weight. |" in report
    assert "### 1. Weight 0.750, particle 0\n\n> even\n" in report
    against = "1 of 2 rows contradicts it (row 0); the heaviest is right there."
    assert f"1 resampled away:\n\n- resampled away: lost (Step 0, particle 0, weight 0.125. {against})\n" in report
    assert "3 of 3 test rows in dispute, the most divided first." in report
    assert "| 4 | a 4 | yes | “no”: wrong | no 75 %, yes 25 % |" in report


def test_what_was_rejected_is_listed_with_the_rows_against_it(tmp_path: Path) -> None:
    events = [
        started(Config(method="mh", particles=2), YES_NO),
        *drawn("a", "b"),
        scored(0, 1, "b", {0: "yes"}),
        scored(0, 1, "bad", {0: "no"}, role="proposal"),
        proposed(0, 1, "b", "bad"),
        proposed(0, 0, "a", None, why="unparsable", raw="I *cannot*", reason="no rule"),
        finished(0, ("a", "b")),
    ]
    report = report_markdown(run(tmp_path, *events, config=Config(method="mh", particles=2)))
    assert (
        "- rejected: bad (Step 0, particle 1. 1 of 1 row contradicts it (row 0); the text that stayed is right there.)"
        in report
    )
    assert "- unreadable: I \\*cannot\\* (Step 0, particle 0. No hypothesis could be read: no rule.)" in report
    verdict = "Too few proposals for a verdict. 0 unchanged, 1 unreadable."
    assert f"0 % accepted: none of one proposal. {verdict}" in report


def test_the_demo_model_is_named_at_the_top_and_no_other_model_is_called_so(tmp_path: Path) -> None:
    head = report_markdown(run(tmp_path, *smc_run())).split("## In brief")[0]
    assert "**Built-in demo model.**" in head
    assert "The demo model answered: this says nothing about language models." in head
    events = [started(Config(particles=2), YES_NO, model="qwen"), *smc_run()[1:]]
    report = report_markdown(run(tmp_path / "qwen", *events, endpoint=SERVER))
    assert "demo" not in report.split("## Reproduce")[0]
    assert "| model of the learner | qwen |" in report


def test_a_hypothesis_is_reported_with_its_program_as_text_and_its_branches(tmp_path: Path) -> None:
    report = plain(report_markdown(inspected.programs(tmp_path)))
    certified = "Read by a program; the model reads it alike on 1 of 2 rows (9 % to 91 %)."
    assert f"{certified}\n\n```\n{inspected.PROGRAM}\n```\n\n- branch 1, ask(" in report
    assert "\n- branch 2, otherwise: 'no' (1 of 2 rows right)\n" in report
    assert "\n\nRow 1: no by the program, no answer by the model. The sentence may have two meanings.\n" in report
    assert "\n\nRead row by row: \\*no program\\*.\n" in report


def test_every_unfinished_run_can_be_reported(tmp_path: Path) -> None:
    for length in range(1, len(smc_run())):
        report = report_markdown(run(tmp_path / str(length), *smc_run()[:length]))
        assert [line[3:] for line in report.splitlines() if line.startswith("## ")] == SECTIONS, length
        assert "interrupted: its worker is gone, and it can be resumed" in report, length


def test_the_command_stands_in_a_block_that_no_text_closes(tmp_path: Path) -> None:
    config = Config(particles=2, prior="```\n# owned")
    report = report_markdown(run(tmp_path, config=config))
    fences = [token for token in tokens(report, RENDERERS["commonmark"]) if token.type == "fence"]
    assert [fence.content.partition("--particles")[2] for fence in fences] == ["=2 '--prior=```\n# owned' --demo\n"]


def test_no_key_or_password_is_shown(tmp_path: Path) -> None:
    endpoint = EndpointSpec(base_url="https://me:secret@host/v1", optimizer_base_url="https://u:secret@h/", model="m")
    assert "secret" not in report_markdown(run(tmp_path, endpoint=endpoint))


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
