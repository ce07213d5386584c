"""Run folders: ids, names, secrets, and what is refused before anything is written."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.conftest import penguins
from vpp.errors import InputError, RunError, RunLocked
from vpp.runs.directory import RunDirectory, run_id
from vpp.runs.spec import EndpointSpec
from vpp.runs.store import RunStore, delete, rename
from vpp.settings import Config

NOW = datetime(2026, 1, 10, 14, 32)
SERVER = EndpointSpec(base_url="http://127.0.0.1:9/v1", model="m")


@given(st.text(), st.integers(0, 10**6))
def test_an_id_is_one_plain_path_part_whatever_the_name(name: str, minutes: int) -> None:
    now = NOW + timedelta(minutes=minutes)
    found = run_id(name, "smc", now=now)
    assert found.isascii()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert Path(found).name == found
    assert len(found) < 64
    minute = timedelta(minutes=1)
    assert run_id("zz", "mh", now=now - minute) < found < run_id("aa", "mh", now=now + minute)


@pytest.mark.parametrize(
    ("number", "config", "most"),
    [
        (0, Config(particles=3), 1024),
        (0, Config(), 1600),
        (0, Config(method="mh", particles=8, learner_samples=2), 2560),
        (0, Config(particles=200), 4096),
        (512, Config(particles=30, buffer_size=40), 512),
        (8, Config(), 8),
    ],
)
def test_calls_in_flight_are_those_of_a_round_unless_a_number_was_given(number: int, config: Config, most: int) -> None:
    spec = replace(penguins().spec, config=config, endpoint=replace(SERVER, concurrency=number))
    assert replace(spec, dataset={**spec.dataset, "n_train": 100, "n_test": 60}).ceiling == most


def test_runs_are_listed_newest_first_though_they_began_in_one_minute(tmp_path: Path) -> None:
    later = NOW + timedelta(minutes=1)
    runs = [
        RunDirectory(tmp_path / run_id(name, "smc", now=now))
        for name, now in (("m", NOW), ("z", NOW), ("a", NOW), ("b", later))
    ]
    for run in runs:
        run.create(penguins().spec, b"x")
    (tmp_path / "no run").mkdir()
    assert [run.id for run in RunStore(tmp_path).runs()] == [run.id for run in reversed(runs)]
    assert RunStore(tmp_path / "nowhere").runs() == []


@pytest.mark.parametrize("name", ["../secrets", "..", ".", "/etc", "a/b", "..\\..", "a\x00b", "~", "", "nobody"])
def test_an_id_is_never_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="no run"):
        RunStore(tmp_path).get(name)


def test_a_new_name_stays_and_the_id_too(tmp_path: Path) -> None:
    directory = penguins().create(tmp_path)
    rename(directory, "  ../../ what?\n ")
    assert directory.spec().name == "../../ what?"
    assert RunStore(tmp_path).runs()[0].id == directory.id
    with pytest.raises(RunError, match="at least one character"):
        rename(directory, "  ")


def test_only_runs_that_nobody_holds_are_deleted(tmp_path: Path) -> None:
    directory = penguins().create(tmp_path)
    with directory.lock(), pytest.raises(RunLocked):
        delete(directory)
    delete(directory)
    assert not directory.path.exists()
    with pytest.raises(RunError, match="nothing was deleted"):
        delete(RunDirectory(tmp_path))
    assert tmp_path.exists()


def test_a_run_and_its_folder_are_private_and_it_comes_back_from_disk(tmp_path: Path) -> None:
    prepared = penguins(SERVER, name="Pingüine", particles=3)
    made = prepared.create(tmp_path / "runs")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "runs", made.path)] == [0o700, 0o700]
    assert made.spec() == prepared.spec


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        (EndpointSpec(), "no endpoint"),
        (EndpointSpec(base_url="http://127.0.0.1:9/v1"), "no model"),
        (replace(SERVER, base_url="127.0.0.1:9"), "write it as http://127.0.0.1:9/v1"),
        (replace(SERVER, base_url="http://me:secret@host/v1"), "user name or password"),
        (replace(SERVER, optimizer_base_url="http://me:secret@host/v1"), "user name or password"),
        (replace(SERVER, concurrency=-1), "endpoint.concurrency: Input should be greater than or equal to 0"),
        (replace(SERVER, timeout_s=0), "endpoint.timeout_s: Input should be"),
        (replace(SERVER, timeout_s=float("nan")), "endpoint.timeout_s: Input should be"),
    ],
)
def test_an_endpoint_that_cannot_work_is_refused_before_anything_is_written(endpoint: EndpointSpec, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        penguins(endpoint)
    assert "secret" not in str(raised.value)


def test_a_batch_needs_as_many_training_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fewer than a batch of 101"):
        penguins(batch_size=101)
