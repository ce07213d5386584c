"""Limits of size and shape that a program can count. Limits of size only fall."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from subprocess import check_output

import pytest

from vpp.cli.parser import build_parser

ROOT = Path(__file__).parents[1]
NO_OPENING = re.compile(
    r"(about|after|against|among|around|as|at|because|before|behind|below|beneath|beside|between|beyond|by|concerning"
    r"|during|for|from|how|if|in|inside|into|like|near|of|off|on|onto|out|outside|over|since|than|that|through|till|to"
    r"|toward|under|until|unless|upon|what|when|where|whether|which|while|who|whom|whose|why|with|within|without)\b",
    re.IGNORECASE,
)
"""Prepositions and relative words: a docstring opens with a verb, or with the noun it returns."""


@cache
def tracked_files(*patterns: str) -> tuple[Path, ...]:
    """Files under version control that match."""
    return tuple(ROOT / name for name in check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True).splitlines())


def product() -> tuple[Path, ...]:
    return tracked_files("app.py", "vpp/*.py", "pages/*.py")


def lines(paths: tuple[Path, ...]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """(File, node) of every node of these kinds in the product."""
    for path in product():
        for node in tree(path):
            if isinstance(node, kinds):
                yield str(path.relative_to(ROOT)), node


@cache
def tree(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Number of parameters but self and cls."""
    named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in named)


def methods(node: ast.ClassDef) -> int:
    return sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in node.body)


def over(kinds: tuple[type[ast.AST], ...], size: Callable[..., int], limit: int) -> list[str]:
    """Names of the nodes that are larger than the limit."""
    return [f"{path}: {node.name} has {size(node)}" for path, node in nodes(*kinds) if size(node) > limit]


def test_the_product_the_tests_and_the_docs_only_shrink() -> None:
    """A feature brings its own cut: lower a limit when you can, never raise one."""
    assert lines(product()) <= 28_837
    assert len(product()) <= 132
    assert lines(tracked_files("pages/*.py", "vpp/findings/*.py", "vpp/show/*.py", "vpp/reporting/*.py")) <= 10_443
    assert lines(tracked_files("tests/*.py")) <= 24_980
    assert sum(len(path.read_text("utf-8").split()) for path in tracked_files("docs/*.md")) <= 14_922
    assert sum(path.stat().st_size for path in tracked_files("assets/*.css")) <= 24_658
    assert lines(tracked_files("assets/*.js")) <= 435


def test_the_command_run_has_few_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build_parser().parse_args(["run", "--help"])
    assert len(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out))) <= 45


def test_functions_have_few_parameters() -> None:
    assert len(over((ast.FunctionDef, ast.AsyncFunctionDef), parameters, 6)) <= 5


def test_no_class_has_more_than_15_methods() -> None:
    assert over((ast.ClassDef,), methods, 15) == []


def test_modules_are_neither_tiny_nor_huge() -> None:
    sizes = {str(path.relative_to(ROOT)): lines((path,)) for path in product() if path.name != "__init__.py"}
    assert len([name for name, size in sizes.items() if size < 60]) <= 16
    assert [name for name, size in sizes.items() if size > 800] == []


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    documented = nodes(ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [(path, text) for path, node in documented if (text := ast.get_docstring(node))]
    opening = [f"{path}: {text[:60]}" for path, text in docstrings if NO_OPENING.match(text)]
    assert len(opening) < 30, "\n".join(opening)


def test_the_field_has_a_word_for_what_is_told() -> None:
    assert sum(len(re.findall(r"\btold\b", path.read_text("utf-8"), re.IGNORECASE)) for path in product()) < 20


def test_no_page_has_a_string_that_streamlit_would_draw() -> None:
    """A page's script draws each string that stands alone, unless it is the script's own docstring."""
    scripts = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
    alone = [
        f"{path.name}: {node.value.value}"
        for path in scripts
        for node in ast.parse(path.read_text("utf-8")).body[1:]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    assert alone == []
