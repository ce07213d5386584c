"""Users of a shared app: whose folder is whose, which key goes where, and how much each may do."""

import asyncio
import errno
import fcntl
from io import FileIO
from pathlib import Path

import pytest

from tests.llm.stub import Stub, chat, endpoint_at, script, serving
from tests.processes import Desk, Model, wait_until
from vpp.environment import Environment
from vpp.errors import EndpointRefused, InputError, RunError
from vpp.llm.budget import Allowance, Budget
from vpp.llm.counters import Counters
from vpp.runs.directory import RunDirectory
from vpp.runs.keys import Keys, is_at, keys_for
from vpp.runs.process import launch
from vpp.runs.spec import EndpointSpec
from vpp.runs.users import User, check_runs

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
        ({}, ("1",), True),
        ({}, ("bob@lab.org", "2"), False),
        ({"email": "ann@lab.org.evil.org"}, ("*@lab.org",), False),
        ({"email_verified": False}, ("*@lab.org",), False),
        ({"email_verified": None}, ("ann@lab.org",), False),
        ({"email_verified": "true"}, ("ann@lab.org",), False),
        ({"email": ""}, ("*@",), False),
        ({"sub": "boss@lab.org", "email": ""}, ("boss@lab.org",), False),
        ({"sub": "*@lab.org", "email": ""}, ("*@lab.org",), False),
        ({}, ("https://id.lab.org#1",), True),
        ({"iss": "https://evil.org"}, ("https://id.lab.org#1",), False),
        ({"sub": "https://id.lab.org#1", "iss": "https://evil.org"}, ("https://id.lab.org#1",), False),
    ],
)
def test_only_a_verified_address_or_a_subject_lets_in(
    claims: dict[str, object], allowed: tuple[str, ...], enters: bool
) -> None:
    assert User.of({**ANN, **claims}).may_enter(allowed) is enters


def test_a_subject_alone_lets_in_only_where_one_provider_gives_it() -> None:
    assert User.of(ANN).may_enter(["1"], providers=1)
    assert not User.of(ANN).may_enter(["1"], providers=2)
    assert User.of(ANN).may_enter(["https://id.lab.org#1"], providers=2)


@pytest.mark.parametrize(
    ("name", "near"), [("VPP_LOGN", "VPP_LOGIN"), ("VPP_ALLOWED_ENDPOINT", "VPP_ALLOWED_ENDPOINTS")]
)
def test_a_misspelt_variable_is_refused_and_the_nearest_named(name: str, near: str) -> None:
    with pytest.raises(InputError, match=f"{name} is no variable of this app: {near} is the nearest"):
        Environment.of({name: "1"})


def keys(endpoint: EndpointSpec, *, typed: dict[str, str] | None = None, **variables: str) -> tuple[str | None, ...]:
    found = keys_for(endpoint, typed=typed or {}, own=OWN, environment=Environment.of(variables))
    return found.learner, found.optimizer


def at(base_url: str, optimizer_base_url: str = "") -> EndpointSpec:
    return EndpointSpec(base_url=base_url, model="m", optimizer_base_url=optimizer_base_url)


def test_the_owners_key_goes_to_the_owners_server_alone() -> None:
    home = {"OPENAI_BASE_URL": "https://llm.lab.org/v1"}
    assert keys(at("https://llm.lab.org/v1"), **home)[0] == "sk-owner"
    assert keys(at("https://LLM.lab.org:443/v1/"), **home)[0] == "sk-owner"
    for typed in ("https://evil.org/v1", "http://llm.lab.org/v1", "https://llm.lab.org:8443/v1", "https://llm.lab.org"):
        assert keys(at(typed), **home) == (None, None)
    assert keys(at("https://api.openai.com/v1"))[0] == "sk-owner"
    assert keys(at("http://localhost:8000/v1")) == (None, None)
    assert keys(at("https://llm.lab.org/v1", "https://evil.org/v1"), **home) == ("sk-owner", None)


def test_the_optimizers_own_key_goes_to_its_own_server() -> None:
    home = {"OPENAI_BASE_URL": "https://llm.lab.org/v1", "VPP_OPTIMIZER_BASE_URL": "https://big.lab.org/v1"}
    assert keys(at("https://llm.lab.org/v1", "https://big.lab.org/v1"), **home) == ("sk-owner", "sk-owner-2")
    assert keys(at("https://big.lab.org/v1", "https://llm.lab.org/v1"), **home) == (None, "sk-owner")


def test_a_typed_key_goes_to_the_server_it_was_typed_for() -> None:
    typed = {"https://mine.org:443": "sk-mine"}
    assert keys(at("https://mine.org/v1"), typed=typed) == ("sk-mine", None)
    assert keys(at("http://mine.org/v1"), typed=typed) == (None, None)
    assert keys(at("https://api.openai.com/v1", "https://mine.org/v1"), typed=typed) == ("sk-owner", "sk-mine")


def test_a_worker_is_given_the_keys_of_its_run_and_none_that_lie_about(desk: Desk, served: Model) -> None:
    served.key = "sk-owner"
    assert desk.run("run", *served.options, "--method", "vml", OPENAI_API_KEY="sk-wrong").finish().code == 3
    (desk.folder / ".env").write_text("OPENAI_API_KEY=sk-owner\n")
    directory = desk.directory("run")
    launch(directory, keys=Keys(), environment={**desk.variables, "OPENAI_API_KEY": "sk-owner"})
    wait_until(lambda: "as none was given" in directory.journal.read_text(), "the worker asks without a key")


# How much


def test_a_days_calls_are_counted_over_all_who_count_in_one_file(tmp_path: Path) -> None:
    one, other = (Allowance(file=tmp_path / ".calls", per_day=3) for _ in range(2))
    assert (one.take(), other.take(), other.is_spent, one.take()) == (True, True, False, True)
    assert one.is_spent
    assert not other.take()
    assert (tmp_path / ".calls").stat().st_mode & 0o777 == 0o600


def test_the_count_is_locked_against_other_processes_while_it_is_changed(tmp_path: Path) -> None:
    allowance = Allowance(file=tmp_path / ".calls", per_day=5)
    with allowance._opened(), allowance.file.open("rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("kept", [b"{", b"[]", b'{"day": "2026-01-10", "se', b"\xff" * 300])
def test_a_count_that_cannot_be_read_is_spent_for_its_day(
    kept: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowance = Allowance(file=tmp_path / ".calls", per_day=5)
    allowance.file.write_bytes(kept)
    monkeypatch.setattr("vpp.llm.budget._today", lambda: "2026-01-10")
    assert (allowance.take(), allowance.is_spent) == (False, True)
    monkeypatch.setattr("vpp.llm.budget._today", lambda: "2026-01-11")
    assert allowance.take()


def test_a_count_whose_writing_is_refused_is_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowance = Allowance(file=tmp_path / ".calls", per_day=5)
    allowance.take()
    kept = allowance.file.read_bytes()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("vpp.llm.budget.FileIO", type("Full", (FileIO,), {"write": full}))
        with pytest.raises(OSError, match="No space"):
            allowance.take()
    assert allowance.file.read_bytes() == kept


def test_a_new_day_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowance = Allowance(file=tmp_path / ".calls", per_day=1)
    monkeypatch.setattr("vpp.llm.budget._today", lambda: "2026-01-10")
    assert (allowance.take(), allowance.is_spent) == (True, True)
    monkeypatch.setattr("vpp.llm.budget._today", lambda: "2026-01-11")
    assert not allowance.is_spent


def test_no_call_leaves_beyond_a_days_calls(tmp_path: Path) -> None:
    allowance = Allowance(file=tmp_path / ".calls", per_day=5)

    async def ask(stub: Stub, calls: int) -> None:
        counters = Counters()
        endpoint = endpoint_at(stub.base_url, "m", counters=counters, budget=Budget(counters, allowance=allowance))
        try:
            for _ in range(calls):
                await endpoint.complete([], temperature=0, seed=0, max_tokens=9)
        finally:
            await endpoint.aclose()

    async def scene() -> None:
        async with serving(script(chat())) as stub:
            await ask(stub, 2)
            with pytest.raises(EndpointRefused, match="today's 5 calls of one user are sent: go on tomorrow"):
                await ask(stub, 9)
            assert len(stub.requests) == 5

    asyncio.run(scene())


def test_a_run_beyond_its_users_calls_pauses_and_says_so(desk: Desk, served: Model) -> None:
    calls = Allowance(file=desk.folder / ".calls", per_day=30)
    variables = {"VPP_MAX_CALLS_PER_USER": "30", "VPP_CALLS_FILE": str(calls.file)}
    outcome = desk.run("run", *served.options, "--method", "vml", **variables).finish()
    assert outcome.code == 3
    assert "all calls that one user may send in a day are sent: 30 calls sent" in outcome.err
    assert calls.is_spent
    assert desk.resume("run").finish().code == 0


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
    runs[2].request_worker()
    with pytest.raises(RunError, match="1 run goes on"):
        check_runs(runs, most=1)


def test_the_owners_key_goes_to_no_path_that_may_leave_the_owners() -> None:
    assert is_at("https://lab.org/v1", "https://lab.org/v1/chat")
    assert not is_at("https://lab.org/v1", "https://lab.org/v1/..%2fadmin")
    assert not is_at("https://lab.org/v1", "https://lab.org/v1/..;/admin")
