"""Servers that may be asked: judged by their spelling, and over real sockets by their IP address."""

import asyncio
import re
import socket
from typing import Any

import pytest

from vpp.environment import Environment
from vpp.errors import EndpointRefused, InputError
from vpp.llm.address import checked_address, literal
from vpp.llm.endpoint import Completion, Server
from vpp.llm.gate import Gate, Kind, kind_of, named
from vpp.llm.gauges import page_beside

from .stub import Reply, Stub, chat, endpoint_at, script, serving

OWN = Gate()
SHARED = Gate(is_shared=True)


SPELLINGS: dict[Kind, str] = {
    "barred": (
        "169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.169.254. "
        "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 ::169.254.169.254 2002:a9fe:a9fe::1 "
        "fe80::1%eth0 fd00:ec2::254 100.100.100.200 0.0.0.0 0 :: 255.255.255.255"
    ),
    "loopback": "::0.0.0.1 ::127.0.0.1 127.1 0x7f000001 ::1 ::ffff:127.0.0.1",
    "private": "::10.0.0.5 10.0.0.5 192.168.1.1 100.64.0.1 fd12::1",
    "public": "8.8.8.8 2606:4700::1111",
}


def test_an_address_is_classified_in_every_spelling() -> None:
    for kind, spellings in SPELLINGS.items():
        for spelling in spellings.split():
            address = literal(spelling)
            assert address is not None, spelling
            assert kind_of(address) == kind, spelling


REFUSED_EVERYWHERE = (
    "http://169.254.169.254/v1",
    "http://2852039166/v1",
    "http://0xA9.0xFE.0xA9.0xFE/v1",
    "http://[::ffff:169.254.169.254]:80/v1",
    "http://[fe80::1]/v1",
    "http://metadata.google.internal./v1",
    "http://METADATA/v1",
    "http://0.0.0.0:8000/v1",
)
REFUSED_WHERE_SHARED = ("http://127.0.0.1:8000/v1", "http://[::1]/v1", "http://10.1.2.3/v1", "http://[fd12::1]/v1")


def test_link_local_and_metadata_addresses_are_refused_unless_named() -> None:
    for base_url in REFUSED_EVERYWHERE:
        with pytest.raises(InputError, match=r"metadata address.*(VPP_ALLOWED_ENDPOINTS=|write 127\.0\.0\.1)"):
            Server(base_url=base_url, model="m")
        Gate(named=(base_url,)).check(base_url)


def test_this_machine_and_private_networks_are_refused_where_others_come() -> None:
    for base_url in REFUSED_WHERE_SHARED:
        OWN.check(base_url)
        with pytest.raises(InputError, match="VPP_ALLOWED_ENDPOINTS="):
            SHARED.check(base_url)
        Gate(is_shared=True, named=(base_url,)).check(base_url)


LISTS = (
    ("https://api.a.com/v1", "https://API.a.com:443/v1", "http://api.a.com/v1"),
    ("https://api.a.com/v1", "https://api.a.com./v1/x", "https://api.a.com/v11"),
    ("https://api.a.com/v1", "https://api.a.com/v1", "https://api.a.com/v1/%2e%2e/admin"),
    ("https://api.a.com", "https://api.a.com/any", "https://api.a.com:8443/any"),
    ("api.a.com", "http://api.a.com:8000/v1", "http://xapi.a.com/v1"),
    ("api.a.com:8000", "http://api.a.com:8000/v1", "http://api.a.com/v1"),
    ("*.a.com", "https://b.c.a.com/v1", "https://a.com/v1"),
    ("*.a.com", "https://b.a.com/v1", "https://b.a.com.evil.org/v1"),
    ("10.0.0.5", "http://10.0.0.5:8000/v1", "http://10.0.0.6:8000/v1"),
    ("[::1]:8000", "http://[0:0::1]:8000/v1", "http://[::1]:8001/v1"),
)
"""A name, and an address that it allows and one that it does not."""


def test_a_list_lets_through_what_it_names_and_nothing_else() -> None:
    for name, taken, refused in LISTS:
        gate = Gate(named=(name,), is_list=True, is_shared=True)
        gate.check(taken)
        with pytest.raises(InputError, match="not among the endpoints that may be asked here: take "):
            gate.check(refused)


LEAVING = (
    *("..%2fadmin", "..%2Fadmin", "..%5cadmin", "..\\admin", "..;/admin", ";a=b/../admin", "%252e%252e/admin"),
    *("%2e%2E/admin", ".%2e/admin", "./admin", "../admin", "x/../../admin", "/../admin", "//admin", "%c0%ae/admin"),
    *("x?a=/../admin", "x#/../admin", "x%00", "x%3f", "\uff0e\uff0e/admin"),
)


def test_a_path_that_a_server_may_read_as_leaving_the_named_one_is_refused() -> None:
    own = named("https://api.a.com/v1")
    assert own.covers("https://api.a.com/v1/deployments/my-model_1.0~a@b:c")
    assert own.covers("https://api.a.com/v1/")
    for rest in LEAVING:
        assert not own.covers(f"https://api.a.com/v1/{rest}"), rest


def test_a_named_path_may_hold_what_none_below_it_may() -> None:
    own = named("https://api.a.com/v1;a%2fb")
    assert own.covers("https://api.a.com/v1;a%2fb")
    assert own.covers("https://api.a.com/v1;a%2fb/x")
    assert not own.covers("https://api.a.com/v1;a%2fb/x%2f..")
    assert not named("api.a.com").covers("https://user@api.a.com/v1")


def test_a_shared_app_keeps_the_list_of_its_owner_and_names_the_variable() -> None:
    shared = r"take one that the owner has named \(VPP_ALLOWED_ENDPOINTS\)$"
    for is_shared, words in ((True, shared), (False, "take 10.0.0.5, or name it in VPP_ALLOWED_ENDPOINTS$")):
        with pytest.raises(InputError, match=words):
            Gate(named=("10.0.0.5",), is_list=True, is_shared=is_shared).check("http://10.0.0.6/v1")


def test_a_name_that_names_nothing_is_refused() -> None:
    for name in ("", "*", "*.", "a.*.com", "ftp://a.com", "a.com/v1", "https://u:p@a.com", "a:b:c.com"):
        with pytest.raises(InputError, match="names no endpoint: write https://"):
            Gate(named=(name,))


AMBIGUOUS = (
    "http://a.com\\.evil.org/v1",
    "http://a.com\t.evil.org/v1x y",
    "http://a b/v1",
    "http://①②⑦.⓪.⓪.①:18080/v1",
)
QUERIES = ("http://a.com/v1?", "http://a.com/v1#", "http://a.com/v1?a=b")


def test_an_address_with_a_query_or_that_two_readers_may_read_differently_is_refused() -> None:
    for address, words in (*((each, "is incomplete") for each in AMBIGUOUS), *((q, "holds a query") for q in QUERIES)):
        with pytest.raises(InputError, match=words):
            checked_address(address)


def test_a_name_that_no_request_can_carry_is_refused_in_one_line() -> None:
    with pytest.raises(EndpointRefused, match=r"no request can carry this address .*: correct it"):
        asyncio.run(ask("http://1א.com/v1", OWN))


def test_a_domain_of_many_names_opens_public_addresses_alone() -> None:
    wild = Gate(named=("*.a.com", "vllm.a.com"), is_list=True, is_shared=True)
    assert wild.refusal("http://vllm.a.com/v1", "10.0.0.5") == ""
    assert "leads to 10.0.0.5, which is an address of a private network" in wild.refusal("http://x.a.com/", "10.0.0.5")
    assert "metadata" in wild.refusal("http://vllm.a.com/v1", "169.254.169.254")
    assert wild.refusal("http://x.a.com/", "8.8.8.8") == ""


def test_variables_make_the_gate() -> None:
    own = {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1", "VPP_MODEL": "m"}
    assert not Gate.of(Environment.of(own)).is_shared
    listed = Gate.of(Environment.of({**own, "VPP_ALLOWED_ENDPOINTS": "api.a.com, *.b.com"}))
    listed.check("http://127.0.0.1:8000/v1")
    listed.check("https://x.b.com")
    fixed = Gate.of(Environment.of({**own, "VPP_ENDPOINT_FIXED": "1", "VPP_ALLOWED_ENDPOINTS": "api.a.com"}))
    fixed.check("http://127.0.0.1:8000/v1", "m")
    with pytest.raises(InputError, match="not among the endpoints"):
        fixed.check("https://api.a.com")
    with pytest.raises(InputError, match="model 'dear' is not among those"):
        fixed.check("http://127.0.0.1:8000/v1", "dear")


SETTINGS: tuple[tuple[dict[str, str], str], ...] = (
    ({"VPP_ENDPOINT_FIXED": "1"}, "no endpoint is named: set OPENAI_BASE_URL and VPP_MODEL"),
    ({"VPP_ENDPOINT_FIXED": "maybe"}, "VPP_ENDPOINT_FIXED is 'maybe': write 1 or 0"),
    ({"VPP_ALLOWED_ENDPOINTS": " , "}, "a list of nothing"),
    ({"VPP_ALLOWED_USERS": "a@b.c"}, "set VPP_LOGIN=1 too"),
    ({"VPP_MAX_CALLS_PER_USER": "-1"}, "VPP_MAX_CALLS_PER_USER is '-1': it must be a whole number of at least 1"),
)


def test_an_unusable_setting_is_refused() -> None:
    for variables, words in SETTINGS:
        with pytest.raises(InputError, match=words):
            Environment.of(variables)


# Over real sockets


async def ask(base_url: str, gate: Gate) -> Completion:
    endpoint = endpoint_at(base_url, "m", api_key="sk-secret-0123", gate=gate)
    try:
        return await endpoint.complete([], temperature=0, seed=0, max_tokens=9)
    finally:
        await endpoint.aclose()


def leading(monkeypatch: pytest.MonkeyPatch, **names: list[str]) -> list[str]:
    """Replace the resolver: each look-up of a name gives the next of its addresses. Returns the list of look-ups."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **more: Any) -> Any:
        name = str(host).partition(".")[0]
        if name not in names:
            return real(host, port, *args, **more)
        asked.append(str(host))
        address = names[name].pop(0) if len(names[name]) > 1 else names[name][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, int(port)))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def at(name: str, stub: Stub) -> str:
    return stub.base_url.replace("127.0.0.1", name)


async def test_a_name_that_leads_to_this_machine_is_refused_as_the_connection_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up = leading(monkeypatch, inner=["127.0.0.1"])

    async with serving(script(chat())) as stub:
        with pytest.raises(
            EndpointRefused, match=r"inner.test:\d+ leads to 127.0.0.1, which is an address of the serv"
        ):
            await ask(at("inner.test", stub), SHARED)
        assert await asyncio.to_thread(page_beside, at("inner.test", stub), "/version", SHARED) is None
        assert stub.requests == []
        assert (await ask(at("inner.test", stub), OWN)).text == "Output: 1"
        assert await asyncio.to_thread(page_beside, at("inner.test", stub), "/version", OWN)
        assert (await ask(at("inner.test", stub), Gate(is_shared=True, named=("inner.test",)))).text == "Output: 1"
    assert looked_up


async def test_a_name_that_changes_where_it_leads_is_checked_at_each_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leading(monkeypatch, rebinding=["127.0.0.1", "169.254.169.254"])

    async with serving(script(chat())) as stub:
        assert (await ask(at("rebinding.test", stub), OWN)).text == "Output: 1"
        with pytest.raises(EndpointRefused, match=r"leads to 169\.254\.169\.254, which is a link-local or metadata"):
            await ask(at("rebinding.test", stub), OWN)
        assert len(stub.requests) == 1


async def test_numbers_that_only_the_resolver_understands_are_refused_too() -> None:
    async with serving(script(chat())) as stub:
        for spelled in ("localhost", "127.0.0.1", "2130706433", "127.0.0.1."):
            with pytest.raises((EndpointRefused, InputError), match="address of the server's own machine"):
                await ask(at(spelled, stub), SHARED)
        assert stub.requests == []


async def test_a_redirect_is_reported_and_not_followed() -> None:
    async with serving(script(chat())) as second:
        there = Reply(b"", status=307, headers={"location": f"{second.base_url}/chat/completions"})
        async with serving(script(there)) as first:
            place = re.escape(second.base_url)
            with pytest.raises(EndpointRefused, match=rf"it redirects .*give the address it redirects to, {place}"):
                await ask(first.base_url, OWN)
            assert len(first.requests) == 1
            assert await asyncio.to_thread(page_beside, first.base_url, "/version", OWN) is None
        assert second.requests == []


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
                await ask(stub.base_url, OWN)


async def test_no_cookie_is_kept() -> None:
    said = chat()
    async with serving(script(Reply(said.body, headers={"set-cookie": "a=1; Path=/"}))) as stub:
        endpoint = endpoint_at(stub.base_url, "m")
        for number in range(2):
            await endpoint.complete([], temperature=0, seed=number, max_tokens=9)
        await endpoint.aclose()
        assert ["cookie" in request.headers for request in stub.requests] == [False, False]


async def test_no_proxy_is_asked_for_what_it_could_reach_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "")
    leading(monkeypatch, outer=["127.0.0.1"])

    async with serving(script(chat())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        with pytest.raises(EndpointRefused, match=r"leads to 127\.0\.0\.1"):
            await ask("http://outer.test:80/v1", SHARED)
        assert await asyncio.to_thread(page_beside, "http://outer.test:80/v1", "/version", SHARED) is None
        assert proxy.requests == []
        named = Gate(is_shared=True, named=("outer.test",))
        assert (await ask("http://outer.test:80/v1", named)).text == "Output: 1"
        assert proxy.requests[0].path.startswith("http://outer.test")
