"""The commands and their options."""

import argparse
from argparse import ArgumentParser, _SubParsersAction
from dataclasses import Field, fields
from typing import Any, NoReturn, TypeAlias, get_args

from vpp import __version__
from vpp.cli.budget import budget_options, cap_options
from vpp.cli.templates import template_options
from vpp.data.dataset import Kind
from vpp.data.split_rule import RANDOM, SHAPES, SplitRule
from vpp.errors import InputError
from vpp.llm.choices import EFFORTS, PREFETCH, STRUCTURED
from vpp.settings import Config, Preset, choices, option_docs

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"


class _Parser(ArgumentParser):
    """Complains in one line, as everything here does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"vpp: {message} (see `{self.prog} --help`)\n")


def build_parser() -> ArgumentParser:
    """`python -m vpp`."""
    about = "Bayesian inference over hypotheses written in plain language."
    parser: ArgumentParser = _Parser(prog="vpp", description=about)
    parser.add_argument("--version", action="version", version=f"vpp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _run(commands)
    _resume(commands)
    _continue(commands)
    _control(commands)
    _reading(commands)
    _serving(commands)
    _bench(commands)
    return parser


def _command(commands: Commands, name: str, function: str, about: str) -> ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about[:1].upper() + about[1:] + ".", allow_abbrev=False)
    parser.set_defaults(command=f"vpp.cli.{function}")
    return parser


def _run(commands: Commands) -> None:
    parser = _command(commands, "run", "running:run", "learn a posterior over sentences from a CSV")
    parser.add_argument("data", metavar="DATA.csv", help="the table; - reads standard input")
    parser.add_argument("--target", help="column to predict; found by name where it is not given")
    parser.add_argument("--task", choices=("auto", "regression", "classification"), default="auto")
    parser.add_argument("--inputs", type=_names, metavar="A,B", help="input columns (all that inform)")
    parser.add_argument("--exclude", type=_names, default=(), metavar="A,B", help="columns to leave out")
    about = f"a column's kind, where it is not the one found: {', '.join(get_args(Kind))}; may be given again"
    parser.add_argument("--kind", type=_kind, action="append", default=[], metavar="COLUMN=KIND", help=about)
    parser.add_argument("--test", metavar="FILE", help="a table of test rows, with the same columns")
    about = f"what parts the rows: {SHAPES} (random)"
    parser.add_argument("--split", type=_split_rule, default=RANDOM, metavar="RULE", help=about)
    parser.add_argument("--test-fraction", type=float, default=0.375, help="test share of a small table (0.375)")
    parser.add_argument("--train-size", type=int, default=100, help="training rows at most (100)")
    parser.add_argument("--test-size", type=int, default=60, help="test rows at most (60)")
    parser.add_argument("--name", default="", help="what to call the run")
    parser.add_argument("--preset", choices=get_args(Preset), default="recommended")
    _file_options(parser)
    _config_options(parser)
    _endpoint_options(parser)
    template_options(parser)
    budget_options(parser)
    parser.add_argument("--run-dir", metavar="DIR", help="the run's directory (a new one in VPP_RUNS_DIR)")
    _output_options(parser)


def _file_options(parser: ArgumentParser) -> None:
    """How a table's file is read, where that is not to be found from it."""
    group = parser.add_argument_group("reading the file (found from it where nothing is said)")
    group.add_argument("--encoding", metavar="NAME", help="of its text, such as utf-8, utf-16 or cp1252")
    group.add_argument("--delimiter", metavar="CHAR", help="or comma, semicolon, tab, pipe, space")
    about = "whether the first line names the columns"
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help=about)
    group.add_argument("--skip-lines", type=int, metavar="N", help="lines above the table, such as titles")
    group.add_argument("--sheet", metavar="NAME", help="of an Excel workbook")
    group.add_argument("--decimal", metavar="MARK", help="point or comma")


def _config_options(parser: ArgumentParser) -> None:
    """Every option of the library's config, with the same name and default."""
    docs = option_docs()
    group = parser.add_argument_group("method")
    for option in fields(Config):
        group.add_argument(
            f"--{option.name.replace('_', '-')}",
            dest=f"config.{option.name}",
            default=None,
            help=f"{docs[option.name]} ({_shown(option.default)})".replace("%", "%%"),
            **_reading_of(option),
        )


def _reading_of(option: Field[Any]) -> dict[str, Any]:
    """How argparse reads a value of the option's type."""
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
    group.add_argument("--demo", action="store_true", help="the built-in demo model, which is no language model")
    group.add_argument("--demo-latency-ms", type=int, default=0, help="how long the demo model waits an answer (0)")
    group.add_argument("--gguf", metavar="FILE", help="a model file on this machine, which the run serves itself")
    group.add_argument("--base-url", metavar="URL", help="any OpenAI-compatible server (OPENAI_BASE_URL)")
    group.add_argument("--model", metavar="NAME", help="model of both roles (VPP_MODEL)")
    group.add_argument("--optimizer-base-url", metavar="URL", help="where the optimizer is another server")
    group.add_argument("--optimizer-model", metavar="NAME", help="where the optimizer is another model")
    group.add_argument("--concurrency", type=int, default=0, help="calls in flight at most (a round; 1024 to 4096)")
    about = "of a whole call (120; with --gguf 3600)"
    group.add_argument("--timeout", type=float, metavar="SECONDS", help=about)
    about = "what the server holds the learner's answers to: choice, the bare label or number; regex, the whole form"
    about += " with an explanation; off, nothing; auto, the whole form if a test call shows that the server can"
    group.add_argument("--structured", choices=STRUCTURED, default="auto", help=f"{about} (auto)")
    about = "how much a thinking model thinks (its own way)"
    group.add_argument("--reasoning-effort", choices=EFFORTS, default="", help=about)
    about = "mh asks about a chain's next rows before its step is decided: faster, more calls, the same result; auto"
    group.add_argument("--prefetch", choices=PREFETCH, default="auto", help=f"{about}, while the server has room")
    about = "one call about a hypothesis first, the others when it is back, for a server with a prefix cache"
    group.add_argument("--warm-prefix", action="store_true", help=about)
    group.add_argument("--max-wait", type=float, default=3600.0, metavar="SECONDS", help="for a lost endpoint (3600)")
    about = "tokens of prompt and answer that the models take (asked of the server)"
    group.add_argument("--context-length", type=int, default=0, metavar="TOKENS", help=about)
    group.add_argument("--learner-max-tokens", type=int, default=512, metavar="N", help="of a row's answer (512)")
    about = "of a hypothesis with its reasons (1536)"
    group.add_argument("--optimizer-max-tokens", type=int, default=1536, metavar="N", help=about)
    if cached:
        group.add_argument("--no-cache", action="store_true", help="neither read nor write the response cache")


def _output_options(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="end with one JSON object on standard output")


def _resume(commands: Commands) -> None:
    parser = _command(commands, "resume", "working:resume", "go on with a run; a finished one prints its result again")
    _run_dir(parser)
    # Between programs only: the word that was for an earlier worker. One left since is for this one, not yet up.
    parser.add_argument("--heard", help=argparse.SUPPRESS)
    parser.add_argument(
        "--from-before-damage",
        action="store_true",
        help="set a damaged journal's rest aside in events.jsonl.damaged, and go on from the last whole step before it",
    )
    parser.add_argument("--wait-at-cap", action="store_true", help=argparse.SUPPRESS)
    cap_options(parser)
    _output_options(parser)


def _continue(commands: Commands) -> None:
    about = "begin a new run with the particles of another, and with rows answered since as training rows"
    parser = _command(commands, "continue", "continuing:go_on", about)
    _run_dir(parser)
    parser.add_argument(
        "data", metavar="ROWS.csv", help="the run's inputs and its target; rows without one are left out"
    )
    parser.add_argument("--name", default="", help="what to call the new run")
    _file_options(parser)
    parser.add_argument("--run-dir", dest="to", metavar="DIR", help="its directory (a new one in VPP_RUNS_DIR)")
    _output_options(parser)


def _control(commands: Commands) -> None:
    for name, about in (("stop", "end a running run and keep its last whole step"), ("pause", "send no more calls")):
        _run_dir(_command(commands, name, f"control:{name}", about))
    _run_dir(_command(commands, "go-on", "control:go_on", "send calls again after a pause"))
    listing = _command(commands, "list", "control:list_runs", "the runs, newest first")
    listing.add_argument("--json", action="store_true")
    rename = _command(commands, "rename", "control:rename", "give a run another name")
    _run_dir(rename)
    rename.add_argument("name", metavar="NAME")
    _run_dir(_command(commands, "delete", "control:delete", "remove a run for good"))
    cache = _command(commands, "cache", "control:cache", "the response cache: its size, or empty it")
    cache.add_argument("action", choices=("info", "clear"))


def _reading(commands: Commands) -> None:
    report = _command(commands, "report", "reading:report", "write the report of a run")
    _run_dir(report)
    report.add_argument("-o", "--output", metavar="FILE", help="where to (report.md in the run's directory)")
    report.add_argument("--html", metavar="FILE", help="the page with charts goes here (report.html beside report.md)")
    about_nc = "also the particles for ArviZ (posterior.nc in the run's directory, or beside the report)"
    report.add_argument("--nc", action="store_true", help=about_nc)
    about_verify = "derive a run's journal and exports once more, without a model, and say whether they hold"
    verify = _command(commands, "verify", "verifying:verify_run", about_verify)
    _run_dir(verify)
    verify.add_argument("--json", action="store_true", help="one JSON object on standard output")
    predict = _command(commands, "predict", "reading:predict", "ask a posterior about new rows")
    _run_dir(predict)
    predict.add_argument("data", metavar="NEW.csv")
    predict.add_argument("-o", "--output", metavar="OUT.csv", required=True)
    predict.add_argument("--reasons", action="store_true", help="also a column of reasons for each particle")
    _file_options(predict)
    task = _command(commands, "task", "reading:task", "write one of the paper's seven tasks as a CSV")
    task.add_argument("name", metavar="NAME")
    task.add_argument("--seed", type=int, default=0)
    task.add_argument("--train-size", type=int, default=100)
    task.add_argument("--test-size", type=int, default=60)
    task.add_argument("-o", "--output", metavar="FILE.csv", required=True)


def _serving(commands: Commands) -> None:
    demo = _command(commands, "demo-server", "serving:demo_server", "serve the built-in demo model")
    demo.add_argument("--host", default="127.0.0.1")
    demo.add_argument("--port", type=int, default=8900)
    demo.add_argument("--latency-ms", type=float, default=0, help="how long each answer takes at least")
    demo.add_argument("--jitter", type=float, default=0, help="latency varies by this fraction")
    demo.add_argument("--capacity", type=int, default=0, help="requests worked on at a time; 0: no bound")
    demo.add_argument("--fail-rate", type=float, default=0, help="share of requests refused with an error")
    demo.add_argument("--garble-rate", type=float, default=0, help="share of answers made unreadable")
    check = _command(commands, "check-endpoint", "serving:check_endpoint", "try a server and say what works")
    _endpoint_options(check, cached=False)
    check.add_argument("--json", action="store_true", help="one JSON object on standard output")
    check.set_defaults(no_cache=True)


BENCH_METHODS = """\
methods of the paper, each run unless told otherwise:
  vml, vml5, mh, always-accept, smc
  mh-k1, mh-k3, mh-k5: mh with 1, 3 and 5 particles, on linear, two-circles and sum-parity

variants beyond the paper, run where --methods names them (docs/method.md says what each samples):
  smc-rescored, smc-train, smc-filtered, smc-duplicates, smc-incremental, smc-adaptive, smc-restart, smc-prior,
  smc-adaptive-k, smc-history, smc-pack5, smc-dedup,
  mh-buffer, mh-train, mh-restart, mh-prior, mh-adaptive-k, mh-history
"""


def _bench(commands: Commands) -> None:
    about = "run the paper's experiments, and write their tables; stopped, it goes on when called again"
    parser = _command(commands, "bench", "benching:bench", about)
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, BENCH_METHODS
    parser.add_argument("--tasks", metavar="A,B", help="of the seven tasks (all)")
    parser.add_argument("--methods", metavar="A,B", help="methods and variants, named below (the paper's)")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 (3)")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="cells at a time, which share --concurrency, or 1024 (VPP_MAX_RUNNING)"
    )
    about = "what works a cell: a worker process of this machine, or a task of a Ray cluster (processes)"
    parser.add_argument("--engine", choices=("processes", "ray"), default="processes", help=about)
    about = "of the cluster: auto for the one that this machine is in, local for one of this sweep's own (local)"
    parser.add_argument("--ray-address", metavar="ADDRESS", help=about)
    parser.add_argument("--train-size", type=int, metavar="N", help="training rows (100)")
    parser.add_argument("--test-size", type=int, metavar="N", help="test rows (60)")
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the training rows (2)")
    _endpoint_options(parser, cached=False)
    parser.set_defaults(no_cache=True)  # methods share questions: times would depend on the cells' order
    where = "the sweep's folder: new, empty, or a sweep's to go on with (bench-demo or bench-MODEL in VPP_RUNS_DIR)"
    parser.add_argument("-o", "--output", metavar="DIR", help=where)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _run_dir(parser: ArgumentParser) -> None:
    parser.add_argument("run_dir", metavar="RUN_DIR", help="a run's directory, or its id")


def _kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if not name or kind not in get_args(Kind):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=KIND with one of {', '.join(get_args(Kind))}")
    return name, kind


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
