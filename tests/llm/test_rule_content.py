"""Rules must give outputs of the table, in their own way."""

from .tables import row, table
from .test_guards import ADMISSION, DIGITS, HOUSES, PENGUINS, REVIEWS, assert_pass, assert_refused, fault, of_kinds
from .test_leaks import BITS, HEART

SIGNS = of_kinds(
    table("classification", (row(0, "+", A2="t", A3="1"), row(1, "-", A2="f", A3="2")), classes=("+", "-")),
    A2="category",
)
CHINESE = of_kinds(
    table("classification", (row(0, "好评", 评论="房间干净"), row(1, "差评", 评论="太吵")), classes=("好评", "差评")),
    评论="text",
)
JAPANESE = of_kinds(
    table("classification", (row(0, "良い", 感想="清潔"), row(1, "悪い", 感想="汚い")), classes=("良い", "悪い")),
    感想="text",
)

FOREIGN = [
    (BITS, "If age is above 40, answer yes; otherwise answer no.", "yes"),
    (BITS, "If age is above 40, answer approved; otherwise answer declined.", "approved"),
    (DIGITS, "If a is above 4, answer approved; otherwise answer declined.", "approved"),
    (HEART, "If age is above 40, answer sick. Classify everything else as declined.", "declined"),
]
OWN = [
    (DIGITS, "answer the remainder of a divided by 2"),
    (DIGITS, "answer the larger of a and b"),
    (DIGITS, "output a modulo 2"),
    (DIGITS, "Let s = a + b. Output s."),
    (DIGITS, "Let the result be a mod 2; return result."),
    (DIGITS, "Take a + b; output parity."),
    (DIGITS, "The class label is one if a is odd, otherwise answer zero."),
    (BITS, "The output is binary, 0 or 1. Answer 1 if age is above 40, otherwise 0."),
    (HEART, "If age is above 40, answer sick. Classify everything else as healthy."),
    (HEART, "If age is above 40, answer sick. Classify the rest as healthy."),
    (HEART, "The output is binary. If age is over 50, answer sick; otherwise healthy."),
    (HEART, "The output is determined, mainly, by age: above 50 sick, below healthy."),
    (SIGNS, "If A2 is t, answer -; otherwise answer +"),
    (SIGNS, 'If A2 is t, answer "-"; otherwise answer "+"'),
    (CHINESE, "如果评论提到干净或热情，回答好评；否则回答差评。"),
    (JAPANESE, "感想が清潔さに触れていれば良い、そうでなければ悪いと答える。"),
    (HEART, "如果 age 大于 40，回答sick；否则回答healthy。"),
]


def test_a_label_of_another_table_is_refused() -> None:
    for dataset, rule, label in FOREIGN:
        reason = f"it gives '{label}', which is no label of this table"
        assert_refused([(dataset, rule)], reason, templates="terse", examples=" ")


def test_a_rule_gives_its_labels_in_its_own_way() -> None:
    assert_pass(OWN)


def test_a_rule_of_a_table_with_signs_may_still_break_off() -> None:
    assert "stops in mid-sentence" in (fault(SIGNS, "If A2 is t, answer + when A3 >") or "")


def test_a_chinese_text_without_a_label_is_refused() -> None:
    assert "it names no label" in (fault(CHINESE, "这条规则很好。") or "")


RULES = [
    (ADMISSION, "The rule is to always answer admitted."),
    (HEART, "This rule gives sick for age above 40 and healthy for the rest."),
    (HEART, "The new rule is: typical pain means sick, all others are healthy"),
    (PENGUINS, "The rule says Torgersen is Adelie and Biscoe is Gentoo"),
    (REVIEWS, "This rule predicts positive for great reviews and negative for bad ones"),
    (DIGITS, "The rule outputs the parity of the integers."),
    (DIGITS, "This rule gives 1 for odd sums and 0 for even sums."),
    (HOUSES, "The rule is to output the median price, about 150."),
]


def test_a_rule_may_speak_of_itself() -> None:
    assert_pass(RULES)
