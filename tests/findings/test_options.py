from dataclasses import fields
from itertools import product
from typing import Any, get_args

from vpp.findings.options import GRADINGS, METHODS, OPEN, OPTIONS, config_of, decided, groups, has_effect, unused_words
from vpp.settings import Config, Grading, Method

FIELDS = {field.name for field in fields(Config)}


def test_every_option_stands_in_one_place_with_a_label_of_its_own() -> None:
    places = [*OPEN, *(name for names in groups().values() for name in names)]
    assert sorted(places) == sorted(OPTIONS) == sorted(FIELDS)
    assert len({OPTIONS[name].label for name in FIELDS}) == len(FIELDS)


def test_every_method_and_grading_has_words() -> None:
    assert ([*METHODS], [*GRADINGS]) == ([*get_args(Method)], [*get_args(Grading)])


DECIDING: dict[str, tuple[Any, ...]] = {
    "method": tuple(METHODS), "likelihood": tuple(GRADINGS), "reading": ("auto", "rows"),
    "tempering": ("auto", "paper", "adaptive"), "mutate": ("every", "filtered"), "mh_rows": ("batch", "buffer"),
    "restart": (0.0, 0.5, 1.0),
}  # fmt: skip
"""Values of the options that decide about others."""


def test_any_combination_of_what_is_on_the_form_can_be_run_and_an_option_that_means_something_is_taken() -> None:
    for each in product(*DECIDING.values()):
        values: dict[str, Any] = dict(zip(DECIDING, each, strict=True))
        config = config_of(values, Config())
        deciding = decided(values, Config())
        for name in FIELDS:
            assert has_effect(name, config) == has_effect(name, deciding), (values, name)
    values = {"method": "mh", "reading": "rows", "mh_rows": "buffer", "buffer_size": 7, "restart": 0.5}
    config = config_of(values, Config())
    assert {name: getattr(config, name) for name in values} == values


UNUSED: tuple[tuple[tuple[str, ...], Config, str], ...] = (
    (("method", "particles"), Config(method="vml", particles=3), "--particles"),
    (("tempering",), Config(method="mh", tempering="adaptive"), "--tempering"),
    (("abstention_cost",), Config(), "--abstention-cost"),
    (("reading",), Config(likelihood="logprobs"), "--reading"),
    ((), Config(method="vml", particles=3), ""),
)


def test_options_that_were_given_and_change_nothing_are_named() -> None:
    for given, config, words in UNUSED:
        assert unused_words(given, config, "regression") == words, given
