import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reporting.builders import DEMO, YES_NO
from vpp.cli.parser import build_parser
from vpp.cli.running import _templates, endpoint_of, options_of_config
from vpp.findings.command import repeat_command
from vpp.llm.choices import EXAMPLES, GALLERY, ROLES
from vpp.llm.templates import set_texts
from vpp.runs.preparation import dataset_spec
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import Config, preset
from vpp.show.markup import plain

SERVER = EndpointSpec(base_url="http://localhost:8000/v1", model="qwen", structured="auto")


def spec(**changed: Any) -> RunSpec:
    given = RunSpec(name="toy", config=Config(), endpoint=DEMO, dataset=dataset_spec(YES_NO))
    return replace(given, **changed)


def test_a_run_is_repeated_from_its_record_whatever_was_typed_but_the_path_of_its_file() -> None:
    """Defaults have changed, and a typed `--run-dir` would point at the run that is there."""
    config = Config(seed=3, buffer_size=30)
    for data in ("some where/toy.csv", "toy.csv"):
        typed = spec(command=("run", "--run-dir", "runs/x", data, "--target", "y", "--demo"), config=config)
        line = repeat_command(typed).line
        assert shlex.split(line)[4] == data
        assert line.endswith(" --seed=3 --demo")
        assert "--run-dir" not in line
    assert repeat_command(typed).notes == ("It leaves out what only `vpp.fit` sets: buffer_size=30.",)


ROLE_FIELDS = {role: f"{role}_template" for role in ROLES}


def asked_with(name: str) -> dict[str, str | None]:
    """The templates of a spec, all from one set."""
    return {ROLE_FIELDS[role]: text for role, text in set_texts(name).items()}


def read_back(run: RunSpec) -> dict[str, str | None]:
    """The templates that the command which repeats a run asks with."""
    options = build_parser().parse_args(shlex.split(repeat_command(run).line.partition("-m vpp ")[2]))
    return {ROLE_FIELDS[role]: text for role, text in _templates(options, endpoint_of(options), has_text=False).items()}


@pytest.mark.parametrize("name", GALLERY)
def test_a_run_is_repeated_with_its_templates(name: str) -> None:
    run = spec(endpoint=SERVER, **asked_with(name))
    assert read_back(run) == asked_with(name)
    assert repeat_command(run).line.count("template") == (name != EXAMPLES)


def test_a_folder_holds_some_templates_and_the_default_set_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "{hypothesis} {input} {answer_form}"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "learner.txt").write_text(own)
    used = {**asked_with(EXAMPLES), "learner_template": own}
    assert read_back(spec(endpoint=SERVER, **used)) == used
    assert any("learner.txt" in note for note in repeat_command(spec(endpoint=SERVER, **used)).notes)


def test_a_run_from_elsewhere_is_put_together_from_its_record() -> None:
    command = repeat_command(spec(config=Config(particles=5, prior="it's a circle")))
    assert command.line == (
        "python -m vpp run toy.csv --target=y --task=classification --inputs=a --train-size=4 --test-size=3 "
        "--particles=5 '--prior=it'\"'\"'s a circle' --demo"
    )
    assert "put together" in command.notes[0]
    assert " --structured=off" in repeat_command(spec(endpoint=replace(SERVER, structured="off"))).line


CONFIGS = [
    Config(),
    preset("paper"),
    Config(method="vml", seed=3, epsilon=0.01),
    Config(tempering="adaptive", likelihood="logprobs", coverage=0.8),
    replace(preset("paper"), method="mh", learner_samples=5),
]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("endpoint", [DEMO, SERVER])
def test_the_command_line_reads_the_record_back(config: Config, endpoint: EndpointSpec) -> None:
    dataset = {**dataset_spec(YES_NO), "n_calibration": 2}
    read = build_parser().parse_args(
        shlex.split(repeat_command(spec(config=config, endpoint=endpoint, dataset=dataset)).line)[3:]
    )
    noise = {} if read.noise is None else {"epsilon": read.noise}
    assert replace(preset(read.preset), **options_of_config(read), **noise) == config
    assert (read.demo, read.target, read.train_size, read.test_size) == (endpoint.demo, "y", 4, 3)
    assert endpoint.demo or (read.base_url, read.model) == (endpoint.base_url, endpoint.model)


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), st.text(max_size=30))
def test_no_text_breaks_out_of_its_word(target: str, prior: str) -> None:
    record = {**dataset_spec(YES_NO), "target": target}
    line = repeat_command(spec(dataset=record, config=Config(prior=prior))).line
    words = shlex.split(line)
    assert f"--target={plain(target)}" in words
    assert f"--prior={plain(prior)}" in words or prior == ""


def test_no_control_character_is_left_that_a_terminal_would_obey() -> None:
    line = repeat_command(spec(config=Config(prior="a\x1b[201~; rm -r x"))).line
    assert "'--prior=a\N{REPLACEMENT CHARACTER}[201~; rm -r x'" in line


def test_a_model_file_is_named_by_its_path_and_needs_no_key() -> None:
    endpoint = EndpointSpec(gguf="/models/a b.gguf", model="a b", concurrency=8, context_length=4096, structured="auto")
    put_together = repeat_command(spec(endpoint=endpoint))
    read = build_parser().parse_args(shlex.split(put_together.line)[3:])
    assert (read.gguf, read.model, read.limit) == ("/models/a b.gguf", None, [("context_length", 4096)])
    assert not any("OPENAI_API_KEY" in note for note in put_together.notes)


def test_no_password_of_an_address_is_shown() -> None:
    endpoint = replace(SERVER, base_url="https://me:secret@host/v1")
    assert "--base-url=https://host/v1" in repeat_command(spec(endpoint=endpoint)).line
