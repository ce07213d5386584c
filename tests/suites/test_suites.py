"""Suites of tables with known rules: reading the rules, choosing rows that tell them apart, and a whole command."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.suites.__main__ import main
from tests.suites.discovery import MOST, probes
from tests.suites.rules import Case, Condition, TrueRule, read_rule, read_sentences
from tests.suites.suite import read_suite
from vpp.errors import InputError

GRADES = ("A", "B", "C", "D", "F")
SENTENCE = "Students with A in Math and at least one publication will be admitted, otherwise rejected"
VALUES = {
    "math": GRADES,
    "num_publications": ("0", "1", "2", "3", "4"),
    "applied_major": ("Arts", "Science", "Medicine"),
    "science": GRADES,
    "attendance_rate": tuple(map(str, range(80, 101))),
    "legacy_status": ("False", "True"),
    "criminal_record": ("False", "True"),
}


@pytest.mark.parametrize(
    ("clause", "column", "op", "value"),
    [
        ("they have an F in Math", "math", "in", ("F",)),
        ("their Science grade is A or B", "science", "in", ("A", "B")),
        ("they have more than 3 publications", "num_publications", ">", 3.0),
        ("at least one publication", "num_publications", ">=", 1.0),
        ("they have 0 publications", "num_publications", "=", 0.0),
        ("their attendance rate is less than or equal to 85%", "attendance_rate", "<=", 85.0),
        ("they applied to Science, Medicine, or Engineering", "applied_major", "in", ("Science", "Medicine")),
        ("they applied to a major other than Arts", "applied_major", "not in", ("Arts",)),
        ("they are NOT a legacy student", "legacy_status", "=", "False"),
        ("they have no criminal record", "criminal_record", "=", "False"),
        ("they are a legacy student", "legacy_status", "=", "True"),
    ],
)
def test_a_clause_is_read_as_a_condition(clause: str, column: str, op: str, value: Any) -> None:
    rule = read_sentences([f"A student will be admitted if {clause}."], VALUES, ["admitted", "rejected"])
    assert rule == TrueRule(
        cases=(Case(conditions=(Condition(column=column, op=op, value=value),), label="admitted"),),
        otherwise=Case(label="rejected"),
    )


def test_several_sentences_are_alternatives_of_conditions_that_must_all_hold() -> None:
    more = "A student will be admitted if they applied to Arts, AND their attendance rate is greater than 95%."
    rule = read_sentences([SENTENCE, more], VALUES, ["admitted", "rejected"])
    assert rule is not None
    cells: dict[str, str | None] = {"math": "B", "num_publications": "1", "applied_major": "Arts"}
    assert [rule.answer({**cells, "attendance_rate": rate}) for rate in ("95", "96")] == ["rejected", "admitted"]
    assert rule.answer({**cells, "math": "A", "attendance_rate": "80"}) == "admitted"


@pytest.mark.parametrize("sentence", ["Good students will be admitted", "Rich people win", "A in Math"])
def test_a_sentence_that_names_no_column_value_or_label_is_not_read(sentence: str) -> None:
    assert read_sentences([sentence], VALUES, ["admitted", "rejected"]) is None


def test_a_program_answers_by_its_first_case_or_by_a_cell() -> None:
    cases = [
        {"if": [{"column": "n", "op": ">=", "value": 2}, {"column": "c", "op": "not in", "value": ["x"]}], "then": "a"},
        {"if": [{"column": "c", "op": "!=", "value": "y"}], "then": {"column": "c"}},
    ]
    rule = read_rule({"cases": cases, "otherwise": "b"})
    rows = [{"n": "2.0", "c": "z"}, {"n": "2", "c": "x"}, {"n": "1", "c": "y"}, {"n": None, "c": "w"}]
    assert ([rule.answer(row) for row in rows], rule.columns) == (["a", "x", "b", "w"], ("n", "c"))


def rows_of(n: int) -> list[tuple[str, int, str]]:
    """Rows of a grade, a number and the label that SENTENCE gives them."""
    rows = [(GRADES[i * 7 % 5], i % 4) for i in range(n)]
    return [(math, n, "admitted" if math == "A" and n >= 1 else "rejected") for math, n in rows]


def suite(folder: Path, **entry: Any) -> Path:
    """A suite of one table, `admission_deep`."""
    folder.mkdir(exist_ok=True)
    for part, n in (("train", 60), ("test", 40)):
        lines = ["math,num_publications,label", *(f"{a},{b},{c}" for a, b, c in rows_of(n))]
        (folder / f"admission_deep_{part}.csv").write_text("\n".join(lines))
    features = {"math": "Grade in Mathematics", "publications": {"description": "Number of published papers"}}
    (folder / "truth.json").write_text(json.dumps({"deep": {"features": features, "truth": [SENTENCE], **entry}}))
    return folder


def test_a_suite_gives_each_table_its_rule_and_its_descriptions(tmp_path: Path) -> None:
    table = read_suite(suite(tmp_path / "s"))["admission_deep"]
    assert table.rule is not None
    assert (table.target, table.rule.columns) == ("label", ("math", "num_publications"))
    dataset = table.dataset(seed=0, train_size=20, test_size=30)
    assert (len(dataset.train), len(dataset.test)) == (20, 30)
    assert dict(dataset.descriptions.columns) == {
        "math": "Grade in Mathematics",
        "num_publications": "Number of published papers",
    }


@pytest.mark.parametrize("truth", ["Bright students will be admitted", "Students with an F in Math will be admitted"])
def test_a_truth_that_is_not_understood_or_does_not_fit_is_refused_before_any_call(truth: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="add a program"):
        main([str(suite(tmp_path / "s", truth=[truth])), "--demo", "-o", str(tmp_path / "out")])


def test_every_combination_is_tried_with_several_other_cells(tmp_path: Path) -> None:
    dataset = read_suite(suite(tmp_path / "s"))["admission_deep"].dataset(seed=0, train_size=50, test_size=40)
    rule = read_rule({"cases": [{"if": [{"column": "math", "op": "=", "value": "A"}], "then": "y"}], "otherwise": "n"})
    rows = probes(rule, dataset)
    assert Counter(dict(row.inputs)["math"] for row in rows) == dict.fromkeys(GRADES, 5)
    assert {row.target for row in rows if dict(row.inputs)["math"] == "A"} == {"y"}
    assert len({row.inputs for row in rows}) > 5
    assert min(row.id for row in rows) == dataset.next_id


def test_too_many_combinations_are_drawn_with_equal_numbers_of_each_answer(tmp_path: Path) -> None:
    folder, names = tmp_path / "s", [f"g{i}" for i in range(6)]
    folder.mkdir()
    lines = [",".join([*names, "label"])]
    lines += [
        ",".join([*(GRADES[i // 5 ** (j % 3) % 5] for j in range(6)), "yes" if i % 2 else "no"]) for i in range(60)
    ]
    for part in ("train", "test"):
        (folder / f"t_{part}.csv").write_text("\n".join(lines))
    conditions = [{"column": name, "op": "=", "value": "A"} for name in names]
    program = {
        "cases": [{"if": conditions[:4], "then": "yes"}, {"if": conditions[4:], "then": "yes"}],
        "otherwise": "no",
    }
    (folder / "metadata.json").write_text(json.dumps({"features": {}, "program": program}))
    table = read_suite(folder)["t"]
    assert table.rule is not None
    rows = probes(table.rule, table.dataset(seed=0, train_size=50, test_size=50))
    assert (len(rows), len({row.inputs for row in rows})) == (MOST, MOST)
    assert Counter(row.target for row in rows) == {"yes": MOST // 2, "no": MOST // 2}
    near = [row for row in rows if row.target == "no" and [cell for _, cell in row.inputs[:4]].count("A") == 3]
    assert len(near) >= 5  # a rule that leaves out one condition is caught


def test_a_table_of_texts_has_no_rule(tmp_path: Path) -> None:
    texts = [f"{'a fine' if i % 2 else 'a dull'} story of {i} words, told at length and number {i}" for i in range(60)]
    lines = ["said,label", *(f'"{text}",{"yes" if i % 2 else "no"}' for i, text in enumerate(texts))]
    for part in ("train", "test"):
        (tmp_path / f"t_{part}.csv").write_text("\n".join(lines))
    (tmp_path / "truth.json").write_text(json.dumps({"t": {"truth": ["Fine stories are liked"]}}))
    table = read_suite(tmp_path)["t"]
    assert table.rule is None


def test_a_suite_runs_and_judges_the_heaviest_idea_by_its_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--demo", "--seeds", "1", "--train-size", "20", "--test-size", "10", "--epochs", "1"]
    for _ in range(2):  # the second time nothing is run again
        main([str(suite(tmp_path / "s")), "-o", str(tmp_path / "out"), *words])
        assert "| admission_deep | 1 |" in capsys.readouterr().out
    [cell] = json.loads((tmp_path / "out" / "results.json").read_text())
    assert (cell["truth"], cell["combinations"]) == ([SENTENCE], 20)
    assert cell["rule_found"] == (cell["answered_alike"] == 20)
    assert set(cell["baselines"]) == {"constant", "linear", "tree"}
