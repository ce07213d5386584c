"""The shipped examples: they read with today's code and are copied whole; the demo model's are made by their script."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest

from pages.parts import opening
from pages.parts.opening import SHIPPED
from tests.example import DEMO, SHIPPED_FILES, TRIAL, make
from vpp.errors import RunError
from vpp.findings.asking import read_trial
from vpp.findings.points import points, reject_option
from vpp.runs.directory import RunDirectory
from vpp.runs.journal import RunReader, Snapshot
from vpp.runs.preparation import Preparation
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLES, REAL_EXAMPLE, RunStore, unpack


def read(directory: RunDirectory) -> Snapshot:
    return RunReader(directory).refresh()


def heaviest_first(snapshot: Snapshot) -> list[tuple[float, str]]:
    """The last population: weight and text a slot."""
    view = snapshot.view
    texts = [view.texts[state.hypothesis] for state in view.population]
    return sorted(zip(view.weights, texts, strict=True), reverse=True)


def test_the_first_is_right_on_every_row_it_answers_and_does_not_answer_all() -> None:
    reader = RunReader(RunDirectory(SHIPPED))
    snapshot, dataset = reader.refresh(), reader.dataset()
    test = snapshot.view.evaluations["test"]
    rows = points(test, dataset, reject_option(snapshot.view, snapshot.spec.config, dataset, of=test))
    n_right = sum(row.is_right for row in rows)
    assert not [row for row in rows if row.is_wrong]
    assert len(rows) - n_right == sum(row.is_undecided for row in rows) > 0
    words = f"Right on all {n_right} test rows that it answered, “I don’t know” on {len(rows) - n_right}."
    assert opening.finished_words() == words


def test_the_live_example_is_the_first_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Preparation] = []
    monkeypatch.setattr(opening, "start_new", started.append)
    opening.run_example()
    live, shipped = started[0].spec, RunDirectory(SHIPPED).spec()
    assert (live.config, live.dataset, live.command) == (shipped.config, shipped.dataset, shipped.command)


def test_they_are_what_their_script_makes(tmp_path: Path) -> None:
    """The chains are made anew; tests/verification replays every example on its recorded answers."""
    for example, command in DEMO.items():
        assert RunDirectory(SHIPPED.with_name(example)).spec().command == tuple(command)
    again, shipped = make(tmp_path, CHAINS_EXAMPLE), RunDirectory(SHIPPED.with_name(CHAINS_EXAMPLE))
    assert asdict(again.spec()) == asdict(shipped.spec())
    found, recorded = heaviest_first(read(again)), heaviest_first(read(shipped))
    assert [text for _, text in found] == [text for _, text in recorded]
    assert [weight for weight, _ in found] == pytest.approx([weight for weight, _ in recorded], abs=1e-9)


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_is_small_and_names_no_place_of_a_machine(example: str) -> None:
    folder = SHIPPED.with_name(example)
    content = {name: (folder / name).read_text(encoding="utf-8") for name in SHIPPED_FILES}
    more = [TRIAL] if example == REAL_EXAMPLE else []
    assert sorted(path.name for path in folder.iterdir()) == sorted([*SHIPPED_FILES, *more])
    assert sum(map(len, content.values())) < 1_000_000
    assert not [name for name, text in content.items() if str(Path.home()) in text or '"/' in text]


def test_the_trial_of_a_language_models_run_comes_with_it(tmp_path: Path) -> None:
    run = unpack(SHIPPED.with_name(REAL_EXAMPLE), tmp_path)
    found = read_trial(run, RunReader(run).refresh().view)
    assert found is not None
    assert all(each.must_change.n and each.clauses for each in found.ideas)


def test_two_who_ask_at_once_find_one_whole_run(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = {run.path for run in pool.map(lambda _: unpack(SHIPPED, tmp_path / "runs"), range(16))}
    assert [run.path for run in RunStore(tmp_path / "runs").runs()] == list(found)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [SHIPPED.name]
    assert read(RunDirectory(*found)).state == "finished"


def test_a_folder_that_cannot_hold_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(RunError, match="choose another runs folder"):
        unpack(SHIPPED, tmp_path / "runs")
