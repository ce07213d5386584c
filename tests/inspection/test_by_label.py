"""The test rows label by label."""

from tests.reporting.builders import dataset, evaluated
from vpp.inspection.scores import LabelLine, by_label
from vpp.wording.counts import label_cells

DATA = dataset(["a", "b", "c", "a"], ["a", "a", "a", "b", "b"])


def test_each_label_has_its_rows_and_its_commonest_mistake() -> None:
    test = evaluated(DATA, {"one": ("a", "c", None, "b", "b")}, slots=("one",))
    assert by_label(test, DATA) == (
        LabelLine(label="a", n=3, n_correct=1, mistaken=(None, 1), n_trained=2),
        LabelLine(label="b", n=2, n_correct=2, mistaken=None, n_trained=1),
        LabelLine(label="c", n=0, n_correct=0, mistaken=None, n_trained=1),
    )
    assert label_cells(by_label(test, DATA)) == [
        ("a", "2", "3", "1", "33\N{NO-BREAK SPACE}%", "no answer (1)"),
        ("b", "1", "2", "2", "100\N{NO-BREAK SPACE}%", ""),
        ("c", "1", "0", "0", "–", ""),
    ]


def test_two_labels_and_numbers_need_no_table() -> None:
    two = dataset(["a", "b"], ["a", "b"])
    numbers = dataset([1.0, 2.0], [1.0, 2.0])
    assert by_label(evaluated(two, {"one": ("a", "b")}, slots=("one",)), two) == ()
    assert by_label(evaluated(numbers, {"one": (1.0, 2.0)}, slots=("one",)), numbers) == ()
    assert by_label(None, DATA) == ()
