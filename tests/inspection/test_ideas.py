import pytest

from tests.reporting.builders import NUMBERS, YES_NO, dataset, drawn, evaluated, finished, reweighted, started, view_of
from vpp.events import Event
from vpp.inspection.ideas import Idea, Ideas, merge_ideas
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


def merged(view: RunView, step: int | None = None) -> Ideas:
    ideas = merge_ideas(view, YES_NO, step=step)
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
    assert leading.texts == ("sum is even", "even")
    assert leading.text_weights == pytest.approx((0.5, 0.4))


def test_a_difference_on_the_training_rows_alone_parts_two_ideas() -> None:
    on_train = {"even": ["yes"] * 4, "sum is even": ["yes", "yes", "yes", "no"], "always no": ["no"] * 4}
    view = ended(on_test(), evaluated(YES_NO, on_train, slots=SLOTS, weights=WEIGHTS, split="train"))
    ideas = merged(view)
    assert [idea.texts for idea in ideas] == [("sum is even",), ("even",), ("always no",)]
    assert ideas.n_rows == 7


def test_before_an_evaluation_only_equal_texts_are_merged() -> None:
    ideas = merged(ended())
    assert [idea.texts for idea in ideas] == [("sum is even",), ("even",), ("always no",)]
    assert ideas.n_rows == 0
    assert ideas.n_texts == 3
    assert ideas.all[0].n_test is None


def test_an_evaluation_of_an_earlier_population_is_not_used_for_new_texts() -> None:
    slots = ("even", "brand new", "sum is even", "even")
    view = ended(evaluated(YES_NO, RIGHT, slots=SLOTS, step=0), slots=slots)
    assert merged(view).n_rows == 0


def test_each_idea_knows_how_many_test_rows_it_gets_right() -> None:
    leading, other = merged(ended(on_test()))
    assert (leading.n_correct_test, leading.n_test) == (3, 3)
    assert (other.n_correct_test, other.n_test, other.mse_test) == (2, 3, None)


def test_an_abstention_is_wrong_and_counted() -> None:
    answers = {"even": ["yes", None, "no"], "sum is even": ["yes", "no", "no"], "always no": ["no", "no", "no"]}
    idea = next(idea for idea in merged(ended(on_test(answers))) if idea.text == "even")
    assert (idea.n_correct_test, idea.n_abstained_test) == (2, 1)


def test_numbers_that_differ_by_rounding_alone_are_the_same_answer() -> None:
    slots = ("x plus 0.3", "0.1 plus x plus 0.2", "x")
    answers = {slots[0]: [0.3, 1.0], slots[1]: [0.1 + 0.2, 1.0], slots[2]: [0.3001, 1.0]}
    view = view_of(
        started(Config(particles=3), NUMBERS), *drawn(*slots), evaluated(NUMBERS, answers, slots=slots, step=-1)
    )
    ideas = merge_ideas(view, NUMBERS)
    assert ideas is not None
    assert sorted(idea.slots for idea in ideas) == [(0, 1), (2,)]
    assert ideas.all[0].mse_test == pytest.approx((0.7**2 + 2**2) / 2)


def test_a_label_is_never_a_number() -> None:
    data = dataset(["1", "1.0"], ["1", "1.0"])
    slots = ("one", "one point zero")
    answers = {"one": ["1", "1"], "one point zero": ["1.0", "1.0"]}
    view = view_of(started(Config(particles=2), data), *drawn(*slots), evaluated(data, answers, slots=slots, step=-1))
    ideas = merge_ideas(view, data)
    assert ideas is not None
    assert len(ideas) == 2


def test_an_earlier_step_has_its_own_population_and_weights() -> None:
    view = view_of(
        started(Config(particles=2), YES_NO),
        *drawn("a", "b"),
        finished(0, ("a", "b"), weights=(0.25, 0.75)),
        finished(1, ("c", "c")),
    )
    ideas = merged(view, step=0)
    assert [(idea.text, idea.weight) for idea in ideas] == [("b", pytest.approx(0.75)), ("a", pytest.approx(0.25))]
    assert ideas.step == 0


def test_there_are_no_ideas_before_the_first_whole_population() -> None:
    begun = view_of(started(Config(particles=2), YES_NO), *drawn("a", "b")[:2])
    assert merge_ideas(begun, YES_NO) is None
    assert merge_ideas(ended(), YES_NO, step=7) is None


def test_every_particle_belongs_to_one_idea() -> None:
    ideas = merged(ended(on_test()))
    assert [ideas.of_slot(slot) for slot in range(4)] == [0, 1, 0, 0]
    assert sum(ideas.weights) == pytest.approx(1)


def test_ideas_are_frozen() -> None:
    idea = Idea(weight=1.0, texts=("a",), text_weights=(1.0,), slots=(0,))
    with pytest.raises(AttributeError):
        idea.weight = 0.5  # type: ignore[misc]
