"""The commands and their options."""

import argparse
from argparse import ArgumentParser, _ArgumentGroup, _SubParsersAction
from collections.abc import Collection
from dataclasses import Field, fields
from typing import Any, NoReturn, TypeAlias, get_args

from vpp import __version__
from vpp.data.dataset import RANDOM, SHAPES, Kind, SplitRule
from vpp.errors import InputError
from vpp.llm.choices import AUTO, EFFORTS, GALLERY, PREFETCH, STRUCTURED, TEMPLATES, current_name
from vpp.settings import WEIGHING, Config, Preset, choices, option_docs

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"


class _Parser(ArgumentParser):
    """Parser that reports a wrong option in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"vpp: {message} (see `{self.prog} --help`)\n")


def build_parser() -> ArgumentParser:
    """Parser of `python -m vpp` and its commands."""
    about = "Bayesian inference over hypotheses written in plain language."
    parser: ArgumentParser = _Parser(prog="vpp", description=about)
    parser.add_argument("--version", action="version", version=f"vpp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _run(commands)
    _weigh(commands)
    _resume(commands)
    _continue(commands)
    _reword(commands)
    _control(commands)
    _reading(commands)
    _serving(commands)
    _bench(commands)
    return parser


def _command(commands: Commands, name: str, function: str, about: str, **more: Any) -> ArgumentParser:
    description = about[:1].upper() + about[1:] + "."
    parser = commands.add_parser(name, help=about, description=description, allow_abbrev=False, **more)
    parser.set_defaults(command=f"vpp.cli.{function}")
    return parser


def _run(commands: Commands) -> None:
    parser = _command(commands, "run", "running:run", "learn a posterior over sentences from a table")
    _table_options(parser)
    about = "sentences that the first particles hold, one a line or a JSON list; the others are drawn"
    parser.add_argument("--start", metavar="FILE", help=about)
    parser.set_defaults(start_prior=None)
    parser.add_argument("--test", metavar="FILE", help="a table of test rows with the same columns")
    about = f"how rows are split: {SHAPES} (random)"
    parser.add_argument("--split", type=_split_rule, default=RANDOM, metavar="RULE", help=about)
    parser.add_argument("--test-fraction", type=float, default=0.375, help="test share of a small table (0.375)")
    parser.add_argument("--train-size", type=int, default=100, help="training rows at most (100)")
    parser.add_argument("--test-size", type=int, default=60, help="test rows at most; 0: all rows train (60)")
    about = "rows at most, held out like the test rows, that calibrate “I don’t know” (0)"
    parser.add_argument("--calibration-size", type=int, default=0, metavar="N", help=about)
    parser.add_argument("--preset", choices=get_args(Preset), default="recommended")
    _config_options(parser, option_docs())
    _work_options(parser)


def _weigh(commands: Commands) -> None:
    about = "weigh your own sentences on every row of a table, without an optimizer"
    parser = _command(commands, "weigh", "running:run", about)
    _table_options(parser)
    parser.add_argument("--start", metavar="FILE", required=True, help="the sentences, one a line or a JSON list")
    about = "their prior weights: numbers with commas, in the file's order, or a JSON object by sentence (equal)"
    parser.add_argument("--prior", dest="start_prior", metavar="WEIGHTS", help=about)
    _config_options(parser, WEIGHING)
    _work_options(parser)
    sizes = {"test_fraction": 0.375, "train_size": 100, "test_size": 60, "calibration_size": 0}
    parser.set_defaults(preset="recommended", test=None, split=RANDOM, **{"config.method": "weigh"}, **sizes)


def _table_options(parser: ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA.csv", help="CSV, JSON, Excel or Parquet; - reads standard input")
    parser.add_argument("--target", help="column to predict (guessed from the names)")
    parser.add_argument("--task", choices=("auto", "regression", "classification"), default="auto")
    parser.add_argument("--inputs", type=_names, metavar="A,B", help="input columns (all informative ones)")
    parser.add_argument("--exclude", type=_names, default=(), metavar="A,B", help="columns to leave out")
    about = f"a column's kind, if detected wrongly: {', '.join(get_args(Kind))}; repeatable"
    parser.add_argument("--kind", type=_kind, action="append", default=[], metavar="COLUMN=KIND", help=about)
    about = "what a column, or label:LABEL of the target, means; repeatable (DATA.columns.csv or .columns.json)"
    parser.add_argument("--describe", type=_description, action="append", default=[], metavar="COLUMN=TEXT", help=about)


def _work_options(parser: ArgumentParser) -> None:
    parser.add_argument("--name", default="", help="the run's name")
    _file_options(parser)
    _endpoint_options(parser)
    _template_options(parser)
    _budget_options(parser)
    parser.add_argument("--run-dir", metavar="DIR", help="the run's directory (a new one in VPP_RUNS_DIR)")
    _output_options(parser)


def _file_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("reading the file (detected by default)")
    group.add_argument("--encoding", metavar="NAME", help="text encoding, such as utf-8, utf-16 or cp1252")
    group.add_argument("--delimiter", metavar="CHAR", help="a character, or comma, semicolon, tab, pipe, space")
    about = "whether the first line names the columns"
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help=about)
    group.add_argument("--skip-lines", type=int, metavar="N", help="lines to skip above the table, such as titles")
    group.add_argument("--sheet", metavar="NAME", help="sheet of an Excel workbook")
    group.add_argument("--decimal", metavar="MARK", help="decimal mark: point or comma")


def _config_options(parser: ArgumentParser, names: Collection[str]) -> None:
    """Add options of `Config` under their own names. Unset, they are None: presets tell that from the default."""
    docs = option_docs()
    group = parser.add_argument_group("method")
    for option in (each for each in fields(Config) if each.name in names):
        group.add_argument(
            f"--{option.name.replace('_', '-')}",
            dest=f"config.{option.name}",
            default=None,
            help=f"{docs[option.name]} ({_shown(option.default)})".replace("%", "%%"),
            **_value_of(option),
        )


def _value_of(option: Field[Any]) -> dict[str, Any]:
    """Keywords that make argparse read a value of the option's type."""
    if option.type is bool:
        return {"action": argparse.BooleanOptionalAction}
    allowed = choices(option.name)
    if allowed:
        return {"choices": allowed}
    return {"type": option.type, "metavar": option.name.upper()}


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "none" if default == "" else str(default)


def _endpoint_options(parser: ArgumentParser, *, cached: bool = True) -> None:
    group = parser.add_argument_group("endpoint")
    group.add_argument("--demo", action="store_true", help="use the built-in demo model, which is no language model")
    group.add_argument("--demo-latency-ms", type=int, default=0, help="the demo model's delay per answer (0)")
    group.add_argument("--gguf", metavar="FILE", help="a model file on this machine; the run serves it itself")
    group.add_argument("--base-url", metavar="URL", help="any OpenAI-compatible server (OPENAI_BASE_URL)")
    group.add_argument("--model", metavar="NAME", help="model for both roles (VPP_MODEL)")
    group.add_argument("--optimizer-base-url", metavar="URL", help="the optimizer's server, if another")
    group.add_argument("--optimizer-model", metavar="NAME", help="the optimizer's model, if another")
    group.add_argument("--concurrency", type=int, default=0, help="most calls in flight (a round; 1024 to 4096)")
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="time limit of a call (120; with --gguf 3600)")
    about = "constrain the learner's answers: choice = bare label or number; regex = full form with an explanation;"
    about += " off; auto = the full form if a test call shows that the server can (auto)"
    group.add_argument("--structured", choices=STRUCTURED, default="auto", help=about)
    group.add_argument("--reasoning-effort", choices=EFFORTS, default="", help="of a thinking model (its default)")
    about = "mh asks about a chain's next rows before its step is decided: faster, more calls, same result;"
    about += " auto = while the server has spare capacity (auto)"
    group.add_argument("--prefetch", choices=PREFETCH, default="auto", help=about)
    about = "send one call per hypothesis first, the others after its answer: for servers with a prefix cache"
    group.add_argument("--warm-prefix", action="store_true", help=about)
    about = "how long to retry a lost endpoint (3600)"
    group.add_argument("--max-wait", dest="max_wait_s", type=float, default=3600.0, metavar="SECONDS", help=about)
    about = "most tokens of prompt and answer (asked of the server)"
    group.add_argument("--context-length", type=int, default=0, metavar="TOKENS", help=about)
    about = "most tokens of the learner's answer about a row (512)"
    group.add_argument("--learner-max-tokens", type=int, default=512, metavar="N", help=about)
    about = "most tokens of a hypothesis with its reasons (1536)"
    group.add_argument("--optimizer-max-tokens", type=int, default=1536, metavar="N", help=about)
    if cached:
        about = "neither read nor write the response cache"
        group.add_argument("--no-cache", dest="cache", action="store_false", help=about)


def _template_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(f"prompts (NAME: {', '.join(GALLERY)})")
    about = f"templates for every role; {AUTO} = worked examples for a language model (auto)"
    group.add_argument("--templates", metavar="NAME", type=current_name, default=AUTO, choices=TEMPLATES, help=about)
    about = "characters shown of a cell; 0 = all that the models' contexts hold (0)"
    group.add_argument("--cell-limit", type=int, default=0, metavar="N", help=about)
    for role, about in (
        ("learner", "template that asks for a row's output: a NAME or a file"),
        ("optimizer", "template that asks for the next hypothesis"),
        ("prior", "template that asks for a hypothesis before any row is seen"),
    ):
        group.add_argument(f"--{role}-template", metavar="FILE", type=current_name, help=about)


def _budget_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    about = "price of a million prompt tokens; adds costs to plan, progress and report"
    group.add_argument("--price-in", type=float, metavar="PRICE", help=about)
    group.add_argument("--price-out", type=float, metavar="PRICE", help="price of a million completion tokens")
    group.add_argument("--optimizer-price-in", type=float, metavar="PRICE", help="the optimizer's, if another")
    group.add_argument("--optimizer-price-out", type=float, metavar="PRICE", help="the optimizer's, if another")
    group.add_argument("--currency", default="", help="currency of the prices, any word (none)")
    _cap_options(group)
    group.add_argument("--plan", action="store_true", help="print calls, tokens and cost, and end without a call")


def _cap_options(group: ArgumentParser | _ArgumentGroup) -> None:
    about = "pause after N requests, retries included; `resume` with a higher N goes on (0: no cap)"
    group.add_argument("--max-calls", type=int, metavar="N", help=about)
    group.add_argument("--max-cost", type=float, metavar="X", help="pause once X is spent (0: no cap)")


def _output_options(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def _resume(commands: Commands) -> None:
    parser = _command(commands, "resume", "working:resume", "continue a run; a finished run prints its result again")
    _run_dir(parser)
    # For programs: token of the last command meant for an earlier worker. A later one is for this worker.
    parser.add_argument("--past-command", help=argparse.SUPPRESS)
    parser.add_argument(
        "--from-before-damage",
        action="store_true",
        help="move a damaged journal's rest to events.jsonl.damaged and continue from the last complete step before it",
    )
    parser.add_argument("--wait-at-cap", action="store_true", help=argparse.SUPPRESS)
    _cap_options(parser)
    _output_options(parser)


def _continue(commands: Commands) -> None:
    about = "start a new run with the particles of another and newly labelled rows as training rows"
    parser = _command(commands, "continue", "running:continue_", about)
    _run_dir(parser)
    about = "table with the run's inputs and target; rows without a target are left out"
    parser.add_argument("data", metavar="ROWS.csv", help=about)
    parser.add_argument("--name", default="", help="the new run's name")
    _file_options(parser)
    parser.add_argument("--run-dir", dest="to", metavar="DIR", help="the new run's directory (in VPP_RUNS_DIR)")
    _output_options(parser)


def _reword(commands: Commands) -> None:
    about = "score your own text beside a particle's on the same rows; --keep starts a new run with it"
    parser = _command(commands, "reword", "rewording:reword", about)
    _run_dir(parser)
    parser.add_argument("--particle", type=int, required=True, metavar="N", help="number of the particle, from 0")
    parser.add_argument("--text", required=True, help="the new text, with or without the seed sentence")
    parser.add_argument("--keep", action="store_true", help="start a new run in which the particle holds the text")
    parser.add_argument("--name", default="", help="the new run's name")
    parser.add_argument("--run-dir", dest="to", metavar="DIR", help="the new run's directory (in VPP_RUNS_DIR)")
    _output_options(parser)


def _control(commands: Commands) -> None:
    for name, about in (("stop", "end a running run and keep its last complete step"), ("pause", "send no more calls")):
        _run_dir(_command(commands, name, f"control:{name}", about))
    _run_dir(_command(commands, "go-on", "control:go_on", "send calls again after a pause"))
    listing = _command(commands, "list", "control:list_runs", "list the runs, newest first")
    listing.add_argument("--json", action="store_true")
    rename = _command(commands, "rename", "control:rename", "give a run another name")
    _run_dir(rename)
    rename.add_argument("name", metavar="NAME")
    _run_dir(_command(commands, "delete", "control:delete", "remove a run for good"))
    cache = _command(commands, "cache", "control:cache", "show the response cache's size, or empty it")
    cache.add_argument("action", choices=("info", "clear"))


def _reading(commands: Commands) -> None:
    report = _command(commands, "report", "reading:report", "write the report of a run")
    _run_dir(report)
    report.add_argument("-o", "--output", metavar="FILE", help="report file (report.md in the run's directory)")
    report.add_argument("--html", metavar="FILE", help="HTML report with charts (report.html next to report.md)")
    about_nc = "also write the particles for ArviZ (posterior.nc next to the report)"
    report.add_argument("--nc", action="store_true", help=about_nc)
    about_verify = "recompute a run's journal and exports without a model, and report differences"
    verify = _command(commands, "verify", "reading:verify", about_verify)
    _run_dir(verify)
    verify.add_argument("--json", action="store_true", help="print one JSON object")
    about = "ask a run's learner without a rule and with examples instead, on the test rows, for comparison"
    baseline = _command(commands, "baseline", "reading:baseline", about)
    _run_dir(baseline)
    about = "learner calls of the vote over several draws of examples (as many as the run's)"
    baseline.add_argument("--calls", type=int, metavar="N", help=about)
    about = "most training rows shown as examples (as many as fit the context; 8192 tokens if it is unknown)"
    baseline.add_argument("--examples", type=int, metavar="K", help=about)
    baseline.add_argument("--json", action="store_true", help="print one JSON object")
    about = "put a run's ideas on trial: does the learner follow them, and what is each clause worth"
    trial = _command(commands, "trial", "reading:trial", about)
    _run_dir(trial)
    trial.add_argument("--ideas", type=int, default=3, metavar="N", help="ideas on trial, the heaviest (3)")
    about = "rows for each idea and kind (must change, must stay) (20)"
    trial.add_argument("--changes", type=int, default=20, metavar="N", help=about)
    about = "training rows that score sentences without a clause, and the learner without a rule (40)"
    trial.add_argument("--rows", type=int, default=40, metavar="N", help=about)
    trial.add_argument("--plan", action="store_true", help="print the number of calls and ask nothing")
    trial.add_argument("--json", action="store_true", help="print one JSON object")
    about = "write unlabelled rows as a CSV to fill in, most informative first; `continue` reads it"
    sheet = _command(commands, "sheet", "reading:sheet", about)
    _run_dir(sheet)
    sheet.add_argument("-o", "--output", metavar="SHEET.csv", required=True)
    sheet.add_argument("--rows", type=int, default=24, metavar="N", help="rows at most (24)")
    predict = _command(commands, "predict", "reading:predict", "predict new rows with a posterior")
    _run_dir(predict)
    predict.add_argument("data", metavar="NEW.csv")
    predict.add_argument("-o", "--output", metavar="OUT.csv", required=True)
    predict.add_argument("--reasons", action="store_true", help="add a column of reasons for each particle")
    _file_options(predict)
    task = _command(commands, "task", "reading:task", "write one of the paper's seven tasks as a CSV")
    task.add_argument("name", metavar="NAME")
    task.add_argument("--seed", type=int, default=0)
    task.add_argument("--train-size", type=int, default=100)
    task.add_argument("--test-size", type=int, default=60)
    task.add_argument("-o", "--output", metavar="FILE.csv", required=True)


def _serving(commands: Commands) -> None:
    parser = _command(commands, "app", "serving:app", "serve the app in a browser")
    parser.add_argument("--port", type=int, default=8501, metavar="N", help="port (8501)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (127.0.0.1)")
    parser.add_argument("streamlit", nargs="*", metavar="OPTION", help="options of Streamlit, after a --")
    # The demo model's own program reads the options: without a prefix that words have, all of them are passed on.
    about, unread = "serve the built-in demo model", {"prefix_chars": "\0", "add_help": False}
    _command(commands, "demo-server", "serving:demo_server", about, **unread).add_argument("words", nargs="*")
    check = _command(commands, "check-endpoint", "serving:check_endpoint", "test a server and report what works")
    _endpoint_options(check, cached=False)
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.set_defaults(cache=False)


BENCH_METHODS = """\
methods of the paper, run by default:
  vml, vml5, mh, always-accept, smc
  mh-k1, mh-k3, mh-k5: mh with 1, 3 and 5 particles, on linear, two-circles and sum-parity

variants beyond the paper, run only if --methods names them (docs/method.md says what each samples):
  smc-rescored, smc-train, smc-filtered, smc-duplicates, smc-incremental, smc-adaptive, smc-restart, smc-prior,
  smc-adaptive-k, smc-history, smc-pack5, smc-dedup,
  mh-buffer, mh-train, mh-restart, mh-prior, mh-adaptive-k, mh-history
"""


def _bench(commands: Commands) -> None:
    about = "run the paper's experiments and write their tables; run it again to continue a stopped sweep"
    parser = _command(commands, "bench", "benching:bench", about)
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, BENCH_METHODS
    about = "tables with known rules instead of the paper's tasks: NAME_train.csv, NAME_test.csv and truth.json in DIR"
    parser.add_argument("--suite", choices=("hypobench",), help=about)
    parser.add_argument("folder", metavar="DIR", nargs="?", help="the suite's folder")
    parser.add_argument("--json", action="store_true", help="print a suite's results as one JSON object")
    parser.add_argument("--tasks", metavar="A,B", help="some of the seven tasks, or of the suite's tables (all)")
    parser.add_argument(
        "--methods", metavar="A,B", help="methods and variants, named below (the paper's; a suite: smc)"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 (3)")
    about = "cells run at a time, sharing --concurrency or 1024 calls (VPP_MAX_RUNNING)"
    parser.add_argument("--jobs", type=int, metavar="N", help=about)
    about = "how cells run: as worker processes of this machine, or as tasks of a Ray cluster (processes)"
    parser.add_argument("--engine", choices=("processes", "ray"), default="processes", help=about)
    about = "address of the Ray cluster; auto = this machine's cluster, local = start one for this sweep (local)"
    parser.add_argument("--ray-address", metavar="ADDRESS", help=about)
    parser.add_argument("--train-size", type=int, metavar="N", help="training rows (100)")
    parser.add_argument("--test-size", type=int, metavar="N", help="test rows (60; a suite: 200)")
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the training rows (2)")
    _endpoint_options(parser, cached=False)
    # Methods ask the same questions: with a cache, times would depend on the order of cells.
    parser.set_defaults(cache=False)
    where = "the sweep's folder: new, empty, or a sweep to continue (bench-demo or bench-MODEL in VPP_RUNS_DIR)"
    parser.add_argument("-o", "--output", metavar="DIR", help=where)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run_dir(parser: ArgumentParser) -> None:
    parser.add_argument("run_dir", metavar="RUN_DIR", help="a run's directory or id")


def _kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if not name or kind not in get_args(Kind):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=KIND with one of {', '.join(get_args(Kind))}")
    return name, kind


def _description(text: str) -> str:
    if "=" not in text[1:]:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=TEXT or label:LABEL=TEXT")
    return text


def _split_rule(text: str) -> SplitRule:
    try:
        return SplitRule.read(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("name at least one column")
    return names
