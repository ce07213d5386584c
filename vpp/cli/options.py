"""Groups of options that commands share, and the types of their values."""

import argparse
from argparse import ArgumentParser, _ArgumentGroup, _SubParsersAction
from collections.abc import Collection
from dataclasses import Field, fields
from typing import Any, TypeAlias, get_args

from vpp.data.dataset import Kind, SplitRule
from vpp.errors import InputError
from vpp.llm.choices import AUTO, EFFORTS, GALLERY, STRUCTURED, TEMPLATES
from vpp.settings import Config, choices, option_docs

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"


def command(commands: Commands, name: str, function: str, about: str, **more: Any) -> ArgumentParser:
    """Add a command. function: `module:function` in vpp.cli."""
    description = about[:1].upper() + about[1:] + "."
    parser = commands.add_parser(name, help=about, description=description, allow_abbrev=False, **more)
    parser.set_defaults(command=f"vpp.cli.{function}")
    return parser


def table_options(parser: ArgumentParser) -> None:
    """Add the table and what its columns are."""
    parser.add_argument("data", metavar="DATA.csv", help="CSV, JSON, Excel or Parquet; - reads standard input")
    parser.add_argument("--target", help="column to predict (guessed from the names)")
    parser.add_argument("--task", choices=("auto", "regression", "classification"), default="auto")
    parser.add_argument("--inputs", type=_names, metavar="A,B", help="input columns (all informative ones)")
    parser.add_argument("--exclude", type=_names, default=(), metavar="A,B", help="columns to leave out")
    about = f"a column's kind, if detected wrongly: {', '.join(get_args(Kind))}; repeatable"
    parser.add_argument("--kind", type=_kind, action="append", default=[], metavar="COLUMN=KIND", help=about)
    about = "what a column, or label:LABEL of the target, means; repeatable (DATA.columns.csv or .columns.json)"
    parser.add_argument("--describe", type=_description, action="append", default=[], metavar="COLUMN=TEXT", help=about)


def work_options(parser: ArgumentParser) -> None:
    """Add everything of a new run but its table and its method."""
    parser.add_argument("--name", default="", help="the run's name")
    file_options(parser)
    endpoint_options(parser)
    _template_options(parser)
    _budget_options(parser)
    parser.add_argument("--run-dir", metavar="DIR", help="the run's directory (a new one in VPP_RUNS_DIR)")
    output_options(parser)


def file_options(parser: ArgumentParser) -> None:
    """Add how a file is read."""
    group = parser.add_argument_group("reading the file (detected by default)")
    group.add_argument("--encoding", metavar="NAME", help="text encoding, such as utf-8, utf-16 or cp1252")
    group.add_argument("--delimiter", metavar="CHAR", help="a character, or comma, semicolon, tab, pipe, space")
    about = "whether the first line names the columns"
    group.add_argument("--header", action=argparse.BooleanOptionalAction, help=about)
    group.add_argument("--skip-lines", type=int, metavar="N", help="lines to skip above the table, such as titles")
    group.add_argument("--sheet", metavar="NAME", help="sheet of an Excel workbook")
    group.add_argument("--decimal", metavar="MARK", help="decimal mark: point or comma")


def config_options(parser: ArgumentParser, names: Collection[str]) -> None:
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


def endpoint_options(parser: ArgumentParser, *, cached: bool = True) -> None:
    """Add the server and how it is called. cached: also the option that leaves the cache out."""
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
    group.add_argument("--templates", metavar="NAME", default=AUTO, choices=TEMPLATES, help=about)
    about = "characters shown of a cell; 0 = all that the models' contexts hold (0)"
    group.add_argument("--cell-limit", type=int, default=0, metavar="N", help=about)
    for role, about in (
        ("learner", "template that asks for a row's output: a NAME or a file"),
        ("optimizer", "template that asks for the next hypothesis"),
        ("prior", "template that asks for a hypothesis before any row is seen"),
    ):
        group.add_argument(f"--{role}-template", metavar="FILE", help=about)


def _budget_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    about = "price of a million prompt tokens; adds costs to plan, progress and report"
    group.add_argument("--price-in", type=float, metavar="PRICE", help=about)
    group.add_argument("--price-out", type=float, metavar="PRICE", help="price of a million completion tokens")
    group.add_argument("--optimizer-price-in", type=float, metavar="PRICE", help="the optimizer's, if another")
    group.add_argument("--optimizer-price-out", type=float, metavar="PRICE", help="the optimizer's, if another")
    group.add_argument("--currency", default="", help="currency of the prices, any word (none)")
    cap_options(group)
    group.add_argument("--plan", action="store_true", help="print calls, tokens and cost, and end without a call")


def cap_options(group: ArgumentParser | _ArgumentGroup) -> None:
    """Add the cap at which a run pauses."""
    about = "pause after N requests, retries included; `resume` with a higher N goes on (0: no cap)"
    group.add_argument("--max-calls", type=int, metavar="N", help=about)
    group.add_argument("--max-cost", type=float, metavar="X", help="pause once X is spent (0: no cap)")


def output_options(parser: ArgumentParser) -> None:
    """Add what a command prints."""
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run_dir(parser: ArgumentParser) -> None:
    """Add the run that a command is about."""
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


def split_rule(text: str) -> SplitRule:
    """Read a rule of splitting. Raises ArgumentTypeError."""
    try:
        return SplitRule.read(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("name at least one column")
    return names
