import pytest

from tests.reporting.builders import YES_NO, dataset, drawn, evaluated, finished, reweighted, scored, started, view_of
from vpp.events import Event
from vpp.findings.ideas import Ideas, merge_ideas
from vpp.runs.view import RunView
from vpp.settings import Config

RIGHT = {"even": ["yes", "no", "no"], "sum is even": ["yes", "no", "no"], "always no": ["no", "no", "no"]}
SLOTS = ("even", "always no", "sum is even", "even")
WEIGHTS = (0.2, 0.1, 0.5, 0.2)


def ended(*events: Event, slots: tuple[str, ...] = SLOTS, weights: tuple[float, ...] = WEIGHTS) -> RunView:
    config = Config(particles=len(slots))
    return view_of(
        started(config, YES_NO),
        *drawn(*slots),
        finished(0, slots),
        finished(1, slots),
        reweighted(1, weights, role="final"),
        *events,
    )


def merged(view: RunView) -> Ideas:
    ideas = merge_ideas(view, YES_NO)
    assert ideas is not None
    return ideas


def on_test(answers: dict[str, list[str]] = RIGHT) -> Event:
    return evaluated(YES_NO, answers, slots=SLOTS, weights=WEIGHTS)


def test_equal_answers_are_one_idea_with_the_weights_summed() -> None:
    ideas = merged(ended(on_test()))
    assert [idea.weight for idea in ideas] == pytest.approx([0.9, 0.1])
    assert [idea.slots for idea in ideas] == [(0, 2, 3), (1,)]
    assert ideas.n_rows == 3


def test_the_heaviest_wording_stands_for_the_idea() -> None:
    """`sum is even` holds 0.5 in one slot, `even` 0.4 in two."""
    leading = merged(ended(on_test())).all[0]
    assert leading.text == "sum is even"
    assert [wording.text for wording in leading.wordings] == ["sum is even", "even"]
    assert [wording.weight for wording in leading.wordings] == pytest.approx((0.5, 0.4))


def test_a_difference_on_the_training_rows_alone_parts_two_ideas() -> None:
    on_train = {"even": ["yes"] * 4, "sum is even": ["yes", "yes", "yes", "no"], "always no": ["no"] * 4}
    view = ended(on_test(), evaluated(YES_NO, on_train, slots=SLOTS, weights=WEIGHTS, split="train"))
    ideas = merged(view)
    assert [[w.text for w in idea.wordings] for idea in ideas] == [["sum is even"], ["even"], ["always no"]]
    assert ideas.n_rows == 7


def test_before_an_evaluation_only_equal_texts_are_merged() -> None:
    ideas = merged(ended())
    assert [[w.text for w in idea.wordings] for idea in ideas] == [["sum is even"], ["even"], ["always no"]]
    assert ideas.n_rows == 0
    assert ideas.all[0].test is None


def test_an_evaluation_of_an_earlier_population_is_not_used_for_new_texts() -> None:
    slots = ("even", "brand new", "sum is even", "even")
    view = ended(evaluated(YES_NO, RIGHT, slots=SLOTS, step=0), slots=slots)
    assert merged(view).n_rows == 0


def test_a_label_is_never_a_number() -> None:
    data = dataset(["1", "1.0"], ["1", "1.0"])
    slots = ("one", "one point zero")
    answers = {"one": ["1", "1"], "one point zero": ["1.0", "1.0"]}
    view = view_of(started(Config(particles=2), data), *drawn(*slots), evaluated(data, answers, slots=slots, step=-1))
    ideas = merge_ideas(view, data)
    assert ideas is not None
    assert len(ideas) == 2


def test_before_an_evaluation_ideas_are_told_apart_on_the_rows_that_a_step_asked_all_about() -> None:
    answers: dict[str, dict[int, str | float | None]] = {
        "a": {0: "yes", 1: "no", 2: "no"},
        "b": {0: "yes", 1: "no"},
        "c": {0: "no", 1: "no"},
    }
    view = view_of(
        started(Config(particles=3), YES_NO),
        *drawn("a", "b", "c"),
        *(scored(0, k, text, said) for k, (text, said) in enumerate(answers.items())),
    )
    ideas = merged(view)
    assert (ideas.by, ideas.rows, ideas.n_test_rows) == ("step", (0, 1), 0)
    assert [idea.slots for idea in ideas] == [(0, 1), (2,)]
    assert [idea.compared.n_correct for idea in ideas if idea.compared] == [2, 1]
    assert ideas.all[0].test is None
