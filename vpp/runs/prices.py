"""List prices from an installed LiteLLM's price map, for providers known by their address."""

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vpp.llm.budget import MILLION, Price
from vpp.runs.spec import EndpointSpec, Prices

MAP = "model_prices_and_context_window_backup.json"
"""File of the map in LiteLLM's package. It is read directly: importing LiteLLM takes seconds and uses the network."""
CURRENCY = "USD"
PROVIDERS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks_ai",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshot",
    "api.perplexity.ai": "perplexity",
    "api.together.ai": "together_ai",
    "api.together.xyz": "together_ai",
    "api.x.ai": "xai",
    "dashscope-intl.aliyuncs.com": "dashscope",
    "generativelanguage.googleapis.com": "gemini",
    "openrouter.ai": "openrouter",
}
"""LiteLLM's name of each provider, by host. A model elsewhere has no list price, whatever its name."""


def with_listed_prices(prices: Prices, endpoint: EndpointSpec) -> Prices:
    """Return the given prices, or else LiteLLM's list prices if it knows every model that is paid for."""
    if prices.are_given or endpoint.is_started_here:
        return prices
    learner = listed_price(endpoint.base_url, endpoint.model)
    has_another = bool(endpoint.optimizer_model or endpoint.optimizer_base_url)
    url, model = endpoint.optimizer_base_url or endpoint.base_url, endpoint.optimizer_model or endpoint.model
    optimizer = listed_price(url, model) if has_another else None
    if learner is None or (has_another and optimizer is None):
        return prices
    return Prices(learner=learner, optimizer=optimizer, currency=CURRENCY, source="LiteLLM's list prices")


def listed_price(base_url: str, model: str) -> Price | None:
    """Return a model's price of a million tokens in US dollars; None if LiteLLM is missing or does not know it."""
    provider = PROVIDERS.get(urlsplit(base_url).hostname or "")
    package = find_spec("litellm") if provider else None
    if provider is None or package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / MAP
    try:
        known = _entries(path, path.stat().st_mtime_ns)
        entry = known.get(f"{provider}/{model}") or known.get(model) or {}
        if entry.get("litellm_provider") != provider:
            return None
        prompt, completion = float(entry["input_cost_per_token"]), float(entry["output_cost_per_token"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return Price(prompt=round(MILLION * prompt, 6), completion=round(MILLION * completion, 6))


@lru_cache(maxsize=1)
def _entries(path: Path, modified_ns: int) -> dict[str, Any]:
    """Read the map once while its file stays as it is: a form asks at every change."""
    entries: dict[str, Any] = json.loads(path.read_bytes())
    return entries
