"""Groups of options that commands share, and the types of their values."""

import argparse
from argparse import ArgumentParser, _ArgumentGroup, _SubParsersAction
from collections.abc import Callable, Collection
from dataclasses import Field, fields
from typing import Any, TypeAlias, get_args

from vpp.data.dataset import Kind, ReadAs, SplitRule
from vpp.errors import InputError
from vpp.llm.choices import AUTO, EFFORTS, GALLERY, STRUCTURED
from vpp.settings import Config, choices, option_docs

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"
READ_AS = tuple(choice.name.replace("_", "-") for choice in fields(ReadAs))
"""Names of `--read`."""
LIMITS = {
    "learner": "learner_max_tokens",
    "optimizer": "optimizer_max_tokens",
    "context": "context_length",
    "cell": "cell_limit",
}
"""Names of `--limit`, and the fields that they set."""


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
    about = (
        "how the file is read, if detected wrongly; repeatable: encoding=cp1252, delimiter=semicolon (a character, or "
        "comma, semicolon, tab, pipe, space), header=no (the first line names no columns), skip-lines=3 (above the "
        "table), sheet=NAME (of a workbook), decimal=comma"
    )
    parser.add_argument("--read", type=_read_choice, action="append", default=[], metavar="NAME=VALUE", help=about)


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


def endpoint_options(parser: ArgumentParser, *, of_run: bool = True) -> None:
    """Add the server and how it is called. of_run: also the options that only a run has."""
    group = parser.add_argument_group("endpoint")
    group.add_argument("--demo", action="store_true", help="use the built-in demo model, which is no language model")
    group.add_argument("--gguf", metavar="FILE", help="a model file on this machine; the run serves it itself")
    group.add_argument("--base-url", metavar="URL", help="any OpenAI-compatible server (OPENAI_BASE_URL)")
    group.add_argument("--model", metavar="NAME", help="model for both roles (VPP_MODEL)")
    group.add_argument("--optimizer-base-url", metavar="URL", help="the optimizer's server, if another")
    group.add_argument("--optimizer-model", metavar="NAME", help="the optimizer's model, if another")
    group.add_argument("--concurrency", type=int, default=0, help="most calls in flight (a round; 1024 to 4096)")
    group.add_argument("--timeout", type=float, metavar="SECONDS", help="time limit of a call (120; with --gguf 3600)")
    about = "constrain the learner's answers to their form; auto = if a test call shows that the server can (auto)"
    group.add_argument("--structured", choices=STRUCTURED, default="auto", help=about)
    group.add_argument("--reasoning-effort", choices=EFFORTS, default="", help="of a thinking model (its default)")
    about = "how long to retry a lost endpoint (3600)"
    group.add_argument("--max-wait", dest="max_wait_s", type=float, default=3600.0, metavar="SECONDS", help=about)
    about = "most tokens of the learner's answer (learner=512), of a hypothesis with its reasons (optimizer=1536), and"
    about += " of prompt and answer together (context=N; asked of the server)"
    if of_run:
        about += "; most characters shown of a cell (cell=N; all that the models' contexts hold)"
    reader = _limit([name for name in LIMITS if of_run or name != "cell"])
    group.add_argument(
        "--limit", type=reader, action="append", default=[], metavar="NAME=N", help=f"{about}; repeatable"
    )
    if of_run:
        about = "neither read nor write the response cache"
        group.add_argument("--no-cache", dest="cache", action="store_false", help=about)


def _template_options(parser: ArgumentParser) -> None:
    about = (
        f"prompts: {', '.join(GALLERY)}, or a folder with learner.txt, optimizer.txt and prior.txt, of which some may "
        f"be missing; {AUTO} = worked examples for a language model (auto)"
    )
    parser.add_argument("--templates", metavar="NAME|FOLDER", default=AUTO, help=about)


def _budget_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    about = "prices of a million prompt and completion tokens; adds costs to plan, progress and report"
    group.add_argument("--price", type=_price, metavar="IN,OUT", help=about)
    group.add_argument("--optimizer-price", type=_price, metavar="IN,OUT", help="the optimizer's, if another")
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


def _read_choice(text: str) -> tuple[str, Any]:
    """Read a choice of `ReadAs`."""
    name, _, value = text.partition("=")
    if name not in READ_AS or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE with one of {', '.join(READ_AS)}")
    if name == "header" and value not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"header is {value!r}: give yes or no")
    if name == "skip-lines" and not value.isdecimal():
        raise argparse.ArgumentTypeError(f"skip-lines is {value!r}: give a number of lines")
    field: Any = {"header": value == "yes", "skip-lines": int(value) if name == "skip-lines" else 0}.get(name, value)
    return name.replace("-", "_"), field


def _limit(names: Collection[str]) -> Callable[[str], tuple[str, int]]:
    def read(text: str) -> tuple[str, int]:
        name, _, value = text.partition("=")
        if name not in names or not value.isdecimal():
            raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N with one of {', '.join(names)}")
        return LIMITS[name], int(value)

    return read


def _price(text: str) -> tuple[float, float]:
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not IN,OUT: give two numbers such as 0.15,0.60") from None
    return prompt, completion


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
