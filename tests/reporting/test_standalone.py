"""posterior.py beside the product: the same values of cells, the same predictions, the same rows without an answer."""

import ast
import asyncio
import builtins
import csv
import io
import math
import re
import runpy
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import inspected
from tests.inference.scripted import SEED_TEXT, Script, index_of, make_problem, uniformly, whole
from tests.reporting import builders
from vpp.data.columns import read_cell
from vpp.data.dataset import Column, Dataset, Row
from vpp.data.numbers import Notation
from vpp.data.text import clean
from vpp.errors import InputError
from vpp.events import RunFinished, RunStarted
from vpp.findings.points import points, reject_option
from vpp.llm.translator import prediction_of
from vpp.posterior.prediction import Mixture
from vpp.programs.columns import Columns, cell_value
from vpp.programs.sandbox import Sandbox
from vpp.programs.source import read_program, strict_fault
from vpp.reporting.standalone import standalone
from vpp.runs.directory import RunReader
from vpp.settings import Config

ODD_NAME = 'the "odd"\n\'\'\' """ \\ \u2028 {town} column'
ODD = "the_odd_town_column"
EURO = Notation(decimal=",", unit="€")
COLUMNS = (
    Column(name="age", kind="number", n_missing=1, n_distinct=20),
    Column(name="town", kind="category", n_missing=0, n_distinct=3, kept_words=("None",)),
    Column(name="items", kind="number", n_missing=0, n_distinct=8),
    Column(name=ODD_NAME, kind="number", n_missing=0, n_distinct=30, notation=EURO),
    Column(name="note", kind="text", n_missing=0, n_distinct=30),
)
TOWNS = ("Rome", "None", 'it\'s "Ba\u2028ri"')
LABELS = ("=no", "maybe", "y'e\"s")
CODES = {
    "classification": (
        'def predict(age):\n    return "=no" if age > 9 else "maybe"',
        f'def predict({ODD}):\n    if {ODD} >= 40.5:\n        return "y\'e\\"s"\n    return "maybe"',
        'def predict(town, age):\n    return "maybe" if town == "None" or age and age < 12 else "=no"',
        'def predict(items):\n    return "=no" if items > 4 else "y\'e\\"s"',
        'def predict(items, town):\n    "A \\"\\"\\" doc."\n    return "maybe" if items < len(town) else "no label"',
        'def predict():\n    return "maybe"',
    ),
    "regression": (
        "def predict(age):\n    return age * 2 if age is not None else -1",
        f"import math\ndef predict({ODD}):\n    return math.sqrt({ODD}) - 3",
        'def predict(town, age):\n    return 4 if town == "None" else age + 0.1',
        "def predict(items):\n    return items / (items - 2)",
        "def predict(items):\n    return max(items, 3)",
        "def predict():\n    return True",
    ),
}
"""One for each hypothesis in turn; some fail on some rows, or give no label."""
REFUSED = "def predict(town):\n    return town.format(town)"
ASKING = 'def predict(note):\n    return "maybe" if ask("is it so?", note) else "=no"'


def table(task: str, *, calibration: int = 0) -> Dataset:
    places = range(40 + calibration)
    cells = {
        "age": [None if i % 9 == 4 else str(i * 7 % 23) for i in places],
        "town": [TOWNS[i % 3] for i in places],
        "items": [str(i * 3 % 8) for i in places],
        ODD_NAME: [f"{i * 1.5 + 20:.2f}" for i in places],
        "note": [f"note {i}" for i in places],
    }
    ages = [int(age or 0) for age in cells["age"]]
    labels = [LABELS[2] if i % 8 == 3 else LABELS[age <= 9] for i, age in enumerate(ages)]
    numbers = [age + i * 37 % 29 / 2 for i, age in enumerate(ages)]
    given = {column.name: (column.kind, cells[column.name]) for column in COLUMNS}
    data = builders.table(given, labels if task == "classification" else numbers, n_train=24)
    parts = {"test": data.test[:16], "calibration": data.test[16:]}
    return replace(data, columns=(*COLUMNS, data.columns[-1]), **parts)  # type: ignore[arg-type]


def product_answers(data: Dataset, codes: tuple[str, ...]) -> dict[tuple[int, int], Any]:
    columns = Columns(data)

    async def answers() -> dict[tuple[int, int], Any]:
        found = {}
        async with Sandbox() as sandbox:
            for place, code in enumerate(codes):
                program = read_program(code, columns.aliases, columns.texts)
                cells = [columns.cells(row, program.columns) for row in data.labelled]
                given = await sandbox.run(program, cells)
                for row, each in zip(data.labelled, given, strict=True):
                    found[place, row.id] = prediction_of(row, each, program, data).value
        return found

    return asyncio.run(answers())


SMALL: dict[str, Any] = {"epsilon": "auto", "particles": 5, "batch_size": 6, "epochs": 1, "buffer_size": 12}
RUNS: dict[str, tuple[str, Config, int, set[bool]]] = {
    "labels": ("classification", Config(**SMALL), 0, {True, False}),
    "a vote": ("classification", Config(**{**SMALL, "epsilon": "0.1"}), 0, {False}),
    "vml": ("classification", Config(**SMALL, method="vml"), 0, {True}),
    "calibrated": ("classification", Config(**SMALL, coverage=0.5), 20, {True, False}),
    "too few to calibrate": ("classification", Config(**SMALL, coverage=0.9), 3, {True}),
    "cheap doubt": ("classification", Config(**SMALL, abstention_cost=0.05), 0, {True}),
    "numbers": ("regression", Config(**SMALL), 0, {False}),
    "numbers, mh": ("regression", Config(**SMALL, method="mh"), 0, {False}),
}
"""Task, options, calibration rows, and whether test rows are undecided."""


@pytest.fixture(scope="module")
def run_named(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Make a finished run, once a module. changes: codes by place; None if there is no program."""

    @cache
    def make(name: str, *changes: tuple[int, str | None]) -> RunReader:
        task, config, calibration, _ = RUNS[name]
        data, codes = table(task, calibration=calibration), CODES[task]
        known = product_answers(data, codes)

        def answer(text: str, row: Row, *, task: str) -> Any:
            return known[index_of(text) % len(codes), row.id]

        def anew(text: str, rows: Any, predictions: Any, temperature: float, seed: int) -> tuple[str, str]:
            return uniformly(temperature, seed)

        problem = make_problem(config, Script(task=task, answer=answer, write=anew), dataset=data)
        events, end = asyncio.run(whole(problem, config))
        begun: RunStarted = replace(builders.started(config, data, steps=problem.steps), seed_text=SEED_TEXT)
        finished = RunFinished(outcome="finished")
        folder = tmp_path_factory.mktemp("run")
        reader = builders.run(folder, begun, *events, *end, finished, data=data, config=config)
        own = dict(changes)
        places = {text: index_of(text) % len(codes) for text in reader.refresh().view.texts.values()}
        inspected.translate(reader, {text: own.get(place, codes[place]) for text, place in places.items()})
        return reader

    return make


def csv_of(rows: Any, names: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows([cell or "" for _, cell in row.inputs] for row in rows)
    return text.getvalue()


def bare(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the standard library alone."""
    return subprocess.run(["python3", "-I", *arguments], cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", RUNS)
def test_the_file_predicts_each_test_row_as_the_product_does(name: str, run_named: Any, tmp_path: Path) -> None:
    reader: RunReader = run_named(name)
    found, data, view = standalone(reader), reader.dataset(), reader.refresh().view
    assert found.left_out == ()
    (tmp_path / "posterior.py").write_bytes(found.content)
    (tmp_path / "new.csv").write_text(csv_of(data.test, data.inputs), "utf-8")
    done = bare(tmp_path, "posterior.py", "new.csv")
    assert (done.returncode, done.stderr) == (0, "")
    written = (tmp_path / "predictions.csv").read_bytes().decode()
    head, *lines = list(csv.reader(io.StringIO(written, newline="")))
    assert head[: len(data.inputs)] == list(data.inputs)
    test = view.evaluations["test"]
    _, config, _, undecided = RUNS[name]
    reject = reject_option(view, config, data, of=test)
    by_row = {point.row.id: point for point in points(test, data, reject)}
    for line, row, averaged in zip(lines, test.rows, test.averaged, strict=True):
        point = by_row[row]
        said = line[len(data.inputs)]
        if not data.classes:
            assert averaged is not None
            assert math.isclose(float(said), float(averaged), rel_tol=1e-12)
            continue
        assert said.removeprefix("'") == (point.decision or "")
        assert not said.startswith("=")
        assert math.isclose(float(line[-1]), dict(point.shares)[str(averaged)], rel_tol=1e-5)
    assert {point.is_undecided for point in by_row.values()} == undecided


def module(content: bytes, folder: Path) -> dict[str, Any]:
    path = folder / "posterior.py"
    path.write_bytes(content)
    return runpy.run_path(str(path))


def test_a_cell_has_the_value_that_the_product_gives_it(run_named: Any, tmp_path: Path) -> None:
    data, every = table("classification"), range(len(CODES["classification"]))
    code = f"def predict({', '.join(Columns(data).aliases)}):\n    return 'maybe'"
    content = standalone(run_named("labels", *((place, code) for place in every)))
    own = module(content.content, tmp_path)
    columns, by_name = Columns(data), {column.name: column for column in data.columns}
    assert set(own["COLUMNS"]) == set(columns.aliases)
    for row in data.labelled:
        for alias, (name, cell) in zip(columns.aliases, row.inputs, strict=True):
            assert own["cell_of"](cell, own["COLUMNS"][alias]) == columns.cells(row, [alias])[0], name

    marks = st.text(st.sampled_from("0123456789.,-–−+ e€%()[];'\u202f\u2009NAne?"), max_size=12)
    usual = st.sampled_from(["1.234,50 €", "(1.234 €)", "€ 5", "12,5", "1 234,5", "1,5e3 €", "None", "NA", "3-4-5"])
    unseen = st.sampled_from(["a\u00a0b", "\u200b5", "1\u00a0234"])
    bodies = st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{3})*(,[0-9]+)?( ?€)?", fullmatch=True)

    @given(text=marks | usual | unseen | bodies | st.text(max_size=9))
    def check(text: str) -> None:
        for alias, argument in columns.arguments.items():
            cell = read_cell(clean(text), by_name[argument.name])
            assert own["cell_of"](text, own["COLUMNS"][alias]) == cell_value(cell, argument.type)

    check()


def test_what_cannot_be_in_the_file_is_named_with_its_weight_and_the_rest_is_rescaled(
    run_named: Any, tmp_path: Path
) -> None:
    reader = run_named("calibrated", (0, REFUSED), (3, None))
    found, view, data = standalone(reader), reader.refresh().view, reader.dataset()
    out = {each.text: each for each in found.left_out}
    weights: dict[str, float] = {}
    for particle, weight in zip(view.population, view.weights, strict=True):
        text = view.texts[particle.hypothesis]
        weights[text] = weights.get(text, 0.0) + weight
    assert {text: each.weight for text, each in out.items()} == pytest.approx({t: weights[t] for t in out})
    assert {each.reason for each in found.left_out} >= {
        "its program must stay in the sandbox: line 2: the call of format like this is not allowed"
    }
    own = module(found.content, tmp_path)
    kept = {each["text"]: each for each in own["HYPOTHESES"]}
    assert set(kept) == set(weights) - set(out)
    assert sum(each["weight"] for each in kept.values()) + own["CONSTANT_WEIGHT"] == pytest.approx(1)
    test = view.evaluations["test"]
    noise = tuple(each["noise"] for each in kept.values())
    shares = (*(each["weight"] for each in kept.values()), own["CONSTANT_WEIGHT"])
    mixture = Mixture(weights=shares, classes=data.classes, noise=noise, constant=own["CONSTANT"])
    votes = {view.texts[h]: said for h, said in zip(test.hypotheses, test.predictions, strict=True)}
    for at, row in enumerate(data.test):
        mine, answers = own["predict"](dict(row.inputs)), [votes[text][at] for text in kept]
        assert mine["probabilities"] == pytest.approx(mixture.shares(answers))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (REFUSED, "the call of format like this is not allowed"),
        (ASKING, "it asks the model about a text"),
        (None, "no program can follow it"),
    ],
)
def test_a_run_without_any_program_for_the_file_is_refused_in_one_line(
    run_named: Any, code: str | None, reason: str
) -> None:
    with pytest.raises(InputError, match=re.escape(reason)) as error:
        standalone(run_named("labels", *((place, code) for place in range(6))))
    assert "\n" not in str(error.value)


HOSTILE = (
    'You "predict".\n\'\'\'"""\nimport os\n# x',
    "a \u2028import os\u2029 b \r\x0c\x0b\x1c\x85import os\x00\x1b[31m",
    "back\\slash \\N{BULLET} \\u0041 \u202e{run}",
    "# DATA\n%s {0} $x",
)


def test_texts_stand_in_the_file_as_they_are_and_nothing_of_them_runs(tmp_path: Path) -> None:
    data = replace(table("classification"), target=HOSTILE[1])
    data = replace(data, columns=(*data.columns[:-1], replace(data.columns[-1], name=HOSTILE[1])))
    events = [builders.started(Config(particles=4), data), *builders.drawn(*HOSTILE)]
    reader = builders.run(tmp_path / "run", *events, data=data, config=Config(particles=4))
    codes = (*CODES["classification"][1:3], CODES["classification"][4])
    inspected.translate(reader, dict(zip(HOSTILE, (*codes, None), strict=True)))
    content = standalone(reader).content
    own = module(content, tmp_path)
    assert [each["text"] for each in own["HYPOTHESES"]] == list(HOSTILE[:3])
    names = {column["name"] for column in own["COLUMNS"].values()}
    assert names == {"age", "town", "items", ODD_NAME}
    tree = ast.parse(content, feature_version=(3, 9))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert imported == ["csv", "io", "math", "os", "re", "sys"]
    # The functions are those that passed the check, and no name that a program may call means another thing here.
    programs = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("predict_")]
    for node, code in zip(programs, codes, strict=True):
        node.name = "predict"
        again = replace(read_program(code, Columns(data).aliases), code=ast.unparse(node))
        assert strict_fault(again) is None
    assert not own.keys() & set(dir(builtins)) - {"__doc__", "__name__", "__loader__", "__spec__", "__package__"}


def test_another_delimiter_and_encoding_are_read(run_named: Any, tmp_path: Path) -> None:
    (tmp_path / "posterior.py").write_bytes(standalone(run_named("numbers", (1, CODES["regression"][4]))).content)
    lines = [["age ", "note", "town", "items", "prediction"], ["12", "café; x", "None", "5", "7"], [], ["12"]]
    content = io.StringIO()
    csv.writer(content, delimiter=";").writerows(lines)
    (tmp_path / "new.csv").write_bytes(content.getvalue().encode("cp1252"))
    done = bare(tmp_path, "posterior.py", "new.csv")
    assert (done.returncode, done.stdout) == (0, "predictions.csv: 2 rows, 0 of them without an answer\n"), done.stderr
    head, first, second = csv.reader(io.StringIO((tmp_path / "predictions.csv").read_text("utf-8"), newline=""))
    assert head == ["age", *lines[0][1:], "prediction_"]
    assert (first[:-1], second[:-1]) == (lines[1], ["12", "", "", "", ""])
