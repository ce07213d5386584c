"""The command that repeats a run, quoted for a POSIX shell."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any, get_args

from vpp.data.dataset import ALL_ROWS, DELIMITER_NAMES
from vpp.data.descriptions import recorded
from vpp.llm.choices import AUTO, chosen_templates
from vpp.llm.templates import name_of
from vpp.runs.spec import EndpointSpec, RunSpec
from vpp.settings import FOR_EXPERTS, WEIGHING, Config, Preset, preset
from vpp.show.markup import plain

PROGRAM = ("python", "-m", "vpp")
_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
OPTIONS = tuple(field.name for field in fields(Config))
ANSWERED = "answered.csv"
SENTENCES = "sentences.txt"
TEMPLATES = "templates"
ENDPOINT_OPTIONS = (
    "gguf", "base_url", "model", "structured", "reasoning_effort",
)  # fmt: skip
LIMITS = {"learner": "learner_max_tokens", "optimizer": "optimizer_max_tokens", "context": "context_length"}
"""Names of `--limit`, and their fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatCommand:
    """A command line, and what else it needs."""

    line: str
    notes: tuple[str, ...]


def repeat_command(spec: RunSpec) -> RepeatCommand:
    """Return the command built from the run's spec. It holds no key and no password.

    Control characters are replaced: with them, pasted text could leave its quotes.
    """
    line = shlex.join(plain(without_credentials(word)) for word in (*PROGRAM, *_words(spec)))
    return RepeatCommand(line=line, notes=tuple(_notes(spec)))


def without_credentials(address: str) -> str:
    return _CREDENTIALS.sub("", address)


def _words(spec: RunSpec) -> Iterator[str]:
    if spec.reworded is not None and spec.reworded in range(len(spec.start)):
        yield from ("reword", _not_an_option(spec.started_from), f"--particle={spec.reworded}")
        yield from (f"--text={spec.start[spec.reworded]}", "--keep")
        return
    if spec.is_continued:
        yield from ("continue", _not_an_option(spec.started_from), ANSWERED)
        return
    dataset = spec.dataset
    is_weighing = spec.config.is_weighing
    yield from ("weigh" if is_weighing else "run", _not_an_option(_path(spec, dataset["provenance"]["file"])))
    yield from (f"--target={dataset['target']}", f"--task={dataset['task']}")
    if _can_be_listed(dataset["inputs"]):
        yield f"--inputs={','.join(dataset['inputs'])}"
    for column in dataset["columns"]:
        if column.get("is_chosen"):
            yield f"--kind={column['name']}={column['kind']}"
    for key, text in recorded(dataset.get("descriptions", {})).by_key.items():
        yield f"--describe={key}={text}"
    for name, value in dataset["provenance"].get("read_as", {}).items():
        words = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        words = DELIMITER_NAMES.get(words, words) if name == "delimiter" else words
        yield f"--read={name.replace('_', '-')}={words}"
    if spec.start:
        yield f"--start={_start_file(spec)}"
    if spec.start_prior:
        yield f"--prior={','.join(map(str, spec.start_prior))}"
    if not is_weighing:
        yield from _split_options(spec)
    usual = _preset(spec)
    yield from _method_options(spec, usual)
    yield from _endpoint_options(spec.endpoint)
    yield from _template_options(spec, usual)
    if spec.cell_limit:
        yield f"--limit=cell={spec.cell_limit}"


def _path(spec: RunSpec, name: str) -> str:
    typed = (word.rpartition("=")[2] for word in spec.command)
    return next((path for path in typed if PurePath(path).name == name), name)


def _start_file(spec: RunSpec) -> str:
    typed = (after for before, after in zip(spec.command, spec.command[1:], strict=False) if before == "--start")
    joined = (word.removeprefix("--start=") for word in spec.command if word.startswith("--start="))
    return [*typed, *joined, SENTENCES][0]


def _split_options(spec: RunSpec) -> Iterator[str]:
    """Yield the split. By group it needs the sizes that were asked for; else the sizes that resulted are enough."""
    dataset: dict[str, Any] = spec.dataset
    provenance = dataset["provenance"]
    rule = provenance.get("split", "random")
    if rule.startswith("group:"):
        train_size = "all" if provenance["train_size"] == ALL_ROWS else provenance["train_size"]
        yield from (f"--train-size={train_size}", f"--test-size={provenance['test_size']}")
        n_calibration = provenance.get("calibration_size", 0)
    else:
        yield from (f"--train-size={dataset['n_train']}", f"--test-size={dataset['n_test']}")
        n_calibration = dataset.get("n_calibration", 0)
    if n_calibration:
        coverage = "" if spec.config.coverage == Config().coverage else f"@{spec.config.coverage}"
        yield f"--calibration-size={n_calibration}{coverage}"
    if rule not in ("random", "file"):
        yield f"--split={rule}"
    if provenance.get("test_file"):
        yield f"--test={_path(spec, provenance['test_file'])}"


def _not_an_option(file: str) -> str:
    return f"./{file}" if file.startswith("-") else file


def _can_be_listed(names: Sequence[str]) -> bool:
    """True if the command line can name these columns: its list is split at commas and trimmed."""
    return all("," not in name and name == name.strip() for name in names)


def _preset(spec: RunSpec) -> Preset:
    """Return the preset from which the fewest options differ."""
    if spec.config.is_weighing:
        return "recommended"
    return min(get_args(Preset), key=lambda name: len(_changed(spec.config, preset(name), OPTIONS)))


def _method_options(spec: RunSpec, usual: Preset) -> Iterator[str]:
    config = spec.config
    if usual != "recommended":
        yield f"--preset={usual}"
    names = [name for name in (WEIGHING if config.is_weighing else OPTIONS) if name not in (*FOR_EXPERTS, "coverage")]
    changed = _changed(config, preset(usual), names)
    noise = "tau" if spec.dataset["task"] == "regression" else "epsilon"
    for name in changed:
        if name == noise:
            yield f"--noise={getattr(config, name)}"
        elif name == "learner_samples":
            yield f"--likelihood={config.learner_samples}"
        elif name not in ("tau", "epsilon"):
            yield f"--{name.replace('_', '-')}={getattr(config, name)}"


def _changed(config: Config, usual: Config, names: Iterable[str]) -> list[str]:
    return [name for name in names if getattr(config, name) != getattr(usual, name)]


def _differing(options: Any, usual: Any, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if (value := getattr(options, name)) != getattr(usual, name):
            option = f"--{name.replace('_', '-')}"
            yield f"{option}={value}"


def _endpoint_options(endpoint: EndpointSpec) -> Iterator[str]:
    if endpoint.demo:
        yield "--demo"
        return
    usual = EndpointSpec(structured="auto", model=endpoint.model if endpoint.gguf else "")
    yield from _differing(endpoint, usual, ENDPOINT_OPTIONS)
    if second := "@".join((endpoint.optimizer_model, endpoint.optimizer_base_url)).rstrip("@"):
        yield f"--optimizer-model={second}"
    for name, field in LIMITS.items():
        if (value := getattr(endpoint, field)) != getattr(usual, field):
            yield f"--limit={name}={value}"


def _notes(spec: RunSpec) -> Iterator[str]:
    if spec.is_continued:
        yield f"This run continues run {spec.started_from}, which must be there too."
        if spec.reworded is None:
            yield f"{ANSWERED} must hold the rows answered since: data.csv has them, and its notes name them."
    elif not spec.command:
        yield "The command was put together from the run's record; give the data file's path as it is on your machine."
    if not spec.is_continued and not _can_be_listed(spec.dataset["inputs"]):
        yield "The input columns cannot be listed on a command line: leave out the other columns with the app."
    if spec.start and not spec.is_continued:
        yield f"{_start_file(spec)} must hold the first sentences, one a line: run.json has them under start."
    if not _template_set(spec):
        files = ", ".join(f"{role}.txt" for role in spec.templates)
        yield f"The folder {TEMPLATES} must hold {files}: run.json has their texts; null is the paper's."
    if experts := _changed(spec.config, preset(_preset(spec)), FOR_EXPERTS):
        values = ", ".join(f"{name}={getattr(spec.config, name)!r}" for name in experts)
        yield f"It leaves out what only `vpp.fit` sets: {values}."
    if not spec.endpoint.is_started_here:
        yield "The endpoint's key is not stored: set OPENAI_API_KEY."


def _template_set(spec: RunSpec) -> str | None:
    """Return the shipped set that all prompts are from; None if some are the user's own, or from another set."""
    names = {name_of(text, role) for role, text in spec.templates.items()}
    return names.pop() if len(names) == 1 else None


def _template_options(spec: RunSpec, usual: Preset) -> Iterator[str]:
    """Yield the set that the prompts are from, or a folder of their own, if the command would choose another."""
    columns, inputs = spec.dataset["columns"], spec.dataset["inputs"]
    has_text = any(column["kind"] == "text" and column["name"] in inputs for column in columns)
    name = _template_set(spec) or TEMPLATES
    if name != chosen_templates(AUTO, is_demo=spec.endpoint.is_demo, preset=usual, has_text=has_text):
        yield f"--templates={name}"
