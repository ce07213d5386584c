"""Exports and the report: against the two hand-made runs and docs/files.md, with no script and nothing to fetch."""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from tests import inspected
from tests.docs.test_pages import ROOT
from tests.hostile.runs import Hostile
from tests.inspected import LABEL_CONFIG, LABELS, label_events, plain
from tests.processes import free_port
from tests.reporting.builders import YES_NO, run, started
from tests.reporting.renderers import RENDERERS, tokens
from tests.sampled import VARIANTS, sampled_run
from tests.show.test_words import HOSTILE
from vpp.data.descriptions import Descriptions
from vpp.errors import InputError
from vpp.events import RunFailed
from vpp.reporting import exports
from vpp.reporting.document import report_html, report_markdown
from vpp.reporting.exports import data_tree, log_run, posterior_json, posterior_nc, write_all, write_html
from vpp.reporting.predictions import predictions_csv
from vpp.runs.directory import RunDirectory, RunReader
from vpp.runs.spec import EndpointSpec
from vpp.runs.view import log_evidence

RIGHT, WRONG = math.log(0.95), math.log(0.05)


def test_a_draw_is_a_particle_with_its_weight_and_labels_are_numbers_of_classes(tmp_path: Path) -> None:
    data = data_tree(inspected.labels(tmp_path))
    assert data.posterior.text.values.tolist() == [list(inspected.LABEL_SLOTS)]
    assert data.posterior.text.dims == ("chain", "draw")
    assert data.sample_stats.weight.values[0] == pytest.approx(inspected.LABEL_WEIGHTS)
    assert data.sample_stats.hypothesis.values.tolist() == [[0, 1, 0, 2]]
    assert data.attrs["classes"] == ["no", "yes"]
    assert data.predictions.y.values[0].tolist() == [
        [1, 0, 1, 0, 1, 1],
        [1, 0, 1, 1, 0, 1],
        [1, 0, 1, 0, 1, 1],
        [1, 0, -1, 0, 0, 0],
    ]
    assert data.predictions_constant_data.target.values.tolist() == [1, 0, 1, 0, 1, 0]
    assert data.predictions.test_row.values.tolist() == [4, 5, 6, 7, 8, 9]
    assert data.observed_data.y.values.tolist() == [1, 0, 1, 0]
    assert data.log_likelihood.y.values[0, 0] == pytest.approx([RIGHT] * 4)
    assert data.log_likelihood.y.values[0, 3] == pytest.approx([RIGHT, RIGHT, WRONG, RIGHT])


def test_numbers_stay_numbers_and_an_abstention_is_none(tmp_path: Path) -> None:
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.numbers(tmp_path)))
    with xarray.open_datatree(path) as data:
        assert data.predictions.y.values[0, 1, :3].tolist() == [2.0, 3.0, 6.0]
        assert np.isnan(data.predictions.y.values[0, 1, 3])
        # -(y - f)^2 / 2 with tau 1: LINE is one off on the last row, FLAT two, one, none and two off.
        assert data.log_likelihood.y.values[0, 0].tolist() == [0.0, 0.0, 0.0, -0.5]
        assert data.log_likelihood.y.values[0, 2].tolist() == [-2.0, -0.5, 0.0, -2.0]
        assert data.observed_data.row.values.tolist() == [0, 1, 2, 3]


def test_arviz_reads_the_file_and_draws_by_weight(tmp_path: Path) -> None:
    az = pytest.importorskip("arviz", minversion="1", reason="ArviZ 1 needs Python 3.12")
    path = tmp_path / "posterior.nc"
    path.write_bytes(posterior_nc(inspected.labels(tmp_path)))
    data = az.from_netcdf(path)
    by_weight = {"weights": data.sample_stats.weight[0], "resampling_method": "multinomial"}
    drawn = az.extract(data, num_samples=4000, random_seed=1, **by_weight)
    shares = [float((drawn.text == text).mean()) for text in inspected.LABEL_SLOTS]
    assert shares == pytest.approx(inspected.LABEL_WEIGHTS, abs=0.04)


def test_without_particles_or_xarray_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no population is complete"):
        data_tree(run(tmp_path))
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install xarray"):
        posterior_nc(run(tmp_path / "again"))


def test_each_step_has_metrics_and_the_last_step_has_those_of_the_run(tmp_path: Path) -> None:
    snapshot = inspected.labels(tmp_path).refresh()
    view = snapshot.view
    by_step = list(exports.figures_by_step(snapshot.spec, view))
    assert [step for step, *_ in by_step] == [-1, 0, 1, 1, 1, 1]
    steps = [figures for _, _, figures in by_step[:3]]
    assert [each["particles"] for each in steps] == [4, 4, 4]
    assert [each["ess"] for each in steps if "ess" in each] == view.ess_by_step
    assert steps[-1]["distinct_texts"] == 4
    whole = {name: value for _, _, figures in by_step[3:] for name, value in figures.items()}
    assert whole["test_accuracy"] == view.evaluations["test"].value
    assert whole["cost"] is None
    assert whole["final_heaviest_weight"] == pytest.approx(max(inspected.LABEL_WEIGHTS))
    assert whole["final_ess"] == pytest.approx(1 / sum(w**2 for w in inspected.LABEL_WEIGHTS))


@pytest.mark.parametrize(
    ("example", "label"), [("example-messages", "log_evidence_exact"), ("example-titanic", "log_evidence_nominal")]
)
def test_the_evidence_of_given_sentences_is_logged_as_exact_and_that_of_written_ones_as_nominal(
    example: str, label: str
) -> None:
    reader = RunReader(RunDirectory(ROOT / "assets" / "examples" / example))
    snapshot = reader.refresh()
    *_, (_, _, figures) = exports.figures_by_step(snapshot.spec, snapshot.view)
    assert [name for name in figures if name.startswith("log_evidence")] == [label]
    assert figures[label] == log_evidence(snapshot.view)


def test_an_unreachable_server_gives_a_one_line_error_without_the_password_and_no_mlflow_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    uri = f"http://me:hunter22hunter@127.0.0.1:{free_port()}"
    with pytest.raises(InputError) as refused:
        log_run(inspected.labels(tmp_path).directory, uri, experiment="vpp")
    assert "MLflow at http://127.0.0.1:" in str(refused.value)
    assert "check its address" in str(refused.value)
    assert "hunter22" not in str(refused.value)
    assert "\n" not in str(refused.value)

    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match="pip install mlflow-skinny"):
        log_run(inspected.labels(tmp_path / "again").directory, "http://127.0.0.1:5000", experiment="vpp")


Json = dict[str, Any]
MAPS = ("config", "models", "templates", "versions", "result.calls", "result.tokens", "result.withheld",
        "dataset.provenance", "dataset.descriptions.columns", "dataset.descriptions.labels")  # fmt: skip
"""Objects whose keys are names from elsewhere, or documented as one."""


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def read(reader: RunReader) -> Json:
    content: Json = json.loads(posterior_json(reader), parse_constant=refuse)
    return content


def test_hypotheses_particles_texts_ruled_out_and_rows_are_those_of_the_findings(tmp_path: Path) -> None:
    content = read(inspected.labels(tmp_path / "labels"))
    hypotheses, out = content["hypotheses"], {each["text"]: each for each in content["ruled_out"]}
    assert [each["weight"] for each in hypotheses] == pytest.approx([0.6, 0.3, 0.1])
    assert [each["slots"] for each in hypotheses] == [[0, 2], [1], [3]]
    assert [w["text"] for w in hypotheses[0]["wordings"]] == [inspected.EVEN, inspected.PAIR]
    assert (content["rows_compared"], content["compared_by"]) == (10, "evaluations")
    assert [p["log_likelihood"] for p in content["particles"]] == [math.log(w) for w in (0.4, 0.3, 0.2, 0.1)]
    assert [p["hypothesis"] for p in content["particles"]] == [0, 1, 0, 2]
    assert content["dataset"]["provenance"]["sha256"] == "ab" * 32
    assert (content["result"]["status"], content["result"]["metric"]["name"]) == ("finished", "accuracy")
    assert set(out) == {inspected.LUCK, inspected.SEVEN, inspected.NONE, "Sorry."}
    assert [out[inspected.LUCK][name] for name in ("reason", "step", "times")] == ["rejected", 1, 3]
    assert out[inspected.SEVEN]["against"][0] == {"row": 0, "said": "no", "true": "yes", "is_decisive": True}
    rows = {each["row"]: each for each in content["disagreement"]}
    assert (rows[9]["true"], rows[9]["prediction"], rows[9]["uncertain"]) == ("no", "yes", True)
    assert rows[9]["shares"] == pytest.approx({"yes": 0.9, "no": 0.1})
    assert rows[9]["entropy_bits"] == pytest.approx(0.46900, abs=1e-5)  # -0.9 log2 0.9 - 0.1 log2 0.1
    rows = {each["row"]: each for each in read(inspected.numbers(tmp_path / "numbers"))["disagreement"]}
    assert (rows[4]["prediction"], rows[4]["low"], rows[4]["high"]) == (1.0, 0.0, 2.0)
    assert (rows[7]["abstained"], rows[7]["shares"], rows[7]["entropy_bits"]) == (0.25, None, None)


def test_the_page_documents_every_field_and_no_other(tmp_path: Path) -> None:
    readers = [inspected.labels(tmp_path / "labels"), inspected.numbers(tmp_path / "numbers")]
    readers.append(inspected.programs(tmp_path / "programs"))
    readers += [sampled_run(name) for name in ("adaptive", "vml5")]
    readers.append(run(tmp_path / "described", data=replace(YES_NO, descriptions=Descriptions(columns={"a": "?"}))))
    written = {path for reader in readers for path in paths(read(reader))}
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    page = page.split("## posterior.json")[1].split("## Records")[0]
    documented = {path for field in re.findall(r"^- `([^`]+)`:", page, flags=re.MULTILINE) for path in paths_of(field)}
    parts = tuple(f"{each}." for each in documented)
    assert [path for path in written if not any(each.startswith((f"{path}.", f"{path}[")) for each in parts)] == []
    assert documented - written == set()


def paths_of(field: str) -> Iterator[str]:
    """The fields that `a.{b,c}.d` stands for."""
    before, brace, rest = field.partition("{")
    if not brace:
        yield field
        return
    inner, _, after = rest.partition("}")
    for each in inner.split(","):
        yield from paths_of(f"{before}{each}{after}")


def paths(value: Any, at: str = "") -> Iterator[str]:
    """`ideas[].test.n` of every field, objects with names from elsewhere as one."""
    if at:
        yield at
    if at in MAPS or at.endswith("].shares"):
        return
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths(each, f"{at}.{key}".lstrip("."))
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, dict):
                yield from paths(each, f"{at}[]")


SERVER = EndpointSpec(base_url="http://localhost:8000/v1", model="qwen")
PAGES = ["Hypotheses by weight", "Right and wrong", "Rows in doubt or wrong", "Method and data", "Appendix"]
APPENDIX = [
    "Simple models",
    "Calibration and evidence",
    "Slices",
    "Ruled out",
    "How far to trust this",
    "Options and table",
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
    assert "Odds by the training rows: about " in report.split("## ")[0]
    assert "the posterior over the sentences found; they were written from the rows that weigh them" in report
    assert "log score " in report
    assert "; the newest:" in report
    facts = "right on 5 of 6 test rows · right on 75 to 99.8 %, by the training rows"
    assert f"1. 60 % · {facts}\n\n> Say yes if a is even, else no.\n" in report
    assert "\n| no | 2 | 1 | 0 |\n| yes | 0 | 2 | 1 |\n" in report
    assert "| unsure and wrong | 1 row |" in report
    assert "\n| 8 | 8 | yes 60 %, no 40 % | yes (I don’t know) |\n" in report
    assert "\n| A · toy | 5 of 6, 83.3 % |" in report
    assert "| weights | Each different hypothesis counts once, scored on the last 4 rows" in report
    numbers = plain(report_markdown(inspected.numbers(tmp_path / "numbers")))
    # Means 1, 3, 4.5 and 8 / 3 miss 1, 3, 5 and 2 by 0, 0, 1 / 2 and 2 / 3.
    assert ", the worst by 0.667; on average 0.0417 too high." in numbers
    # The mean of 0, 1, 2, 4 misses 1, 3, 5, 2 by 12.75 squared in all.
    assert "| Always 1.75 | 3.188 |" in numbers
    assert "Wilcoxon’s signed-rank test); the verdict’s p is times the number" in numbers
    assert "p of a line alone: how often a fair coin would split the rows" in report
    assert "This one ran with vpp 0.1.0, python 3.11, learner model demo and optimizer model demo." in report


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


def test_the_command_stands_in_a_block_that_no_text_closes_without_a_key_or_password(tmp_path: Path) -> None:
    typed = ("run", "some where/toy.csv", "--run-dir", "runs/x", "--prior=```\n# owned\x1b[201~; rm -r x", "--demo")
    report = report_markdown(run(tmp_path, command=typed))
    fences = [token for token in tokens(report, RENDERERS["commonmark"]) if token.type == "fence"]
    words = "'some where/toy.csv' '--prior=```\n# owned\ufffd[201~; rm -r x' --demo"
    assert [fence.content for fence in fences] == [f"python -m vpp run {words}\n"]
    assert "not started on a command line" in report_markdown(run(tmp_path / "app"))

    endpoint = EndpointSpec(base_url="https://me:secret@host/v1", optimizer_base_url="https://u:secret@h/", model="m")
    typed = ("run", "toy.csv", "--base-url=https://me:secret@host/v1", "--run-dir=x")
    report = report_markdown(run(tmp_path / "keys", endpoint=endpoint, command=typed))
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


def test_the_file_holds_the_pages_of_the_app_fetches_nothing_and_links_its_appendix(tmp_path: Path) -> None:
    report = report_html(inspected.labels(tmp_path))
    assert '<div class="report"><p class="say">Right on 4 of 5 test rows' in report
    assert "default-src 'none'; style-src 'unsafe-inline'; font-src data:" in report
    assert not re.search(r"<(script|link|img|iframe|button)\b", report)
    assert set(re.findall(r"url\((.{5})", report)) == {"data:"}
    assert len(report) < 1_500_000
    appendix = report.partition('class="report appendix"')[2]
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
    assert {path.name for path in paths} == {"posterior.json", "predictions.csv", "report.md"}
    assert written == {path.name for path in paths} | {"summary.json"}, "the verdict is read with the summary"
    first = [path.read_bytes() for path in (*paths, write_html(directory))]
    assert first[-1].startswith(b"<!doctype html>")
    assert first == [path.read_bytes() for path in (*write_all(directory), write_html(directory))]
    assert not list(directory.path.glob(".*.part"))
