from typing import Any

import pytest

from vpp.findings.result import target_words
from vpp.settings import Config

EXACT = "the acceptance rule is exact"
DRAWN: dict[str, Any] = {"restart": 1.0, "method": "mh", "mh_rows": "train"}


def said(**options: Any) -> str:
    return target_words(Config(**{"reading": "rows", **options}))


WORDS: list[tuple[dict[str, Any], str]] = [
    ({"mutate": "every"}, "Every hypothesis is rewritten after it was weighed, without a correction"),
    ({}, "accept step on the last rows"),
    (
        {"reading": "auto"},
        "ratios of successive tempered posteriors. Every change passes an accept step on all training rows",
    ),
    ({"reading": "auto", "method": "mh"}, "on all training rows, the same at every step"),
    ({"tempering": "incremental"}, "ratios of successive tempered posteriors"),
    ({"method": "mh"}, "on one batch, a new one each step"),
    ({"method": "mh", "mh_rows": "buffer"}, "on the last rows"),
    ({"method": "mh", "mh_rows": "train"}, "on all training rows, the same at every step"),
    ({"method": "mh", "restart": 0.25}, "not exactly the posterior"),
    ({"method": "always-accept"}, "no sample of a posterior"),
    ({"method": "vml5"}, "averaged without weights"),
    ({"method": "vml"}, "There is one hypothesis and no posterior"),
]


def test_each_method_says_what_it_samples() -> None:
    for options, words in WORDS:
        assert words in said(**options), options


@pytest.mark.parametrize("options", [DRAWN, {"restart": 1.0, "tempering": "incremental"}])
def test_draws_from_the_prior_judged_on_all_rows_are_exact(options: dict[str, Any]) -> None:
    assert EXACT in said(**options)


SPOILT: list[dict[str, Any]] = [
    {"restart": 0.99},
    {"restart": 0.0},
    {"mh_rows": "batch"},
    {"mh_rows": "buffer"},
    {"learner_samples": 3},
    {"method": "always-accept"},
]


def test_nothing_else_is_called_exact() -> None:
    for spoilt in SPOILT:
        assert EXACT not in said(**{**DRAWN, **spoilt}), spoilt
