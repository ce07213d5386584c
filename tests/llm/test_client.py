"""Certificates that the client trusts; its requests are tested through the endpoint."""

import os
import ssl

import pytest

from vpp.llm.client import authorities

PROXY = "http://proxy.test:3128"


@pytest.mark.parametrize(
    ("base_url", "proxied", "proxy"),
    [("https://a.test/v1", False, ""), ("https://a.test/v1", True, PROXY), ("http://a.test/v1", True, PROXY)],
)
def test_where_tls_may_be_spoken_the_usual_authorities_are_taken(
    base_url: str, proxied: bool, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only_proxy(proxy, monkeypatch)
    assert authorities(base_url, proxied=proxied) is True


@pytest.mark.parametrize(
    ("base_url", "proxied", "proxy"),
    [("http://127.0.0.1:8000/v1", False, PROXY), ("http://a.test/v1", True, ""), ("HTTP://a.test/v1", False, "")],
)
def test_a_run_without_tls_waits_for_no_authorities_and_takes_nobodys_certificate(
    base_url: str, proxied: bool, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only_proxy(proxy, monkeypatch)
    trusted = authorities(base_url, proxied=proxied)
    assert isinstance(trusted, ssl.SSLContext)
    assert (trusted.cert_store_stats()["x509"], trusted.verify_mode, trusted.check_hostname) == (
        0,
        ssl.CERT_REQUIRED,
        True,
    )


def _only_proxy(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names this proxy for plain HTTP; none where it is empty."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    if address:
        monkeypatch.setenv("http_proxy", address)
