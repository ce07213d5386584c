"""The commands and their options."""

import argparse
import csv
from argparse import ArgumentParser, ArgumentTypeError, Namespace, _ArgumentGroup, _SubParsersAction
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import partial
from typing import Any, NoReturn, TypeAlias, get_args

from vpp import __version__, settings
from vpp.data.dataset import ALL_ROWS, SHAPES, Kind, SplitRule
from vpp.llm.templates import AUTO, GALLERY, TEMPLATES

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"
Options: TypeAlias = ArgumentParser | _ArgumentGroup
Reader: TypeAlias = Callable[[str], Any]
"""Reads the text of a value. Raises ValueError or KeyError."""


def _whole(text: str, *, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise ValueError(text)
    return int(text)


def _decimal(text: str) -> float:
    _whole(text.replace(".", "", 1))  # refuses nan, -1, 1e3 and 1_000
    return float(text)


READ: Mapping[str, Reader] = {
    **dict.fromkeys(("encoding", "delimiter", "sheet", "decimal", "quotes"), str),
    "skip-lines": _whole,
    **dict.fromkeys(("header", "as-is"), {"yes": True, "no": False}.__getitem__),
}
"""Names of `--read`, and how a value is read."""
LIMITS = {
    "calls": "cap.calls",
    "cost": "cap.cost",
    "patience": "config.patience",
    "certify": "config.certify",
    "score-rows": "config.score_rows",
    "learner": "endpoint.learner_max_tokens",
    "optimizer": "endpoint.optimizer_max_tokens",
    "context": "endpoint.context_length",
    "call": "endpoint.timeout_s",
    "wait": "endpoint.max_wait_s",
    "cell": "spec.cell_limit",
}
"""Names of `--limit`, and the fields that they set."""
FRACTIONAL = ("cost", "call", "wait")
"""Limits that need not be whole numbers."""
INSTEAD = {"tau", "epsilon", "learner_samples", "coverage", "patience", "certify", "score_rows", *settings.FOR_EXPERTS}
"""Options of `Config` that have no option of their own: --noise, --limit, --likelihood, --calibration-size set some."""
MORE = {"likelihood": ", or of its share of N answers to each row"}  # words on values that only the command line takes


def part(options: Namespace, of: str) -> dict[str, Any]:
    """Return the fields of a part that were given. of: what their names begin with, such as `config`."""
    given = ((name.partition("."), value) for name, value in vars(options).items() if value is not None)
    return {field: value for (place, _, field), value in given if field and place == of}


class _Fields(argparse.Action):
    """An option that sets fields, which its type returns by their names: `config.coverage`."""

    def __call__(self, _: ArgumentParser, options: Namespace, values: Any, *__: Any) -> None:
        vars(options).update(values)


class _Parser(ArgumentParser):
    """Parser that reports a wrong option in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"vpp: {message} (see `{self.prog} --help`)\n")


def build_parser() -> ArgumentParser:
    about = "Bayesian inference over hypotheses written in plain language."
    parser: ArgumentParser = _Parser(prog="vpp", description=about)
    parser.add_argument("--version", action="version", version=f"vpp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_learning, _control, _reading, _asking, _serving, _bench):
        add(commands)
    return parser


def command(commands: Commands, name: str, function: str, about: str, *, serves: bool = False) -> ArgumentParser:
    """Add a command. function: `module:function` in vpp.cli. serves: until it is interrupted, without a result."""
    description = about[:1].upper() + about[1:] + "."
    parser = commands.add_parser(name, help=about, description=description, allow_abbrev=False)
    parser.set_defaults(command=f"vpp.cli.{function}")
    if not serves:
        parser.add_argument("--json", action="store_true", help="print the result alone, as one line of JSON")
    return parser


def on_run(commands: Commands, name: str, function: str, about: str) -> ArgumentParser:
    parser = command(commands, name, function, about)
    parser.add_argument("run_dir", metavar="RUN_DIR", help="a run's directory or id")
    return parser


# The commands


def _learning(commands: Commands) -> None:
    learn = command(commands, "run", "running:run", "learn a posterior over sentences from a table")
    data = data_options(learn)
    data.add_argument("--test", metavar="FILE", help="a table of test rows with the same columns")
    about = f"how rows are split: {SHAPES} (random)"
    data.add_argument("--split", dest="split.rule", type=SplitRule.read, metavar="RULE", help=about)
    about = "training rows at most, or all that are not held out"
    _number(data, "--train-size", about, 100, dest="split.train_size", type=_train_size, metavar="N|all")
    _number(data, "--test-size", "test rows at most; 0: all rows train", 60, dest="split.test_size")
    about = "rows at most, held out like the test rows, that calibrate “I don’t know”, so that a share COVERAGE of new "
    about += "rows has its label among those called possible (0, 0.9)"
    _fields(data, "--calibration-size", "N[@COVERAGE]", about, _calibration)
    model_options(learn, of_run=True)
    method = method_options(learn, settings.option_docs())
    method.add_argument(
        "--preset", choices=get_args(settings.Preset), default="recommended", help=settings.PRESET_WORDS
    )
    about = "sentences that the first particles hold, one a line; the others are drawn"
    method.add_argument("--start", metavar="FILE", help=about)
    about = "runs of this setting, with seeds from --seed on, as one: its page, report and pooled posterior; give the "
    about += "same command again to go on with those that are missing"
    _number(method, "--seeds", about, 1)
    run_options(learn)
    learn.set_defaults(start_prior=())

    about = "weigh your own sentences on every row of a table, without an optimizer"
    weigh = command(commands, "weigh", "running:run", about)
    data_options(weigh)
    model_options(weigh, of_run=True)
    method = method_options(weigh, settings.WEIGHING)
    method.add_argument("--start", metavar="FILE", required=True, help="the sentences, one a line")
    about = "their prior weights: numbers with commas, in the file's order (equal)"
    method.add_argument("--prior", dest="start_prior", type=_numbers, default=(), metavar="N,N,…", help=about)
    run_options(weigh)
    weigh.set_defaults(preset="recommended", seeds=1, test=None, **{"config.method": "weigh"})

    resume = on_run(commands, "resume", "running:resume", "continue a run; a finished run prints its result again")
    header_option(resume)
    limit_option(resume, "cap")
    quiet_option(resume)

    about = "start a new run with the particles of another and newly labelled rows as training rows"
    new = on_run(commands, "continue", "running:continue_", about)
    about = "table with the run's inputs and target; rows without a target are left out"
    new.add_argument("data", metavar="ROWS.csv", help=about)
    file_options(new)
    new_run_options(new)


def _control(commands: Commands) -> None:
    for name, about in (
        ("stop", "end a running run and keep its last complete step"),
        ("pause", "send no more calls"),
        ("go-on", "send calls again after a pause"),
    ):
        on_run(commands, name, "stored:send", about).set_defaults(sent=name.replace("-", " "))
    command(commands, "list", "stored:list_runs", "list the runs, newest first")
    rename = on_run(commands, "rename", "stored:rename", "give a run another name")
    rename.add_argument("name", metavar="NAME")
    on_run(commands, "delete", "stored:delete", "remove a run for good")


def _reading(commands: Commands) -> None:
    about = "write report.md, report.html, posterior.json and predictions.csv into a run's directory"
    report = on_run(commands, "report", "stored:report", about)
    report.add_argument("--nc", action="store_true", help="also write the particles for ArviZ (posterior.nc)")
    about = "write a run's predictions as a Python file, or log the run to MLflow"
    export = on_run(commands, "export", "stored:export", about)
    to = export.add_mutually_exclusive_group(required=True)
    to.add_argument("--python", metavar="FILE", help="a file of plain Python that predicts without a model")
    to.add_argument("--mlflow", metavar="URI", help="a tracking server's address, such as http://localhost:5000")
    export.add_argument("--experiment", default="vpp", metavar="NAME", help="name of the MLflow experiment (vpp)")
    about = "replay a run on its recorded answers, and report differences from its journal"
    on_run(commands, "verify", "stored:verify", about)
    task = command(commands, "task", "stored:task", "write one of the paper's seven tasks as a CSV")
    task.add_argument("name", metavar="NAME")
    for name, default in (("seed", 0), ("train-size", 100), ("test-size", 60)):
        _number(task, f"--{name}", name.replace("-", " "), default)
    _file(task, "FILE.csv", required=True)


def _asking(commands: Commands) -> None:
    predict = on_run(commands, "predict", "stored:predict", "predict new rows with a posterior")
    predict.add_argument("data", metavar="NEW.csv")
    _file(predict, "OUT.csv", required=True)
    predict.add_argument("--reasons", action="store_true", help="add a column of reasons for each particle")
    file_options(predict)
    about = "write unlabelled rows as a CSV to fill in, most informative first; `continue` reads it"
    sheet = on_run(commands, "sheet", "stored:sheet", about)
    _file(sheet, "SHEET.csv", required=True)
    _number(sheet, "--rows", "rows at most", 24)
    about = "put a run's hypotheses on trial: does the learner follow them, and what is each clause worth"
    trial = on_run(commands, "trial", "stored:trial", about)
    _number(trial, "--ideas", "hypotheses on trial, the heaviest", 3)
    _number(trial, "--changes", "rows for each hypothesis and kind (must change, must stay)", 20)
    _number(trial, "--rows", "training rows that score sentences without a clause, and the learner without a rule", 40)
    trial.add_argument("--plan", action="store_true", help="print the number of calls and ask nothing")
    about = "ask a run's learner without a rule and with examples instead, on the test rows, for comparison"
    baseline = on_run(commands, "baseline", "stored:baseline", about)
    _number(baseline, "--calls", "learner calls of the vote over several draws of examples (as many as the run's)")


def _serving(commands: Commands) -> None:
    app = command(commands, "app", "running:app", "serve the app in a browser", serves=True)
    _number(app, "--port", "port", 8501)
    app.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (127.0.0.1)")
    app.add_argument("streamlit", nargs="*", metavar="OPTION", help="options of Streamlit, after a --")
    check = command(commands, "check-endpoint", "running:check_server", "test a server and report what works")
    model_options(check, of_run=False)


def _bench(commands: Commands) -> None:
    about = "run the paper's experiments and write their tables; run it again to continue a stopped sweep"
    parser = command(commands, "bench", "running:bench", about)
    methods = "vml, vml5, mh, always-accept, smc, and mh-k1, mh-k3 and mh-k5: mh with 1, 3 and 5 particles"
    for name, about in (("tasks", "some of the seven tasks (all)"), ("methods", f"some of {methods} (all)")):
        parser.add_argument(f"--{name}", dest=f"sweep.{name}", type=_names, metavar="A,B", help=about)
    _number(parser, "--seeds", "seeds 0 to N - 1 (3)", dest="sweep.seeds")
    _number(parser, "--jobs", "cells run at a time, sharing --concurrency or 1024 calls (VPP_MAX_RUNNING)")
    about = "run the cells on a Ray cluster at this address; auto = this machine's, local = one started for this sweep"
    parser.add_argument("--ray", metavar="ADDRESS", help=about)
    _number(parser, "--train-size", "training rows (100)", dest="setting.train")
    _number(parser, "--test-size", "test rows (60)", dest="setting.test")
    _number(parser, "--epochs", "passes over the training rows (2)", dest="setting.epochs")
    about = "how hypotheses are read: row by row as in the paper, as programs, or auto (rows)"
    parser.add_argument("--reading", dest="setting.reading", choices=settings.choices("reading"), help=about)
    about = "prompts (paper); auto = worked examples, which a small language model needs"
    parser.add_argument("--templates", dest="setting.templates", choices=TEMPLATES, help=about)
    model_options(parser, of_run=False)
    about = "the sweep's folder: new, empty, or to be continued (bench-demo or bench-MODEL in VPP_RUNS_DIR)"
    _file(parser, "DIR", about)
    quiet_option(parser)


# Groups of options


def data_options(parser: ArgumentParser) -> Options:
    group = parser.add_argument_group("data")
    group.add_argument("data", metavar="DATA.csv", help="CSV, JSON, Excel or Parquet; - reads standard input")
    group.add_argument("--target", help="column to predict (guessed from the names)")
    group.add_argument("--inputs", type=_names, metavar='A,"B, C"', help="input columns (all informative ones)")
    about = f"a column's kind, if detected wrongly: {', '.join(get_args(Kind))}; of the target too"
    _repeated(group, "--kind", "COLUMN=KIND", about, _kind)
    about = "what a column, or label:LABEL of the target, means (or in a file DATA.columns.csv)"
    _repeated(group, "--describe", "COLUMN=TEXT", about, _description)
    file_options(group)
    return group


def file_options(parser: Options) -> None:
    about = (
        "how the file is read, if detected wrongly: encoding=cp1252, delimiter=semicolon (a character, or comma, "
        "semicolon, tab, pipe, space), header=no (the first line names no columns), skip-lines=3 (above the table), "
        "sheet=NAME (of a workbook), decimal=comma, quotes=plain (they are part of the text), as-is=yes (cuts no "
        "totals, units or footnotes, fills no merged cells)"
    )
    fields_of = {name: f"read.{name.replace('-', '_')}" for name in READ}
    form = f"NAME=VALUE with one of {', '.join(READ)}: skip-lines is a number, header and as-is are yes or no"
    _fields(parser, "--read", "NAME=VALUE", f"{about}; repeatable", _valued(form)(partial(_pair, fields_of, READ)))
    about = "words for a missing cell, with commas, in place of NA, ?, null and so on; COLUMN=WORDS for one; repeatable"
    parser.add_argument("--missing", dest="read.missing", action="append", metavar="WORDS", help=about)


def model_options(parser: ArgumentParser, *, of_run: bool) -> None:
    """Add the server and how it is called. of_run: also the options that only a run has."""
    group = parser.add_argument_group("model")
    group.add_argument("--demo", action="store_true", help="use the built-in demo model, which is no language model")
    group.add_argument("--gguf", metavar="FILE", help="a model file on this machine; the run serves it itself")
    _field(group, "base_url", metavar="URL", help="any OpenAI-compatible server (OPENAI_BASE_URL)")
    _field(group, "model", metavar="NAME", help="model for both roles (VPP_MODEL)")
    _fields(group, "--optimizer-model", "NAME[@URL]", "the optimizer's model and server, if others", _optimizer)
    _field(group, "concurrency", type=int, metavar="N", help=settings.SERVER_DOCS["concurrency"])
    _field(group, "structured", choices=settings.STRUCTURED, default="auto", help=settings.SERVER_DOCS["structured"])
    _field(group, "reasoning_effort", choices=settings.EFFORTS, help=settings.SERVER_DOCS["reasoning_effort"])
    header_option(group)
    about = 'further fields of each request, as a JSON object: \'{"provider": {"sort": "price"}}\''
    _field(group, "body", metavar="JSON", help=about)
    limit_option(group, *(("cap", "config", "endpoint", "spec") if of_run else ("endpoint",)))
    if not of_run:  # a check asks anew, and the methods of a sweep ask the same questions, which would be timed wrongly
        parser.set_defaults(**{"endpoint.cache": False})
        return
    cache: dict[str, Any] = {"dest": "endpoint.cache", "action": "store_false", "default": None}
    group.add_argument("--no-cache", **cache, help="neither read nor write the response cache")
    about = (
        f"prompts: {', '.join(GALLERY)}, or a folder with learner.txt, optimizer.txt or prior.txt; "
        f"{AUTO} = worked examples for a language model (auto)"
    )
    group.add_argument("--templates", metavar="NAME|FOLDER", default=AUTO, help=about)


def header_option(parser: Options) -> None:
    about = "a secret header of each request, which is stored nowhere (VPP_HEADERS, a line each)"
    _repeated(parser, "--header", "NAME=VALUE", about)


def limit_option(parser: Options, *parts: str) -> None:
    docs = {
        **settings.SERVER_DOCS,
        **{name: f"{doc} ({getattr(settings.Config(), name)})" for name, doc in settings.option_docs().items()},
    }
    names = {name: field for name, field in LIMITS.items() if field.partition(".")[0] in parts}
    meanings = (f"{name}=N {docs[field.partition('.')[2]]}" for name, field in names.items())
    about = f"upper limits: {'; '.join(meanings)}; repeatable"
    decimals = [name for name in names if name in FRACTIONAL]
    read = partial(_pair, names, dict.fromkeys(names, _whole) | dict.fromkeys(decimals, _decimal))
    form = f"NAME=N with one of {', '.join(names)}: N is a whole number, of {', '.join(decimals)} also a decimal"
    _fields(parser, "--limit", "NAME=N", about, _valued(form)(read))


def method_options(parser: ArgumentParser, names: Collection[str]) -> Options:
    """Add options of `Config` under their own names. Unset, they are None: presets tell that from the default."""
    group, docs = parser.add_argument_group("method"), settings.option_docs()
    for option in (each for each in fields(settings.Config) if each.name in names and each.name not in INSTEAD):
        default = f"{option.default:.3g}" if isinstance(option.default, float) else str(option.default) or "none"
        name, more = option.name.replace("_", "-"), MORE.get(option.name, "")
        about = f"{docs[option.name]}{more} ({default})".replace("%", "%%")
        group.add_argument(f"--{name}", dest=f"config.{option.name}", help=about, **_value_of(option))
    about = "noise of the likelihood: the mass of all wrong labels together, or the variance of numbers, in squared "
    about += "units of the target; auto = integrated out (auto)"
    group.add_argument("--noise", metavar="X|auto", help=about)
    return group


def _value_of(option: Field[Any]) -> dict[str, Any]:
    if option.name == "likelihood":
        return {"action": _Fields, "type": _likelihood, "metavar": "labels|logprobs|N"}
    allowed = settings.choices(option.name)
    return {"choices": allowed} if allowed else {"type": option.type, "metavar": option.name.upper()}


def run_options(parser: ArgumentParser) -> None:
    """Add prices and plan, then name, folder and quiet of a new run."""
    group = parser.add_argument_group("more")
    about = "prices of a million prompt and completion tokens, then those of the optimizer, if another; adds costs to "
    about += "plan, progress and report"
    group.add_argument("--price", type=_prices, default={}, metavar="IN,OUT[,IN,OUT]", help=about)
    group.add_argument("--plan", action="store_true", help="print calls, tokens and cost, and end without a call")
    new_run_options(group)


def new_run_options(parser: Options) -> None:
    parser.add_argument("--name", default="", help="the run's name")
    about = "the run's directory, of several seeds the folder of their runs (a new one in VPP_RUNS_DIR)"
    parser.add_argument("--run-dir", dest="to", metavar="DIR", help=about)
    quiet_option(parser)


def quiet_option(parser: Options) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _number(parser: Options, name: str, about: str, default: int | None = None, **more: Any) -> None:
    words = f"{about} ({default})" if default else about
    usual = None if "dest" in more else default
    parser.add_argument(name, **{"type": int, "default": usual, "metavar": "N", "help": words, **more})


def _field(parser: Options, name: str, **more: Any) -> None:
    parser.add_argument(f"--{name.replace('_', '-')}", dest=f"endpoint.{name}", **more)


def _fields(parser: Options, name: str, metavar: str, about: str, read: Callable[[str], dict[str, Any]]) -> None:
    """Add an option that sets the fields that `read` returns."""
    parser.add_argument(name, action=_Fields, default=argparse.SUPPRESS, type=read, metavar=metavar, help=about)


def _file(parser: Options, metavar: str, about: str | None = None, **more: Any) -> None:
    parser.add_argument("-o", "--output", metavar=metavar, help=about, **more)


def _repeated(parser: Options, name: str, metavar: str, about: str, read: Callable[[str], Any] = str) -> None:
    words = f"{about}; repeatable"
    parser.add_argument(name, type=read, action="append", default=[], metavar=metavar, help=words)


# Values of options


def _valued(form: str) -> Callable[[Reader], Reader]:
    """Decorate a reader: argparse names the option, its text and what is allowed, the form, where it cannot be read."""

    def decorate(read: Reader) -> Reader:
        def value(text: str) -> Any:
            try:
                return read(text)
            except (ValueError, KeyError):
                raise ArgumentTypeError(f"{text!r} is not {form}") from None

        return value

    return decorate


def _pair(fields_of: Mapping[str, str], readers: Mapping[str, Reader], text: str) -> dict[str, Any]:
    """Read NAME=VALUE; return the value by the field that the name sets."""
    name, _, value = text.partition("=")
    if not value:
        raise ValueError(text)
    return {fields_of[name]: readers[name](value)}


def _optimizer(text: str) -> dict[str, str]:
    model, at, address = text.partition("@http")
    return {"endpoint.optimizer_model": model, "endpoint.optimizer_base_url": at[1:] + address}


@_valued(f"COLUMN=KIND with one of {', '.join(get_args(Kind))}")
def _kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if not name or kind not in get_args(Kind):
        raise ValueError(text)
    return name, kind


@_valued("COLUMN=TEXT or label:LABEL=TEXT")
def _description(text: str) -> str:
    text.index("=", 1)
    return text


@_valued("a number of rows, or all")
def _train_size(text: str) -> int:
    return ALL_ROWS if text == "all" else int(text)


@_valued("labels, logprobs or a number of answers")
def _likelihood(text: str) -> dict[str, Any]:
    is_form = text in settings.choices("likelihood")
    form, samples = (text, 1) if is_form else ("labels", _whole(text, least=1))
    return {"config.likelihood": form, "config.learner_samples": samples}


@_valued("N or N@COVERAGE, such as 40@0.95")
def _calibration(text: str) -> dict[str, Any]:
    size, _, share = text.partition("@")
    return {"split.calibration_size": int(size), "config.coverage": float(share) if share else None}


@_valued("a list of numbers with commas, such as 0.7,0.3")
def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


@_valued("IN,OUT: give two numbers such as 0.15,0.60, or four")
def _prices(text: str) -> dict[str, dict[str, float]]:
    """Return the prices of the learner, and of the optimizer if it has its own, as of `Prices`."""
    prompt, completion, *others = map(float, text.split(","))
    prices = {"learner": {"prompt": prompt, "completion": completion}}
    if others:
        prompt, completion = others
        prices["optimizer"] = {"prompt": prompt, "completion": completion}
    return prices


@_valued("a list: name at least one, with commas between them")
def _names(text: str) -> tuple[str, ...]:
    cells = next(csv.reader([" ".join(text.split())], skipinitialspace=True), [])
    if not (names := tuple(name.strip() for name in cells if name.strip())):
        raise ValueError(text)
    return names
