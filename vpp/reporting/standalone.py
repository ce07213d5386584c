"""posterior.py: a run's predictions as one file of plain Python, which needs no model and no package.

It holds the hypotheses whose programs may run outside the sandbox (`strict_fault`), their weights and noise, the
constant answer, and the rule for “I don’t know”. The rest of the file, the same for every run, is
templates/posterior.txt. Texts of a model or a table get there as literals, or on one line of a comment.
"""

import ast
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain
from pprint import pformat
from typing import Any

from vpp.data.columns import ERRORS, MISSING
from vpp.data.dataset import Column, Dataset
from vpp.data.numbers import BODIES, FORMATTED, LONGEST, MINUS, PLAIN, SCALES, STANDS_FOR
from vpp.errors import InputError, RunError
from vpp.events import Constant, Evaluated
from vpp.findings.hypotheses import prior_words
from vpp.findings.points import reject_option, totals
from vpp.findings.programs import program_of
from vpp.posterior.calibration import RejectOption
from vpp.posterior.prediction import TIE
from vpp.programs.columns import Argument, Columns
from vpp.programs.sandbox import LARGEST, VALUE_LENGTH
from vpp.programs.source import Program, strict_fault
from vpp.runs.directory import RunReader
from vpp.runs.view import RunView, priors
from vpp.show.markup import FORMULA, one_line
from vpp.show.words import percent

WIDTH = 110
FILE = "posterior.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    text: str
    weight: float
    reason: str

    @property
    def words(self) -> str:
        return one_line(f"left out, {percent(self.weight)} of the weight: {self.text} ({self.reason})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    content: bytes
    left_out: tuple[LeftOut, ...]
    """Heaviest first; the weights of the others are rescaled."""

    @property
    def words(self) -> str:
        use = f"{FILE} predicts new rows in plain Python, without a model: python {FILE} new.csv."
        return f"{use} {left_out_words(self.left_out)}".strip()


def left_out_words(left_out: Sequence[LeftOut]) -> str:
    """Return a sentence about the weight that is left out; empty if there is none."""
    if not left_out:
        return ""
    share = percent(math.fsum(each.weight for each in left_out))
    return f"{share} of the weight is left out, and the weights of the others are rescaled."


def standalone(reader: RunReader) -> Standalone:
    """Write a run as posterior.py. Raises RunError before the first population, InputError if no program may be in."""
    view, dataset = reader.refresh().view, reader.dataset()
    if not view.population:
        raise RunError(f"{reader.directory.path} has no particles yet: wait for its first step")
    columns = Columns(dataset)
    programs, left_out = _programs_of(reader, view, columns)
    kept = [slot for slot, particle in enumerate(view.population) if particle.hypothesis in programs]
    if left_out and not math.fsum(view.weights[slot] for slot in kept):
        reason = one_line(left_out[0].reason)
        raise InputError(f"no hypothesis can be written as Python (the heaviest: {reason}): use predict with the model")
    weights, rest = _rest(view, kept)
    train = rest.evaluations.get("train")
    reject = reject_option(rest, reader.refresh().spec.config, dataset, of=rest.evaluations.get("test", train))
    noise = train.noise if train and train.noise and dataset.classes else (None,) * len(kept)
    ids = [view.population[slot].hypothesis for slot in kept]
    shares, noise_of = totals(zip(ids, weights, strict=True)), dict(zip(ids, noise, strict=True))
    prior_of = dict(zip((particle.hypothesis for particle in view.population), priors(view), strict=False))
    own: list[tuple[dict[str, Any], Program]] = []
    for id_, program in programs.items():
        record = {"text": view.texts[id_], "weight": shares[id_], "prior": prior_of.get(id_)}
        own.append((record | {"copies": ids.count(id_), "noise": noise_of[id_]}, program))
    lines = [
        *_comment(f"Run {reader.directory.id}: it predicts {dataset.target!r}."),
        *chain.from_iterable(map(_comment, (left_out_words(left_out), *(each.words for each in left_out)))),
        "",
        *_functions(sorted(own, key=lambda each: -each[0]["weight"])),
        *_rule(reject, train.constant if train else None, dataset),
        *_cells(dataset, columns, programs),
    ]
    template = (files("vpp.reporting") / "templates" / "posterior.txt").read_text(encoding="utf-8")
    content = template.replace("# DATA\n", "\n".join([*lines, ""]), 1)
    return Standalone(content=content.encode(), left_out=tuple(left_out))


def _programs_of(reader: RunReader, view: RunView, columns: Columns) -> tuple[dict[str, Program], list[LeftOut]]:
    weights = totals(zip((state.hypothesis for state in view.population), view.weights, strict=True))
    found = {identity: _program(reader, identity, columns) for identity in weights}
    left_out = [
        LeftOut(text=view.texts[identity], weight=weights[identity], reason=reason)
        for identity, reason in found.items()
        if isinstance(reason, str)
    ]
    programs = {identity: program for identity, program in found.items() if isinstance(program, Program)}
    return programs, sorted(left_out, key=lambda each: -each.weight)


def _program(reader: RunReader, identity: str, columns: Columns) -> Program | str:
    """The hypothesis as a program that may run outside the sandbox, or why there is none."""
    program, reason = program_of(reader.read_answers().translations.get(identity), columns)
    if program is None:
        return f"it has no program: {reason}" if reason else "it has no program"
    refusal = strict_fault(program)
    return f"its program must stay in the sandbox: {refusal}" if refusal else program


def _rest(view: RunView, kept: Sequence[int]) -> tuple[tuple[float, ...], RunView]:
    """The weights of these slots, and the run as if it had no others: with the constant's they sum to 1 again."""
    train, total = view.evaluations.get("train"), 1.0
    if len(kept) < len(view.population):
        constant = train.constant.weight if train and train.constant else 0.0
        total = math.fsum([constant, *(view.weights[slot] for slot in kept)])

    def without(evaluated: Evaluated) -> Evaluated:
        own = evaluated.constant
        noisy = [*kept, *range(len(view.population), len(evaluated.noise))]  # the constant's is last, if any
        return replace(
            evaluated,
            hypotheses=tuple(evaluated.hypotheses[slot] for slot in kept),
            predictions=tuple(evaluated.predictions[slot] for slot in kept),
            weights=tuple(evaluated.weights[slot] / total for slot in kept),
            noise=tuple(evaluated.noise[slot] for slot in noisy) if evaluated.noise else (),
            constant=replace(own, weight=own.weight / total) if own else None,
            shares=(),
            branches=(),
        )

    evaluated = {split: without(each) for split, each in view.evaluations.items()}
    return tuple(view.weights[slot] / total for slot in kept), replace(view, evaluations=evaluated)


# --- what the template lacks -----------------------------------------------------------------------------------------


def _cells(dataset: Dataset, columns: Columns, programs: dict[str, Program]) -> Iterator[str]:
    """Lines for the columns that a program takes, and for reading their cells as the run read them."""
    needed = {alias for program in programs.values() for alias in program.columns}
    kinds = {column.name: column for column in dataset.columns}
    arguments = {alias: argument for alias, argument in columns.arguments.items() if alias in needed}
    read = {alias: _column(argument, kinds[argument.name]) for alias, argument in arguments.items()}
    yield _line("COLUMNS", read)
    yield _line("MISSING", sorted(MISSING))
    yield _line("ERRORS", sorted({"", *ERRORS}))
    yield from (_line(name, pattern.pattern) for name, pattern in PLAIN.items())
    is_formatted = any(column["notation"] for column in read.values())
    # Python 3.9 has no possessive quantifiers; they only save time.
    yield _line("FORMATTED", FORMATTED.pattern.replace("*+", "*") if is_formatted else "")
    yield _line("MINUS", MINUS if is_formatted else {})
    yield _line("SCALES", SCALES if is_formatted else {})
    yield _line("LONGEST", LONGEST)
    yield _line("FORMULA", FORMULA.pattern)


def _column(argument: Argument, column: Column) -> dict[str, Any]:
    notation, own = column.notation, None
    if notation:
        bodies = [
            (body.pattern, "".join(sorted(STANDS_FOR[grouping])))
            for (decimal, grouping), body in BODIES.items()
            if decimal == notation.decimal
        ]
        own = {"decimal": notation.decimal, "unit": notation.unit, "bodies": bodies, "is_scaled": notation.is_scaled}
    read = {"is_number": column.kind == "number", "words": column.kept_words, "notation": own}
    read |= {"missing": column.missing}
    return {"name": argument.name, "type": argument.type, **read}


def _rule(reject: RejectOption, constant: Constant | None, dataset: Dataset) -> Iterator[str]:
    yield _line("CLASSES", dataset.classes)
    yield _line("LARGEST", LARGEST)
    yield _line("VALUE_LENGTH", VALUE_LENGTH)
    answer: Any = constant.answer if constant else None
    if constant and dataset.classes:
        shares = dict(zip(dataset.classes, constant.shares, strict=True)) if constant.shares else {answer: 1.0}
        answer = shares
    yield _line("CONSTANT", answer)
    yield _line("CONSTANT_WEIGHT", constant.weight if constant else 0.0)
    yield _line("CLEAR", reject.clear)
    yield _line("TIE", TIE)
    threshold = reject.conformal.threshold if reject.conformal and dataset.classes else None
    yield "THRESHOLD = math.inf" if threshold == math.inf else _line("THRESHOLD", threshold)


def _functions(own: Sequence[tuple[dict[str, Any], Program]]) -> Iterator[str]:
    """own: what is known of each hypothesis, and its program."""
    lines: list[dict[str, Any]] = []
    for n, (record, program) in enumerate(own, 1):
        calculates = any(isinstance(node, ast.BinOp | ast.AugAssign) for node in ast.walk(ast.parse(program.code)))
        lines.append(record | {"columns": program.columns, "calculates": calculates})
        yield ""
        facts = ", ".join(filter(None, (percent(record["weight"]), prior_words(record["prior"]))))
        yield from _comment(f"{facts}: {record['text']}")
        yield _function(program, f"predict_{n}") + "\n"
    yield ""
    yield _line("HYPOTHESES", lines)
    yield f"PROGRAMS = ({', '.join(f'predict_{n}' for n in range(1, len(lines) + 1))},)"


def _function(program: Program, name: str) -> str:
    function = next(node for node in ast.parse(program.code).body if isinstance(node, ast.FunctionDef))
    function.name, function.returns = name, None
    for argument in function.args.args:
        argument.annotation = None
    if ast.get_docstring(function) is not None and len(function.body) > 1:
        del function.body[0]
    return ast.unparse(function)


def _comment(words: str) -> list[str]:
    return textwrap.wrap(one_line(words), WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)


def _line(name: str, value: object) -> str:
    """An assignment; strings are escaped as Python's `repr` does."""
    text = pformat(value, width=WIDTH, compact=True, sort_dicts=False)
    return f"{name} = (\n{textwrap.indent(text, '    ')}\n)" if "\n" in text else f"{name} = {text}"
