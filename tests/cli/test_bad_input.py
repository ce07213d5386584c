"""Bad input ends in one line and writes nothing; a file is written whole or not at all."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import PENGUINS, Desk, Model, free_port
from vpp.cli.system import write_bytes
from vpp.errors import DiskRefused

Vpp = Callable[..., tuple[int, str, str]]


TABLE = "a,b,kind,same\n" + "".join(f"{i},{i % 7},{'x' if i % 2 else 'y'},1\n" for i in range(60))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run nofile.csv --target kind --demo", "nofile.csv cannot be read"),
        ("run t.csv --target colour --demo", "colour"),
        ("run t.csv --target same --demo", "same"),
        ("run t.csv --target kind --gguf t.csv", "'t.csv' is no GGUF file that can be read: give the path of a model"),
        ("run t.csv --target kind", "no endpoint"),
        ("run t.csv --target kind --base-url http://127.0.0.1:9/v1", "no model"),
        ("run t.csv --target kind --demo --batch-size 200", "fewer than a batch of 200"),
        ("run t.csv --target kind --demo --method gibbs", "invalid choice: 'gibbs'"),
        ("run t.csv --target kind --demo --particles 0", "particles is 0"),
        ("run t.csv --target kind --demo --noise 1", "epsilon is '1'"),
        ("run t.csv --target kind --demo --likelihood 0", "--likelihood: '0' is not labels, logprobs or a"),
        ("run t.csv --target kind --demo --calibration-size 9@all", "size: '9@all' is not N or N@COVERAGE"),
        ("weigh t.csv --start t.csv --prior 0.5,x", "--prior: '0.5,x' is not a list of numbers with commas, such as"),
        ("run t.csv --target kind --demo --read encoding=utf-99", "encoding 'utf-99' is unknown"),
        ("run t.csv --target kind --demo --read delimiter=ab", "delimiter 'ab' is unknown"),
        ("run t.csv --target kind --demo --train-size 0", "train"),
        ("run t.csv --target kind --demo --plan --epochs 100000", "more than 100,000 steps"),
        ("run t.csv --target kind --demo --read colour=red", "'colour=red' is not NAME=VALUE with one of encoding"),
        ("run t.csv --target kind --demo --read skip-lines=-1", "--read: 'skip-lines=-1' is not NAME=VALUE"),
        ("run t.csv --target kind --demo --read header=maybe", "--read: 'header=maybe' is not NAME=VALUE with one"),
        ("run t.csv --target kind --demo --limit learner=many", "--limit: 'learner=many' is not NAME=N with one"),
        ("run t.csv --target kind --demo --limit calls=1_000", "--limit: 'calls=1_000' is not NAME=N with one of"),
        ("run t.csv --target kind --demo --split by:a", "split 'by:a' is unknown: give random, group:COLUMN or time:"),
        ("run t.csv --target kind --demo --inputs a,zebra", "zebra"),
        ("run t.csv --target kind --demo --inputs ,", "name at least one"),
        ("run t.csv --target kind --demo --kind kind=money", "--kind: 'kind=money' is not COLUMN=KIND with one of"),
        ("run t.csv --target kind --demo --kind kind=number", "column 'kind' cannot be read as numbers"),
        ("run t.csv --target kind --demo --describe a", "'a' is not COLUMN=TEXT or label:LABEL=TEXT"),
        ("run odd.csv --target kind --demo", "odd.columns.csv is not UTF-8 text: save it as UTF-8"),
        ("run t.csv --target kind --demo --concurrency -1", "concurrency: Input should be greater"),
        ("run t.csv --target kind --demo --limit cost=3", "a cap on cost, and no price to count by"),
        ("run t.csv --target kind --demo --run-dir taken", "taken exists already"),
        ("run t.csv --target kind --demo --price 1", "'1' is not IN,OUT: give two numbers such as"),
        ("run t.csv --target kind --demo --templates nofile", "nor a folder with one of learner.txt"),
        ("run t.csv --target kind --demo --templates wrong", "learner.txt is not UTF-8 text"),
        ("run t.csv --target kind --demo --templates odd", "the prior template lacks {columns}, {answer_form}"),
        ("run t.csv --target kind --demo --limit context=90", "and the model's context is 90"),
        ("run empty.csv --target kind --demo", "empty.csv"),
        ("run t.csv --target kind --demo --test other.csv", "other.csv"),
        ("run t.csv --target kind --demo --paritcles 3", "--paritcles"),
        ("run t.csv --target kind --demo --name \udcff", "run.json cannot hold this run"),
        ("run", "DATA.csv"),
        ("fly", "fly"),
        ("resume nowhere", "no run 'nowhere'"),
        ("stop elsewhere/nowhere", "no run 'elsewhere/nowhere'"),
        ("predict nowhere t.csv -o out.csv", "no run"),
        ("task flying -o out.csv", "flying"),
        ("task linear -o nowhere/out.csv", "nowhere/out.csv cannot be written"),
        ("check-endpoint", "no endpoint"),
    ],
)
def test_bad_input_is_shown_in_one_line(vpp: Vpp, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "other.csv").write_text("z\n1\n")
    (tmp_path / "empty.csv").write_text("")
    for folder, role, content in (("wrong", "learner", bytes(range(256))), ("odd", "prior", b"{hypothesis}")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{role}.txt").write_bytes(content)
    (tmp_path / "odd.csv").write_text(TABLE)
    (tmp_path / "odd.columns.csv").write_bytes(b"\xff")
    (tmp_path / "taken").mkdir()
    code, out, err = vpp(*words.split(" "))
    assert (code, out) == (2, "")
    assert err.startswith("vpp: ")
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "runs").exists() or list((tmp_path / "runs").iterdir()) == []
    assert (tmp_path / "taken").is_dir()


def test_a_run_elsewhere_of_the_same_name_is_not_taken_for_the_one_named(vpp: Vpp, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "run.json").write_text("{}")
    code, _, err = vpp("delete", "elsewhere/mine")
    assert code == 2
    assert "elsewhere/mine" in err
    assert (tmp_path / "runs" / "mine").exists()
    assert vpp("delete", "mine")[0] == 0
    assert not (tmp_path / "runs" / "mine").exists()


@pytest.mark.parametrize(("name", "value"), [("VPP_MAX_RUNNING", "none"), ("VPP_RUNS_DIR", "t.csv/runs")])
def test_a_setting_that_cannot_be_used_is_named(
    vpp: Vpp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.setenv(name, value)
    code, _, err = vpp("run", "t.csv", "--target", "kind", "--demo")
    assert code == 2
    assert value.split("/")[0] in err
    assert err.count("\n") == 1


def test_an_endpoint_that_nobody_serves_is_not_reachable(vpp: Vpp) -> None:
    code, out, _ = vpp("check-endpoint", "--base-url", f"http://127.0.0.1:{free_port()}/v1", "--model", "m")
    assert code == 3
    assert "  fails  reachable: m at http://127.0.0.1:" in out
    assert "nothing listens at" in out


def test_settings_come_from_options_then_the_environment_then_a_dotenv_file(
    vpp: Vpp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vpp.cli.system import environment, keys

    monkeypatch.delenv("VPP_RUNS_DIR")
    (tmp_path / ".env").write_text(
        "\ufeff# mine\n\nexport OPENAI_API_KEY='sk-1'\nVPP_MODEL=from-file\nOPENAI_BASE_URL = \"http://h/v1\"\nodd\n"
    )
    assert (environment().model, environment().base_url, keys().learner) == ("from-file", "http://h/v1", "sk-1")
    assert environment().runs_dir == Path("runs")
    monkeypatch.setenv("VPP_MODEL", "from-environment")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    assert (environment().model, keys().learner) == ("from-environment", "sk-2")
    (tmp_path / ".env").write_bytes(b"VPP_MODEL=\xff\n")
    assert environment().model == "from-environment"
    assert "sk-2" not in repr(keys())


def test_a_table_is_read_from_standard_input(vpp: Vpp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with PENGUINS.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        code, _, err = vpp("run", "-", "--target", "colour", "--demo")
    assert code == 2
    assert "colour" in err


# Endpoints that the owner allows


BARRED = "http://b.com/v1"


@pytest.mark.parametrize("command", ["run t.csv --target kind", "check-endpoint", "bench --tasks linear --methods vml"])
def test_a_barred_address_is_refused_before_anything_is_written(
    vpp: Vpp, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_ALLOWED_ENDPOINTS", "https://api.a.com/v1")
    Path("t.csv").write_text(TABLE)
    code, _, said = vpp(*command.split(), "--base-url", BARRED, "--model", "m")
    assert code == 2
    assert f"{BARRED} is not among the endpoints that may be asked here: take one that its owner has listed" in said
    assert said.count("\n") == 1
    assert os.listdir() == ["t.csv"]


def test_a_list_of_servers_in_a_dotenv_file_is_obeyed(vpp: Vpp, served: Model) -> None:
    Path(".env").write_text("VPP_ALLOWED_ENDPOINTS=https://api.a.com/v1\n")
    code, _, said = vpp("check-endpoint", *served.options)
    assert code == 2
    assert "may be asked here: take one that its owner has listed, or ask the owner" in said


def test_a_public_demo_asks_no_server_and_loads_no_model_file(
    vpp: Vpp, served: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VPP_DEMO_ONLY", "1")
    monkeypatch.setenv("VPP_ALLOW_MODEL_FILES", "1")
    monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
    Path("t.csv").write_text(TABLE)
    for asked in ((), served.options):
        code, _, said = vpp("check-endpoint", "--model", "demo", *asked)
        assert code == 2
        assert "may be asked here: take the built-in demo model" in said
    code, _, said = vpp("run", "t.csv", "--target", "kind", "--gguf", "m.gguf")
    assert (code, "model files are off" in said) == (2, True)
    assert vpp("check-endpoint", "--demo")[0] == 0


# Files that a command writes


@pytest.fixture
def little_room() -> Iterator[None]:
    """No file may grow beyond a megabyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, little_room: None) -> None:
    earlier = tmp_path / "task.csv"
    write_bytes(earlier, b"a,b\n")
    with pytest.raises(DiskRefused, match="cannot be written"):
        write_bytes(earlier, b"x" * (2**20 + 1))
    assert earlier.read_bytes() == b"a,b\n"
    assert list(tmp_path.iterdir()) == [earlier]
