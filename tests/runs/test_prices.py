"""Prices of LiteLLM's map. The package here holds the map alone; tests/servers/test_litellm.py reads a real one."""

import json
from pathlib import Path

import pytest

from tests.processes import PENGUINS, TARGET, Desk
from vpp.llm.budget import Price
from vpp.runs.prices import MAP, listed_price, with_listed_prices
from vpp.runs.spec import NO_PRICES, EndpointSpec, Prices

SMALL = {"litellm_provider": "openai", "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07}
ENTRIES = {
    "small": SMALL,
    "deepseek/chat": {
        "litellm_provider": "deepseek",
        "input_cost_per_token": 2.8e-07,
        "output_cost_per_token": 4.2e-07,
    },
    "no-output": {"litellm_provider": "openai", "input_cost_per_token": 1e-06},
    "odd": ["no", "object"],
}
OPENAI = "https://api.openai.com/v1"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A LiteLLM package that fails on import, with a price map of four models."""
    folder = tmp_path / "packages" / "litellm"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / MAP).write_text(json.dumps(ENTRIES))
    monkeypatch.syspath_prepend(folder.parent)
    return folder


def test_a_model_has_its_providers_price_of_a_million_tokens(package: Path) -> None:
    assert listed_price(OPENAI, "small") == Price(prompt=0.15, completion=0.6)
    assert listed_price("https://api.deepseek.com", "chat") == Price(prompt=0.28, completion=0.42)


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("http://127.0.0.1:8000/v1", "small"),  # your own server has no list price
        ("https://api.openai.com.evil.example/v1", "small"),
        ("https://api.deepseek.com", "small"),
        (OPENAI, "no-output"),
        (OPENAI, "odd"),
        (OPENAI, "unknown"),
    ],
)
def test_other_models_have_no_list_price(package: Path, base_url: str, model: str) -> None:
    assert listed_price(base_url, model) is None


def test_without_litellm_or_with_a_broken_map_there_is_none(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for broken in (b"{", b"[]", b"\xff"):
        (package / MAP).write_bytes(broken)
        assert listed_price(OPENAI, "small") is None
    (package / MAP).unlink()
    assert listed_price(OPENAI, "small") is None
    monkeypatch.undo()
    assert listed_price(OPENAI, "small") is None


def test_typed_prices_come_first_and_both_models_must_be_known(package: Path) -> None:
    one = EndpointSpec(base_url=OPENAI, model="small")
    listed = with_listed_prices(NO_PRICES, one)
    assert listed == Prices(learner=Price(prompt=0.15, completion=0.6), currency="USD", source="LiteLLM's list prices")
    typed = Prices(learner=Price(prompt=9.0))
    assert with_listed_prices(typed, one) == typed
    two = EndpointSpec(
        base_url=OPENAI, model="small", optimizer_base_url="https://api.deepseek.com", optimizer_model="chat"
    )
    assert with_listed_prices(NO_PRICES, two).optimizer == Price(prompt=0.28, completion=0.42)
    half = EndpointSpec(base_url=OPENAI, model="small", optimizer_model="unknown")
    assert with_listed_prices(NO_PRICES, half) == NO_PRICES
    assert with_listed_prices(NO_PRICES, EndpointSpec(demo=True)) == NO_PRICES


def test_the_plan_names_the_list_and_a_cap_on_money_needs_no_typed_price(package: Path, desk: Desk) -> None:
    words = ("run", PENGUINS, *TARGET, "--base-url", OPENAI, "--model", "small", "--max-cost", "1", "--plan")
    outcome = desk.vpp(*words, PYTHONPATH=f"{desk.variables['PYTHONPATH']}:{package.parent}")
    assert outcome.code == 0, outcome.err
    output = " ".join(outcome.out.split())
    assert "Estimated cost: about" in output
    assert (
        "LiteLLM's list prices: 0.15 USD per million input tokens, 0.60 USD per million output tokens. If yours"
        in output
    )
    assert "pauses at 1.00 USD" in output
