from tests.reporting.builders import NUMBERS, YES_NO, evaluated
from vpp.data.dataset import Row
from vpp.findings.scores import averaged_score
from vpp.problem import Prediction
from vpp.runs.asking import Answers, averages_asked


def test_the_averaged_vote_is_scored_with_its_weights() -> None:
    answers = {"a": ["yes", "yes", "no"], "b": ["yes", "no", "no"]}
    event = evaluated(YES_NO, answers, slots=("a", "b"), weights=(0.2, 0.8))
    assert averaged_score(event, YES_NO).n_correct == 3


def test_a_mean_squared_error_is_of_the_weighted_mean() -> None:
    event = evaluated(NUMBERS, {"a": [0.0, 2.0], "b": [2.0, 4.0]}, slots=("a", "b"), weights=(0.5, 0.5))
    assert averaged_score(event, NUMBERS).mse == 0


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
