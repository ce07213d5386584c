"""Two programs that read one runs folder while a worker writes to it."""

import json
import shutil
from pathlib import Path

import pytest

from tests.processes import Desk, posterior
from tests.runs.test_old_runs import OLD
from vpp.errors import RunError
from vpp.runs.directory import RunDirectory
from vpp.runs.reader import RunReader

READER = """
import json, sys, time
from pathlib import Path
from vpp.errors import RunError
from vpp.runs.reader import RunReader
from vpp.runs.store import RunStore

folder, readers, seen = Path(sys.argv[1]), {}, []
deadline = time.monotonic() + 180
while time.monotonic() < deadline:
    for run in RunStore(folder).runs():
        reader = readers.setdefault(run.id, RunReader(run))
        snapshot = reader.refresh()
        reader.read_answers()
        if snapshot.view.last_step is not None and snapshot.view.last_step not in seen:
            seen.append(snapshot.view.last_step)
        if snapshot.state == "finished":
            heaviest = max(zip(snapshot.view.weights, snapshot.view.population, strict=True), key=lambda pair: pair[0])
            said = {"seen": seen, "damage": snapshot.damage, "text": snapshot.view.texts[heaviest[1].hypothesis]}
            print(json.dumps(said))
            sys.exit()
    time.sleep(0.02)
"""


def test_two_programs_read_a_run_as_it_goes_and_harm_nothing(desk: Desk, tmp_path: Path) -> None:
    shutil.copytree(OLD / "last" / "interrupted", desk.runs / "run")
    (tmp_path / "reader.py").write_text(READER)
    worker = desk.start("resume", desk.runs / "run", "--json", "--quiet")
    desk.program = "runpy_reader"
    shutil.copy(tmp_path / "reader.py", tmp_path / "runpy_reader.py")
    path = f"{desk.variables['PYTHONPATH']}:{tmp_path}"
    readers = [desk.start(desk.runs, PYTHONPATH=path) for _ in range(2)]
    assert worker.finish().code == 0
    told = [json.loads(reader.finish().out) for reader in readers]
    run = RunDirectory(desk.runs / "run")
    for each in told:
        assert (each["damage"], each["seen"][-1]) == ("", 2)
        assert each["text"] in posterior(run)["texts"]
    left = {path.name for path in run.path.iterdir()}
    assert not {name for name in left if name.endswith(".part")}


def test_a_run_deleted_under_a_reader_says_that_there_is_none(tmp_path: Path) -> None:
    run = RunDirectory(shutil.copytree(OLD / "last" / "smc", tmp_path / "run"))
    reader = RunReader(run)
    assert reader.refresh().state == "finished"
    run.journal.unlink()
    snapshot = reader.refresh()
    assert snapshot.view.size == 0
    assert snapshot.damage.startswith(f"{run.journal} is missing: restore the file from a copy, or begin again with")
    shutil.rmtree(run.path)
    with pytest.raises(RunError, match="holds no run: give a directory"):
        reader.refresh()
