from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest

from tests.reporting.builders import NUMBERS, YES_NO, dataset
from vpp.errors import InputError
from vpp.settings import METHOD_NAMES, Config, choices, preset
from vpp.wording.options import (
    ABOUT,
    OPEN,
    OPTIONS,
    changed_words,
    config_of,
    decided,
    groups,
    has_effect,
    idle_words,
    name_of,
    tau_words,
    unused_words,
    value_words,
)

FIELDS = {field.name for field in fields(Config)}


def test_every_option_stands_in_one_place_with_a_label_of_its_own() -> None:
    places = [*OPEN, *(name for names in groups().values() for name in names)]
    assert sorted(places) == sorted(OPTIONS) == sorted(FIELDS)
    assert len({name_of(name) for name in FIELDS}) == len(FIELDS)
    assert set(ABOUT) == set(METHOD_NAMES)


def combinations() -> list[dict[str, Any]]:
    """Of the options that decide about others."""
    names = ("method", "tempering", "mutate", "mh_rows", "restart", "particles_max")
    values = (tuple(METHOD_NAMES), ("paper", "adaptive"), ("every", "filtered"), ("batch", "buffer"),
              (0.0, 0.5, 1.0), (0, 20))  # fmt: skip
    return [dict(zip(names, each, strict=True)) for each in product(*values)]


def test_any_combination_of_what_is_on_the_form_can_be_run() -> None:
    for values in combinations():
        config = config_of(values, Config())
        deciding = decided(values, Config())
        for name in FIELDS:
            assert has_effect(name, config) == has_effect(name, deciding), (values, name)


def test_an_option_without_effect_has_its_default_and_names_its_condition() -> None:
    values = {"method": "vml", "particles_max": 20, "mh_rows": "train", "seed": 4}
    assert config_of(values, Config()) == Config(method="vml", seed=4)
    assert "For mh: Compare on." in idle_words(decided(values, Config()))


def test_an_option_that_means_something_is_taken() -> None:
    values = {"method": "mh", "mh_rows": "buffer", "buffer_size": 7, "restart": 0.5}
    config = config_of(values, Config())
    assert {name: getattr(config, name) for name in values} == values


def test_a_combination_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="between 3 and particles_max"):
        config_of({"particles": 2, "particles_max": 20}, Config())


def test_options_that_are_not_as_by_default_are_named() -> None:
    assert changed_words(preset("recommended")) == ()
    changed = Config(tempering="incremental", restart=0.5, points_per_call=5, buffer_repeats=True)
    assert changed_words(changed) == ("restart 0.5", "tempering incremental", "points per call 5")
    assert changed_words(replace(changed, tempering="paper"))[-2:] == ("buffer repeats on", "points per call 5")


def test_a_given_tau_is_compared_with_the_spread_of_the_targets() -> None:
    thousands = dataset([1000.0, 2000.0, 4000.0, 9000.0], [1000.0])
    assert "nearly every likelihood ratio will be 0 or 1" in tau_words(Config(tau=1), thousands)
    assert "hardly lose weight" in tau_words(Config(tau=1e12), thousands)
    assert tau_words(Config(tau=1), NUMBERS).endswith("spread by about 1.483.")
    for config, data in ((Config(), NUMBERS), (Config(tau=1, method="vml"), NUMBERS), (Config(tau=1), YES_NO)):
        assert tau_words(config, data) == ""


def test_an_option_of_the_other_kind_of_target_means_nothing() -> None:
    changed = Config(tau="2.0", epsilon=0.1)
    assert changed_words(changed, "regression") == ("tau 2.0",)
    assert changed_words(changed, "classification") == ("epsilon 0.1",)
    assert config_of({"tau": "2.0", "epsilon": 0.1}, Config(), "classification") == Config(epsilon=0.1)
    assert "For regression: Regression’s τ." in idle_words(Config(), "classification")


UNUSED: tuple[tuple[tuple[str, ...], Config, str], ...] = (
    (("method", "particles"), Config(method="vml", particles=3), "--particles (for smc, mh and always-accept)"),
    (("tempering",), Config(method="mh", tempering="adaptive"), "--tempering (for smc)"),
    (("restart",), Config(restart=0.3, mutate="every"), "--restart (for mh, and smc that filters)"),
    (
        ("final_weights", "mutate"),
        Config(tempering="incremental", final_weights="train"),
        "--final-weights (for smc with the paper’s tempering)",
    ),
    (("epsilon", "tau"), Config(), "--epsilon (for classification)"),
    (("beta_start",), Config(beta_start=1), ""),
    ((), Config(method="vml", particles=3), ""),
)


def test_options_that_were_given_and_change_nothing_are_named() -> None:
    for given, config, words in UNUSED:
        assert unused_words(given, config, "regression") == words, given


def test_every_value_of_a_choice_has_its_meaning() -> None:
    for name in (name for names in groups().values() for name in names):
        for value in choices(name):
            assert value_words(name, value).startswith(f"{value}: "), (name, value)
