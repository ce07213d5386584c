"""Servers that may be asked, judged by their address; a query of the address, and redirects, over real sockets."""

import pytest

from vpp.environment import Environment
from vpp.errors import EndpointRefused, InputError
from vpp.llm.gate import Gate, checked_address, is_loopback

from .asking import ask
from .stub import Reply, as_json, chat, endpoint_at, endpoint_of, script, serving

LISTED = "https://api.a.com/v1"
SAME = (LISTED, f"{LISTED}/", "https://API.a.com:443/v1", "https://api.a.com./v1")
OTHER = (
    *("http://api.a.com/v1", "https://api.a.com:8443/v1", "https://api.a.com", "https://xapi.a.com/v1"),
    *(f"{LISTED}1", f"{LISTED}/x", f"{LISTED}/../admin", f"{LISTED}/%2e%2e/admin", "https://api.a.com/V1"),
    *("https://api.a.com.evil.org/v1", "http://127.0.0.1:8000/v1"),
)


def test_a_list_allows_the_very_addresses_on_it() -> None:
    gate = Gate(servers=("http://10.0.0.5:8000/v1", LISTED))
    for base_url in (*SAME, "http://10.0.0.5:8000/v1"):
        gate.check(base_url)
    for base_url in OTHER:
        with pytest.raises(InputError, match=r"may be asked here: take one that its owner has listed, .*_ENDPOINTS\)$"):
            gate.check(base_url)


def test_a_shared_app_whose_owner_lists_nothing_has_the_demo_model_alone() -> None:
    for variables in ({"VPP_LOGIN": "1"}, {"VPP_SHARED": "1"}, {"VPP_DEMO_ONLY": "1", "OPENAI_BASE_URL": LISTED}):
        with pytest.raises(InputError, match="take the built-in demo model, or ask the owner to list it"):
            Gate.of(Environment.of(variables)).check(LISTED)


def test_variables_make_the_gate() -> None:
    own = {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1", "VPP_MODEL": "m"}
    assert Gate.of(Environment.of(own)) == Gate()
    listed = Gate.of(Environment.of({**own, "VPP_LOGIN": "1", "VPP_ALLOWED_ENDPOINTS": f"{LISTED}, http://b.com/v1"}))
    for base_url in ("http://127.0.0.1:8000/v1", LISTED, "http://b.com/v1"):
        listed.check(base_url, "any")
    fixed = Gate.of(Environment.of({**own, "VPP_ENDPOINT_FIXED": "1", "VPP_ALLOWED_ENDPOINTS": LISTED}))
    fixed.check("http://127.0.0.1:8000/v1", "m")
    with pytest.raises(InputError, match="not among the endpoints"):
        fixed.check(LISTED)
    with pytest.raises(InputError, match="model 'dear' is not among those"):
        fixed.check("http://127.0.0.1:8000/v1", "dear")


INCOMPLETE = (
    *("", "localhost:8000", "ftp://host/v1", "http://", "http://[::1", "http://host:99999/v1"),
    *("http://1.2.3.400/v1", "http://[1.2]/v1", "http://[::::]/v1", "http://a..b/v1", "http://../v1"),
    *(f"http://{'a' * 64}/v1", "http://caf\u00e9.fr/v1"),
    *("http://a.com\\.evil.org/v1", "http://a.com\t.evil.org/v1x y", "http://a b/v1"),
)


def test_an_address_with_a_query_or_that_two_readers_may_read_differently_is_refused() -> None:
    queries = ("http://a.com/v1?", "http://a.com/v1#", "http://a.com/v1?a=b")
    for address in INCOMPLETE:
        with pytest.raises(InputError, match="is incomplete"):
            checked_address(address)
    for address in (*queries, "http://me:secret@h/v1", "http://a.com/v1?key=secret"):
        with pytest.raises(InputError, match="holds a user name or password, or a query") as caught:
            checked_address(address)
        assert "secret" not in str(caught.value)
    for entry in ("*.a.com", "api.a.com", "ftp://a.com", "https://u:p@a.com", "https://a.com/v1?x"):
        with pytest.raises(InputError, match=r"is incomplete: write it as|holds a"):
            Gate(servers=(entry,))


async def test_the_version_in_an_address_of_azure_follows_every_path() -> None:
    models = as_json({"data": [{"id": "m"}]})
    async with serving(script(chat(), models)) as stub:
        endpoint = endpoint_at(f"{stub.base_url}/?api-version=2026-05-01-preview", "m")
        await endpoint.complete([], temperature=0, seed=0, max_tokens=9)
        await endpoint.models()
        await endpoint.aclose()
        paths = ("/v1/chat/completions", "/v1/models")
        assert [each.path for each in stub.requests] == [f"{path}?api-version=2026-05-01-preview" for path in paths]


HERE = ("http://localhost/v1", "http://127.0.0.1:8000", "http://127.9.8.7", "http://[::1]:80/v1", "http://a.localhost")
AWAY = ("http://127.0.0.1.evil.org", "http://127.evil.org", "http://xlocalhost", "http://0.0.0.0", "http://10.0.0.1")


def test_only_this_machines_own_addresses_are_loopback() -> None:
    assert [is_loopback(each) for each in (*HERE, *AWAY)] == [True] * len(HERE) + [False] * len(AWAY)


LOCATIONS = {
    "https://u:p@b.test:81/v1": r"to: https://b\.test:81/v1$",
    "https://b.test/v1?q": r"redirects \(HTTP 307\): give .* to: https://b\.test/v1$",
    "https://b.test/sk-secret-0123": r"b\.test/\[key\]$",
}


async def test_the_target_of_a_redirect_is_shown_without_the_key() -> None:
    for location, place in LOCATIONS.items():
        async with endpoint_of(
            script(Reply(b"", status=307, headers={"location": location})), api_key="sk-secret-0123"
        ) as (endpoint, _):
            with pytest.raises(EndpointRefused, match=place):
                await ask(endpoint)
