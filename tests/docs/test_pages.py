"""README and docs: links, commands, labels, records and versions are those of the product, and the examples run."""

import re
import shlex
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import vpp
from tests import inspected
from tests.docs import records
from tests.pictures import PRINTS
from vpp.cli.parser import build_parser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
PAGES = {page.stem: page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
LABELLED = ("README", "guide")
"""Pages whose bold words are the app's labels."""
MOST_BYTES = 2_500_000
"""Most bytes of all pictures together: each clone of the code contains them."""
SAYS = ("pages/**/*.py", "vpp/**/*.py", "assets/*.js")
SPEAK_FOR_THEMSELVES = {"step", "particle", "row", "prediction", "explanation", "question", "attempts",
                        "prompt_tokens", "completion_tokens"}  # fmt: skip


def slug(title: str) -> str:
    """Return a heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_to_a_file_and_its_section(page: str) -> None:
    for target, place in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", TEXTS[page]):
        other = PAGES[page].parent / target if target else PAGES[page]
        assert other.exists(), target
        titles = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.M) if place else ()
        assert not place or place in map(slug, titles), f"{target}#{place}"


def test_pictures_have_words_and_are_those_that_are_made_and_small() -> None:
    pictures = [found for text in TEXTS.values() for found in re.findall(r"!\[([^\]]*)\]\(.*pictures/([^)]+)\)", text)]
    assert [file for alt, file in pictures if len(alt.split()) < 5] == []
    there = {path.name: path.stat().st_size for path in PICTURES.iterdir()}
    assert set(there) == {file for _, file in pictures} == {"calibration.svg", *(f"{each.name}.png" for each in PRINTS)}
    assert sum(there.values()) < MOST_BYTES


@pytest.mark.parametrize("page", PAGES)
def test_a_command_is_one_that_the_program_takes_and_a_make_target_exists(page: str) -> None:
    for command in re.findall(r"^    python -m vpp (.+)$", TEXTS[page].replace("\\\n", " "), re.M):
        words = shlex.split(command, comments=True)
        if "--help" not in words:
            build_parser().parse_args(words)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"(?:`|^    )make ([\w-]+)", TEXTS[page], re.M)) <= set(targets)


def test_every_command_is_in_the_readme() -> None:
    actions = build_parser()._subparsers._group_actions  # type: ignore[union-attr]
    assert [command for command in actions[0].choices if f"`{command}`" not in TEXTS["README"]] == []  # type: ignore[union-attr]


@pytest.mark.parametrize("page", LABELLED)
def test_what_the_app_calls_a_thing_is_what_it_calls_it(page: str) -> None:
    said = " ".join(path.read_text(encoding="utf-8") for pattern in SAYS for path in ROOT.glob(pattern))
    bold = " → ".join(re.findall(r"\*\*([^*]+)\*\*", TEXTS[page])).replace("\n", " ")
    assert [words for words in bold.split(" → ") if words not in said.replace("\u2002", " ")] == []


def test_a_page_has_the_part_that_is_made_from_the_code_whose_fields_have_words() -> None:
    for page, part in records.PARTS.items():
        assert records.page_part(page) == part(), f"{page}: run python -m tests.docs.records"
    assert set(re.findall(r"^- `(\w+)`$", records.lists(), re.MULTILINE)) <= SPEAK_FOR_THEMSELVES


def test_every_dependency_is_pinned_and_earns_a_line() -> None:
    for name in ("app.in", "dev.in", "tools.in"):
        for line in (ROOT / ".ci" / "pins" / name).read_text(encoding="utf-8").splitlines():
            if not line.startswith(("-r", "-c", "#")):
                package, _, version = line.partition("==")
                assert version, f"{name}: {line} is not pinned"
                assert f"| {package.partition('[')[0]} |" in TEXTS["dependencies"], package


def test_servers_that_are_replayed_are_those_of_the_zoo() -> None:
    named = re.findall(r"^\| \[?([^|(\]]+).*replayed", TEXTS["endpoints"], re.MULTILINE)
    zoo = {path.stem for path in (ROOT / "tests" / "llm" / "replies").glob("*.json")} - {"any server"}
    assert sorted(name.split(" proxy")[0].replace(" ", "").lower() for name in named) == sorted(zoo)


def test_the_version_is_one() -> None:
    assert f"## [{vpp.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {vpp.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def example(head: str) -> str:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(head)[1].split("\n## ")[0]
    return "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {}

    def fit(data: str, **options: str) -> vpp.Posterior:
        given.update(options, data=data)
        return vpp.load_run(inspected.labels(tmp_path).directory.path)

    monkeypatch.setattr(vpp, "fit", fit, raising=False)
    exec(compile(example("## From Python"), "README.md", "exec"), {})
    assert given == {"data": "assets/examples/penguins.csv", "target": "species", "endpoint": "demo"}
    assert (ROOT / given["data"]).exists()
    assert inspected.EVEN in capsys.readouterr().out


def test_the_estimator_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    fewer = example("## From scikit-learn").replace("train_size=80", "train_size=60, test_size=30")
    exec(compile(fewer, "README.md", "exec"), names)
    always = names["y_test"].value_counts(normalize=True).max()
    assert names["model"].score(names["X_test"], names["y_test"]) > always


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VPP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs stay out of the repository"
    for cell in notebook.cells:
        cell.source = cell.source.replace("particles=6", "particles=2, train_size=20, test_size=10")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    kinds = [kind for out in outputs for kind in out.get("data", {})]
    assert kinds.count("text/markdown") == 3, "posteriors"
    assert "text/html" in kinds, "frames"
    printed = "".join(out.get("text", "") for out in outputs)
    assert all(words in printed for words in ("step -1:", "step/s", "answer/s")), "bars of a fit and of a question"
    assert "['Gentoo']" in str(notebook.cells)
