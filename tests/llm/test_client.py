"""Certificates that the client trusts; its requests are tested through the endpoint."""

import os
import ssl

import pytest

from vpp.llm.client import authorities, proxy_for

PROXY = "http://proxy.test:3128"
USUAL = (("https://a.test/v1", ""), ("https://a.test/v1", PROXY), ("http://a.test/v1", PROXY))
NONE = (("http://127.0.0.1:8000/v1", PROXY), ("http://a.test/v1", ""), ("HTTP://b.test/v1", PROXY))


def test_without_tls_no_authorities_are_loaded_and_nobodys_certificate_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("no_proxy", "b.test")
    for base_url, proxy in (*USUAL, *NONE):
        monkeypatch.setenv("all_proxy", proxy)
        trusted = authorities(base_url, proxy=proxy_for(base_url))
        is_usual = (base_url, proxy) in USUAL
        assert (trusted.cert_store_stats()["x509"] > 0) is is_usual
        assert (trusted.verify_mode, trusted.check_hostname) == (ssl.CERT_REQUIRED, True)
