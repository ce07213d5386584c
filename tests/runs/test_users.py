"""Users of a shared app: whose folder is whose, which key goes where, and how many runs each may have."""

from pathlib import Path

import pytest

from tests.processes import Desk, Model, wait_until
from vpp.environment import Environment
from vpp.errors import InputError, RunError
from vpp.llm.gate import exact
from vpp.runs.directory import Heartbeat, RunDirectory
from vpp.runs.process import launch
from vpp.runs.spec import EndpointSpec, Keys, keys_for
from vpp.runs.store import User, check_runs

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
TYPED = {exact("https://mine.org/v1"): "sk-mine", exact("https://api.openai.com/v1"): ""}
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
    runs[1].beat(Heartbeat(is_launch=True))
    with pytest.raises(RunError, match="1 run goes on"):
        check_runs(runs, most=1)
