"""Run folders: ids, names, secrets, and what is refused before anything is written."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.parts import opening
from pages.parts.opening import SHIPPED
from tests.example import DEMO, SHIPPED_FILES, TRIAL, make
from tests.processes import Desk, Model, wait_until
from tests.runs.conftest import penguins
from vpp.environment import Environment
from vpp.errors import InputError, RunError, RunLocked
from vpp.findings.asking import read_trial
from vpp.findings.points import points, reject_option
from vpp.llm.gate import canonical
from vpp.runs.directory import RunDirectory, RunReader, Snapshot, run_id
from vpp.runs.preparation import Preparation
from vpp.runs.process import launch
from vpp.runs.spec import EndpointSpec, Keys, keys_for
from vpp.runs.store import CHAINS_EXAMPLE, EXAMPLES, REAL_EXAMPLE, RunStore, User, check_runs, delete, rename, unpack
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
        (replace(SERVER, base_url="127.0.0.1:9"), "write it as http://127.0.0.1:9/v1"),
        (replace(SERVER, base_url="http://me:secret@host/v1"), "user name or password"),
        (replace(SERVER, optimizer_base_url="http://me:secret@host/v1"), "user name or password"),
        (replace(SERVER, timeout_s=0), "endpoint.timeout_s: Input should be"),
        (replace(SERVER, timeout_s=float("nan")), "endpoint.timeout_s: Input should be"),
    ],
)
def test_an_endpoint_that_cannot_work_is_refused_before_anything_is_written(endpoint: EndpointSpec, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        penguins(endpoint)
    assert "secret" not in str(raised.value)


# Users of a shared app, and their keys


ANN = {"iss": "https://id.lab.org", "sub": "1", "email": "Ann@Lab.org", "email_verified": True}
OWN = Keys(learner="sk-owner", optimizer="sk-owner-2")


def test_a_user_is_who_their_provider_says_and_no_claim_shapes_a_path() -> None:
    ann = User.of(ANN)
    assert ann.folder == User.of({**ANN, "email": "other@x.org"}).folder
    others = [{**ANN, "sub": "2"}, {**ANN, "iss": "https://id.lab.or", "sub": "g1"}, {**ANN, "sub": "../../etc"}]
    assert len({ann.folder, *(User.of(claims).folder for claims in others)}) == 4
    assert all("/" not in User.of(claims).folder for claims in others)
    assert User.of({**ANN, "iss": "https://other.org"}).folder != ann.folder, "another provider's 1 is somebody else"
    for claims in ({}, {"iss": "x"}, {"sub": "x"}, {"iss": "", "sub": "x"}, {"iss": "x", "sub": 7}):
        with pytest.raises(RunError, match="names nobody"):
            User.of(claims)


@pytest.mark.parametrize(
    ("claims", "allowed", "enters"),
    [
        ({}, (), True),
        ({}, ("ann@lab.org",), True),
        ({}, ("*@LAB.org",), True),
        ({}, ("1",), False),
        ({}, ("bob@lab.org", "2"), False),
        ({"email": "ann@lab.org.evil.org"}, ("*@lab.org",), False),
        ({"email_verified": False}, ("*@lab.org",), False),
        ({"email_verified": None}, ("ann@lab.org",), False),
        ({"email_verified": "true"}, ("ann@lab.org",), False),
        ({"email": ""}, ("*@",), False),
        ({"sub": "boss@lab.org", "email": ""}, ("boss@lab.org",), False),
        ({"sub": "*@lab.org", "email": ""}, ("*@lab.org",), False),
        ({"email": "https://id.lab.org#2"}, ("https://id.lab.org#2",), False),
        ({}, ("https://id.lab.org#1",), True),
        ({"iss": "https://evil.org"}, ("https://id.lab.org#1",), False),
        ({"sub": "https://id.lab.org#1", "iss": "https://evil.org"}, ("https://id.lab.org#1",), False),
    ],
)
def test_only_a_verified_address_or_a_subject_lets_in(
    claims: dict[str, object], allowed: tuple[str, ...], enters: bool
) -> None:
    assert User.of({**ANN, **claims}).may_enter(allowed) is enters


@pytest.mark.parametrize(
    ("name", "near"), [("VPP_LOGN", "VPP_LOGIN"), ("VPP_ALLOWED_ENDPOINT", "VPP_ALLOWED_ENDPOINTS")]
)
def test_a_misspelt_variable_is_refused_and_the_nearest_named(name: str, near: str) -> None:
    with pytest.raises(InputError, match=f"{name} is no variable of this app: {near} is the nearest"):
        Environment.of({name: "1"})


def at(base_url: str, optimizer_base_url: str = "") -> EndpointSpec:
    return EndpointSpec(base_url=base_url, model="m", optimizer_base_url=optimizer_base_url)


HOME, BIG = {"OPENAI_BASE_URL": "https://llm.lab.org/v1"}, {"VPP_OPTIMIZER_BASE_URL": "https://big.lab.org/v1"}
TYPED = {canonical("https://mine.org/v1"): "sk-mine", canonical("https://api.openai.com/v1"): ""}
OTHERS = (
    *("https://evil.org/v1", "http://llm.lab.org/v1", "https://llm.lab.org:8443/v1", "https://llm.lab.org"),
    *("https://llm.lab.org/v1/x", "https://llm.lab.org/v1/..%2fadmin", "https://llm.lab.org:x/v1"),
    *("http://mine.org/v1", "https://mine.org/v2", "https://mine.org:8443/v1"),
)


@pytest.mark.parametrize(
    ("addresses", "variables", "expected"),
    [
        (("https://llm.lab.org/v1",), HOME, ("sk-owner", "sk-owner-2")),
        (("https://LLM.lab.org:443/v1/",), HOME, ("sk-owner", "sk-owner-2")),
        (("https://api.openai.com/v1",), {}, ("sk-owner", "sk-owner-2")),
        (("http://localhost:8000/v1",), {}, (None, None)),
        (("https://llm.lab.org/v1", "https://evil.org/v1"), HOME, ("sk-owner", None)),
        (("https://llm.lab.org/v1", "https://big.lab.org/v1"), HOME | BIG, ("sk-owner", "sk-owner-2")),
        (("https://big.lab.org/v1", "https://llm.lab.org/v1"), HOME | BIG, (None, "sk-owner")),
        (("https://mine.org/v1/",), {}, ("sk-mine", "sk-mine")),
        (("https://api.openai.com/v1", "https://mine.org/v1"), {}, ("sk-owner", "sk-mine")),
        *(((other,), HOME, (None, None)) for other in OTHERS),
    ],
)
def test_a_key_goes_to_the_address_it_is_for_and_to_no_other(
    addresses: tuple[str, ...], variables: dict[str, str], expected: tuple[str | None, ...]
) -> None:
    found = keys_for(at(*addresses), typed=TYPED, own=OWN, environment=Environment.of(variables))
    assert (found.learner, found.optimizer) == expected


def test_headers_and_the_one_key_go_to_the_owners_address_alone() -> None:
    own, environment = Keys(learner="sk-owner", headers=(("X-Team", "1"),)), Environment.of(HOME | BIG)
    found = keys_for(at("https://llm.lab.org/v1", "https://big.lab.org/v1"), typed={}, own=own, environment=environment)
    assert (found.optimizer, found.headers) == (None, own.headers)
    assert keys_for(at("https://evil.org/v1"), typed={}, own=own, environment=environment).headers == ()


def test_a_worker_is_given_the_keys_of_its_run_and_none_that_lie_about(desk: Desk, served: Model) -> None:
    served.key = "sk-owner"
    assert desk.run("run", *served.options, "--method", "vml", OPENAI_API_KEY="sk-wrong").finish().code == 3
    (desk.folder / ".env").write_text("OPENAI_API_KEY=sk-owner\n")
    directory = desk.directory("run")
    launch(directory, keys=Keys(), environment={**desk.variables, "OPENAI_API_KEY": "sk-owner"})
    wait_until(lambda: "key refused" in directory.journal.read_text(), "the worker asks without a key")


# How many runs


def test_no_more_runs_begin_than_one_user_may_have(tmp_path: Path) -> None:
    runs = [RunDirectory(tmp_path / name) for name in ("a", "b", "c")]
    for run in runs:
        run.path.mkdir()
    with runs[0].lock():
        check_runs(runs, most=0)
        check_runs(runs, most=2)
        check_runs(runs, most=1, but=runs[0])
        with pytest.raises(RunError, match="1 run goes on, and one user may have 1 at once here: stop one"):
            check_runs(runs, most=1, but=runs[1])
    check_runs(runs, most=1)


# Shipped runs, and copies of them


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
