"""The shipped examples: they read with today's code and are copied whole; the demo model's are made by their script."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from pages.parts.opening import SHIPPED, TITANIC
from tests.example import PREPARED, made
from vpp.errors import RunError
from vpp.findings.trial import Obeyed, read_trial
from vpp.posterior.weights import ess
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader, Snapshot
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLES, REAL_EXAMPLE, SHIPPED_FILES, RunStore, unpack


def read(directory: RunDirectory) -> Snapshot:
    return RunReader(directory).refresh()


def heaviest_first(snapshot: Snapshot) -> list[tuple[float, str]]:
    """The last population: weight and text a slot."""
    view = snapshot.view
    texts = [view.texts[state.hypothesis] for state in view.population]
    return sorted(zip(view.weights, texts, strict=True), reverse=True)


def test_it_is_a_finished_run_whose_weights_are_those_of_its_likelihoods() -> None:
    snapshot = read(RunDirectory(SHIPPED))
    final = snapshot.view.final
    assert snapshot.state == "finished"
    assert final is not None
    sentences: dict[str, float] = {}
    for weight, text in heaviest_first(snapshot):
        sentences[text] = sentences.get(text, 0.0) + weight
    assert final.ess == pytest.approx(ess(np.array([*sentences.values()])))
    assert len(RunReader(RunDirectory(SHIPPED)).dataset().test) == 60


def test_it_shows_sentences_that_disagree() -> None:
    test = read(RunDirectory(SHIPPED)).view.evaluated["test"]
    assert any(len({answers[place] for answers in test.predictions}) > 1 for place in range(len(test.rows)))


def test_its_first_sentences_differ_and_the_data_replace_all_of_them() -> None:
    run = RunDirectory(SHIPPED)
    events = [record["event"] for record in map(json.loads, (run.path / "events.jsonl").read_bytes().splitlines())]
    drawn = {event["hypothesis"] for event in events if event["type"] == "particle_drawn"}
    last = {state.hypothesis for state in read(run).view.population}
    assert len(drawn) == 10
    assert 1 < len(last) < 10
    assert not drawn & last
    assert any(event["type"] == "resampled" for event in events)


def test_every_chain_rejects_some_proposals_and_accepts_others() -> None:
    run = RunDirectory(SHIPPED.with_name(CHAINS_EXAMPLE))
    events = [record["event"] for record in map(json.loads, (run.path / "events.jsonl").read_bytes().splitlines())]
    decided = [event for event in events if event["type"] == "proposed" and event["why"] == "likelihood"]
    decisions = {chain: {one["accepted"] for one in decided if one["particle"] == chain} for chain in range(3)}
    assert set(map(frozenset, decisions.values())) == {frozenset((True, False))}


def test_the_real_models_run_is_told_by_its_own_figures() -> None:
    view = read(RunDirectory(SHIPPED.with_name(REAL_EXAMPLE))).view
    assert f"in {view.wall_s / 60:.0f} minutes." in TITANIC


def test_they_are_what_their_script_makes(tmp_path: Path) -> None:
    """The chains are made anew; tests/verification replays every example on its recorded answers."""
    for example, prepare in PREPARED.items():
        assert asdict(RunDirectory(SHIPPED.with_name(example)).spec()) == asdict(prepare().spec)
    again, shipped = made(tmp_path, CHAINS_EXAMPLE), RunDirectory(SHIPPED.with_name(CHAINS_EXAMPLE))
    found, kept = heaviest_first(read(again)), heaviest_first(read(shipped))
    assert [text for _, text in found] == [text for _, text in kept]
    assert [weight for weight, _ in found] == pytest.approx([weight for weight, _ in kept], abs=1e-9)


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_is_small_and_names_no_place_of_a_machine(example: str) -> None:
    folder = SHIPPED.with_name(example)
    content = {name: (folder / name).read_text(encoding="utf-8") for name in SHIPPED_FILES}
    more = ["trial.json"] if example == REAL_EXAMPLE else []
    assert sorted(path.name for path in folder.iterdir()) == sorted([*SHIPPED_FILES, *more])
    assert sum(map(len, content.values())) < 1_000_000
    assert not [name for name, text in content.items() if str(Path.home()) in text or '"/' in text]


def test_the_trial_of_a_language_models_run_comes_with_it(tmp_path: Path) -> None:
    run = unpack(SHIPPED.with_name(REAL_EXAMPLE), tmp_path)
    found = read_trial(run, RunReader(run).refresh().view)
    assert found is not None
    heaviest = found.ideas[0]
    assert (heaviest.must_change, heaviest.must_stay) == (Obeyed(n=12, obeyed=12), Obeyed(n=11, obeyed=11))
    assert {each.text: round(each.log_likelihood_lost, 2) for each in heaviest.clauses} == {
        "sex is female": 47.11, "age is adult": -2.94, "otherwise answer no.": 0.0,
    }  # fmt: skip


def test_two_who_ask_at_once_find_one_whole_run(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = {run.path for run in pool.map(lambda _: unpack(SHIPPED, tmp_path / "runs"), range(16))}
    assert [run.path for run in RunStore(tmp_path / "runs").runs()] == list(found)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [SHIPPED.name]
    assert read(RunDirectory(*found)).state == "finished"


def test_one_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    run = unpack(SHIPPED, tmp_path)
    content = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**content, "name": "Mine"}))
    assert unpack(SHIPPED, tmp_path).spec().name == "Mine"


def test_a_folder_that_cannot_hold_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(RunError, match="choose another runs folder"):
        unpack(SHIPPED, tmp_path / "runs")
