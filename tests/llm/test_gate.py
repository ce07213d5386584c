"""Servers that may be asked: judged by their address, and over real sockets by where a name leads."""

import socket
from typing import Any

import pytest

from vpp.environment import Environment
from vpp.errors import EndpointRefused, InputError
from vpp.llm.endpoint import Server
from vpp.llm.gate import Gate, checked_address
from vpp.llm.protocol import Completion

from .stub import Reply, chat, endpoint_at, script, serving

METADATA = (
    *("http://169.254.169.254/v1", "http://2852039166/v1", "http://0xA9.0xFE.0xA9.0xFE/v1", "http://169.254.43518/v1"),
    *("http://[::ffff:169.254.169.254]:80/v1", "http://[fd00:ec2:0::254]/v1", "http://metadata.google.internal./v1"),
    *("http://METADATA/v1", "http://100.100.100.200/latest"),
)


def test_metadata_services_are_refused_in_every_spelling_and_though_they_are_listed() -> None:
    for base_url in METADATA:
        with pytest.raises(InputError, match=r"is a cloud's metadata service: give the address of a model's server$"):
            Server(base_url=base_url, model="m")
        with pytest.raises(InputError, match="metadata service"):
            Gate(servers=(base_url,)).check(base_url)


def test_one_user_asks_every_other_server() -> None:
    for base_url in ("http://127.0.0.1:8000/v1", "http://[::1]/v1", "http://10.1.2.3/v1", "https://api.a.com"):
        Gate().check(base_url)


LISTED = "https://api.a.com/v1"
SAME = (LISTED, f"{LISTED}/", "https://API.a.com:443/v1", "https://api.a.com./v1")
OTHER = (
    *("http://api.a.com/v1", "https://api.a.com:8443/v1", "https://api.a.com", "https://xapi.a.com/v1"),
    *(f"{LISTED}1", f"{LISTED}/x", f"{LISTED}/../admin", f"{LISTED}/%2e%2e/admin", "https://api.a.com/V1"),
    *("https://api.a.com.evil.org/v1", "http://127.0.0.1:8000/v1"),
)


def test_a_list_allows_the_very_addresses_on_it() -> None:
    gate = Gate(servers=("http://10.0.0.5:8000/v1", LISTED))
    for base_url in (*SAME, "http://10.0.0.5:8000/v1", "http://0x0a000005:8000/v1"):
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


def test_a_list_holds_whole_addresses() -> None:
    for entry in ("*.a.com", "api.a.com", "ftp://a.com", "https://u:p@a.com", "https://a.com/v1?x"):
        with pytest.raises(InputError, match=r"is incomplete: write it as|holds a"):
            Gate(servers=(entry,))


AMBIGUOUS = ("http://a.com\\.evil.org/v1", "http://a.com\t.evil.org/v1x y", "http://a b/v1")
QUERIES = ("http://a.com/v1?", "http://a.com/v1#", "http://a.com/v1?a=b")


def test_an_address_with_a_query_or_that_two_readers_may_read_differently_is_refused() -> None:
    for address, words in (*((each, "is incomplete") for each in AMBIGUOUS), *((q, "holds a query") for q in QUERIES)):
        with pytest.raises(InputError, match=words):
            checked_address(address)


# Over real sockets


async def ask(base_url: str) -> Completion:
    endpoint = endpoint_at(base_url, "m", api_key="sk-secret-0123")
    try:
        return await endpoint.complete([], temperature=0, seed=0, max_tokens=9)
    finally:
        await endpoint.aclose()


async def test_a_name_that_comes_to_lead_to_a_metadata_service_is_refused_as_the_connection_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leads_to, real = ["127.0.0.1", "169.254.169.254"], socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **more: Any) -> Any:
        if not str(host).startswith("rebinding"):
            return real(host, port, *args, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (leads_to.pop(0), int(port)))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    async with serving(script(chat())) as stub:
        there = stub.base_url.replace("127.0.0.1", "rebinding.test")
        assert (await ask(there)).text == "Output: 1"
        with pytest.raises(EndpointRefused, match=r"its name leads to 169.254.169.254, a cloud's metadata service"):
            await ask(there)
        assert len(stub.requests) == 1


LOCATIONS = {
    "http://[none/v1": r"redirects to$",
    "https://u:p@b.test:81/v1": r"to, https://b\.test:81/v1$",
    "https://b.test/v1/chat/completions": r"redirects \(HTTP 307\): give .* to, https://b\.test/v1$",
    "https://b.test/sk-secret-0123": r"b\.test/\[key\]$",
}


async def test_the_target_of_a_redirect_is_shown_without_the_key() -> None:
    for location, place in LOCATIONS.items():
        async with serving(script(Reply(b"", status=307, headers={"location": location}))) as stub:
            with pytest.raises(EndpointRefused, match=place):
                await ask(stub.base_url)
