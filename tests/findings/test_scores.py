import pytest

from tests.reporting.builders import NUMBERS, YES_NO, dataset, evaluated, view_of
from vpp.data.dataset import Dataset, Row
from vpp.findings.counts import label_cells
from vpp.findings.scores import LabelLine, averaged_score, baseline, by_label, ensemble, particle_scores
from vpp.problem import Prediction
from vpp.runs.asking import Answers, averages_asked


def test_the_averaged_vote_is_scored_with_its_weights() -> None:
    answers = {"a": ["yes", "yes", "no"], "b": ["yes", "no", "no"]}
    event = evaluated(YES_NO, answers, slots=("a", "b"), weights=(0.2, 0.8))
    assert averaged_score(event, YES_NO).n_correct == 3
    assert [s.n_correct for s in particle_scores(event, YES_NO)] == [2, 3]


def test_a_mean_squared_error_is_of_the_weighted_mean() -> None:
    event = evaluated(NUMBERS, {"a": [0.0, 2.0], "b": [2.0, 4.0]}, slots=("a", "b"), weights=(0.5, 0.5))
    assert averaged_score(event, NUMBERS).mse == 0
    assert [s.mse for s in particle_scores(event, NUMBERS)] == [1, 1]


@pytest.mark.parametrize("data", [YES_NO, NUMBERS], ids=["labels", "numbers"])
def test_of_five_runs_the_oracle_looks_at_the_test_rows_and_the_choice_at_the_training_rows(data: Dataset) -> None:
    on_test, on_train = ([row.target for row in rows] for rows in (data.test, data.train))
    wrong_test, wrong_train = ([None] * len(rows) for rows in (on_test, on_train))
    view = view_of(
        evaluated(data, {"a": wrong_test, "b": on_test, "c": wrong_test}, slots="abc"),
        evaluated(data, {"a": wrong_train, "b": wrong_train, "c": on_train}, slots="abc", split="train"),
    )
    runs = ensemble(view, data)
    assert runs is not None
    assert (runs.oracle.slot, runs.oracle.test.error) == (1, 0.0)
    assert (runs.best_on_train.slot, runs.best_on_train.test.error) == (
        2,
        particle_scores(view.evaluated["test"], data)[0].error,
    )
    assert ensemble(view_of(), data) is None


def test_the_baseline_of_labels_is_the_most_frequent_of_the_training_rows() -> None:
    data = dataset(["b", "b", "a"], ["a", "a", "b"])
    constant = baseline(data.test, data)
    assert (constant.answer, constant.score.n_correct) == ("b", 1)
    assert baseline(YES_NO.test, YES_NO).answer == "no", "a tie goes to the lowest"


def test_the_baseline_of_numbers_is_the_mean_of_the_training_targets() -> None:
    constant = baseline(NUMBERS.test, NUMBERS)
    assert constant.answer == pytest.approx(1.75)
    assert constant.score.mse == pytest.approx((0.75**2 + 1.25**2) / 2)


def test_a_tied_vote_on_new_rows_goes_to_the_first_label() -> None:
    said = [tuple(Prediction(row=i, value=label) for i in range(40)) for label in ("no", "yes")]
    asked = Answers(
        rows=tuple(Row(id=i, inputs=(), target=None) for i in range(40)),
        texts=("a", "b"),
        weights=(0.5, 0.5),
        predictions=tuple(said),
        task="classification",
        classes=("no", "yes"),
        target="y",
    )
    assert set(averages_asked(asked)) == {"no"}


# The test rows label by label

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
