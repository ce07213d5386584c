"""What is said of a run fits its method: nothing is shown that it does not have."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.fuzz.pages import draw_all
from tests.reporting.sampled import SMALL, VARIANTS, agreeing, sampled, sampled_run, world
from vpp.drawing.band import band_html
from vpp.drawing.cards import CardMaker
from vpp.drawing.figures import acceptance_figure, ess_figure, evidence_figure, size_figure, weights_figure
from vpp.events import Event
from vpp.inspection.scores import ensemble
from vpp.inspection.slots import why_grew
from vpp.inspection.summary import result
from vpp.reporting.exports import posterior_json
from vpp.reporting.markdown import report_markdown
from vpp.reporting.predictions import predictions_csv
from vpp.runs.journal_reader import JournalReader
from vpp.runs.prompts import PromptMaker
from vpp.runs.reader import RunReader
from vpp.runs.view import log_evidence, size_by_step
from vpp.settings import Config
from vpp.wording.progress import batch_errors, headline, metrics
from vpp.wording.words import percent

from . import builders

TASKS = ("classification", "regression")
TELESCOPING = ("incremental", "adaptive")
SHRINKING = Config(**{**SMALL, "epochs": 2}, particles_max=8)


@cache
def reported(reader: RunReader) -> str:
    return report_markdown(reader)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def events_of(name: str, task: str = "classification") -> list[Event]:
    """Events of a variant's finished run."""
    return [record.event for record in JournalReader(sampled_run(name, task).directory.journal).new_records()]


def begun(folder: Path, name: str, n_events: int, *, task: str = "classification") -> RunReader:
    """A variant's run with its first events alone."""
    return builders.run(folder, *events_of(name, task)[:n_events], data=world(task), config=VARIANTS[name])


def tiles(reader: RunReader, step: int | None) -> dict[str, str]:
    return {m.name: f"{m.value} {m.scale}: {m.words}" for m in metrics(reader.refresh(), step)}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", VARIANTS)
def test_every_method_is_reported_whole_and_has_no_figure_of_another(name: str, task: str) -> None:
    reader, config = sampled_run(name, task), VARIANTS[name]
    view, report = reader.refresh().view, reported(reader)
    steps = report.split("## Step by step")[1].split("\n## ")[0]
    assert report.count("\n## ") == 14
    assert json.loads(posterior_json(reader))["result"]["status"] == "finished"
    assert len(predictions_csv(reader).splitlines()) == 1 + len(reader.dataset().test)
    shown = tiles(reader, None)
    assert ("ESS" in shown, "| ESS |" in report) == (config.is_weighted, config.is_weighted)
    assert ("Tempering β" in shown) == (config.is_weighted and not config.is_telescoping)
    assert ("Log evidence" in shown, "evidence" in steps) == (config.is_telescoping, config.is_telescoping)
    assert ("β" in steps) == config.is_weighted
    if config.is_filtered:
        judged = view.decided_by_likelihood
        taken = sum(p.accepted for p in judged)
        assert f"{taken} of {len(judged)} judged" in shown["Proposals accepted"]
        assert f"{taken} of {len(judged)} proposals accepted" in acceptance_figure(view, "light").alt
        assert "that the likelihood let through" in report
    else:
        assert "No accept/reject step" in shown["Rewritten"]
        assert "Every changed text is taken: there is no filter." in report


@pytest.mark.parametrize("name", TELESCOPING)
def test_carried_weights_come_with_a_nominal_evidence_and_its_reasons(name: str) -> None:
    reader = sampled_run(name)
    view, report = reader.refresh().view, plain(reported(reader))
    value = log_evidence(view)
    assert value is not None
    shown = f"{value:.2f}".replace("-", "−")
    assert f"| Log evidence | {shown}, nominal |" in report
    assert "a model's draws cannot be shown to be independent" in report.split("## How far to trust this")[1]
    assert tiles(reader, None)["Log evidence"].startswith(f"{shown} nominal")
    assert report.count("evidences compare only between runs of equal rows, tau, epsilon and exponent") == 1
    assert evidence_figure(view, "light").alt == f"Nominal log evidence by step: {shown} at φ = 1"
    assert len(evidence_figure(view, "dark").rows) == 5
    is_even = view.finished_steps[-1].resampled
    assert ("which sets the weights equal" if is_even else "| Weights used | carried |") in report
    assert json.loads(posterior_json(reader))["weights_are"] == "carried"


def test_an_ess_is_of_its_own_steps_particles() -> None:
    reader = sampled_run("growing", "regression")
    view = reader.refresh().view
    sizes = {at.step: len(at.reweighted.weights) for at in view.finished_steps if at.reweighted}
    assert len(set(sizes.values())) > 1
    for step, size in sizes.items():
        assert f"of {size}:" in tiles(reader, step)["ESS"]
    written = [row[2] for row in ess_figure(view, "light").rows if row[0] != "end"]
    assert written == [str(size) for size in sizes.values()]
    threshold = ess_figure(view, "light").chart.data[0].y
    assert set(threshold) == {0.5 * size for size in sizes.values()}


@pytest.mark.parametrize(
    ("config", "script", "said"), [(VARIANTS["growing"], {}, "K grew"), (SHRINKING, {"answer": agreeing}, "K shrank")]
)
def test_a_k_that_changes_breaks_no_figure(
    tmp_path: Path, config: Config, script: dict[str, object], said: str
) -> None:
    reader = sampled(tmp_path, config, task="regression", **script)
    view = reader.refresh().view
    sizes = size_by_step(view)
    assert len(set(sizes)) > 1
    weights = weights_figure(view, "light")
    assert {len(row) for row in weights.rows} == {1 + max(sizes)}
    assert [row[1] for row in size_figure(view, "light").rows] == [str(size) for size in sizes[1:]]
    heights = [part.split('"')[0] for part in band_html(view, shown=0).split("--e:")[1:]]
    assert heights
    assert all(0 < float(height) <= 1 for height in heights)
    assert said in band_html(view, shown=0)
    assert f"K = {sizes[0]} at first, {sizes[-1]} now" in reported(reader)
    for step in [at.step for at in view.finished_steps if at.shrunk]:
        assert f"K fell at step {step}: all agreed." in tiles(reader, None)["Particles K"]
        assert "It has not changed yet." in tiles(reader, step - 1)["Particles K"]
        assert " dropped: all agreed |" in reported(reader)


@pytest.mark.parametrize("name", ["growing", "growing mh"])
def test_a_grown_k_is_shown_with_its_reason(name: str) -> None:
    reader = sampled_run(name, "regression")
    at = next(at for at in reader.refresh().view.finished_steps if at.joined)
    before = [s.hypothesis for slot, s in enumerate(at.population) if slot not in at.joined]
    why = "few different sentences" if 2 * len(set(before)) <= len(before) else "a low ESS"
    assert why_grew(at) == why
    assert f"K grew at step {at.step}: {why}." in tiles(reader, at.step)["Particles K"]
    assert f"{len(at.joined)} joined: {why}" in [row[2] for row in size_figure(reader.refresh().view, "light").rows]


@pytest.mark.parametrize("name", VARIANTS)
def test_headline_tiles_and_cards_of_a_replayed_step_are_of_that_step(name: str) -> None:
    reader = sampled_run(name, "regression")
    snapshot, data = reader.refresh(), reader.dataset()
    view, config = snapshot.view, snapshot.spec.config
    maker = CardMaker(view, config, data, PromptMaker(snapshot.spec, data))
    for step in range(view.total_steps):
        shown = [each for card in maker.at(step) for each in card.stack]
        cards = [card for card in shown if card.slot not in view.steps[step].joined]
        written, n = plain(headline(snapshot, step)), len({card.sentence for card in cards})
        assert written.startswith(f"At step {step}: ")
        if config.largest_size == 1:
            assert "one hypothesis, rewritten at each step" in written
            continue
        assert f"{n} different sentence{'s' if n > 1 else ''}" in written
        assert tiles(reader, step)["Different sentences"].startswith(f"{n} of {len(cards)}:")
        if config.is_weighted:
            held = [sum(c.weight or 0 for c in cards if c.sentence == each.sentence) for each in cards]
            assert f" holds {plain(percent(max(held)))} of the weight" in written
            assert "; the heaviest" in written
    assert not headline(snapshot).startswith("At step")


@pytest.mark.parametrize("name", [n for n, c in VARIANTS.items() if c.size > 1])
def test_while_first_rows_are_scored_headline_and_tile_say_one_number(tmp_path: Path, name: str) -> None:
    first = next(i for i, event in enumerate(events_of(name)) if event.type == "scored")
    reader = begun(tmp_path, name, first + 1)
    n, size = reader.refresh().view.n_unique, VARIANTS[name].size
    assert headline(reader.refresh(), 0).startswith(f"{n} different sentence")
    assert tiles(reader, 0)["Different sentences"].startswith(f"{n} of {size}:")


def test_before_a_step_has_judged_its_metric_says_so(tmp_path: Path) -> None:
    events = events_of("smc filtered")
    weighed = [i for i, event in enumerate(events) if event.type == "reweighted" and event.role == "step"]
    reader = begun(tmp_path, "smc filtered", weighed[2] + 1)
    assert tiles(reader, 2)["Proposals accepted"].startswith("– none judged yet at step 2: ")


def test_an_error_on_the_batch_leaves_out_the_other_rows() -> None:
    reader = sampled_run("mh on train")
    view, config, data = reader.refresh().view, VARIANTS["mh on train"], reader.dataset()
    found = batch_errors(view, config, data).by_step
    targets = {row.id: row.target for row in data.train}
    assert set(found) == set(range(5))
    for step, error in found.items():
        at = view.steps[step]
        assert at.finished is not None
        answers = [dict(zip(s.rows, s.predictions, strict=True)) for s in at.scored.values()]
        wrong = [said[row] != targets[row] for said in answers for row in at.finished.batch]
        assert error == pytest.approx(sum(wrong) / len(wrong))


@pytest.mark.parametrize("task", TASKS)
def test_five_runs_are_read_as_the_summary_reads_them(task: str) -> None:
    reader = sampled_run("vml5", task)
    view, written = reader.refresh().view, result(reader.directory, reader.refresh().view)
    five = ensemble(view, reader.dataset())
    assert five is not None
    good = (lambda s: 1 - s.error) if task == "classification" else (lambda s: s.error)
    assert good(five.together) == pytest.approx(written["metric"]["test"])
    assert good(five.oracle.test) == pytest.approx(written["oracle_best_test"])
    assert good(five.best_on_train.test) == pytest.approx(written["best_on_train"])
    for words in ("| Best of five on test (oracle) |", "| Best of five on train |"):
        assert words in reported(reader)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_page_can_be_drawn_of_a_run_at_any_moment(tmp_path: Path, name: str) -> None:
    task = "regression" if VARIANTS[name].particles_max else "classification"
    n = len(events_of(name, task))
    for length in range(n, 0, -(n // 8)):
        draw_all(begun(tmp_path / str(length), name, length, task=task))
