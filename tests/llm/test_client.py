"""Certificates that the client trusts; its requests are tested through the endpoint."""

import os
import ssl

import pytest

from vpp.llm.client import authorities

PROXY = "http://proxy.test:3128"
USUAL = (("https://a.test/v1", False, ""), ("https://a.test/v1", True, PROXY), ("http://a.test/v1", True, PROXY))
NONE = (("http://127.0.0.1:8000/v1", False, PROXY), ("http://a.test/v1", True, ""), ("HTTP://a.test/v1", False, ""))


def test_without_tls_no_authorities_are_loaded_and_nobodys_certificate_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for base_url, proxied, proxy in (*USUAL, *NONE):
        monkeypatch.setenv("http_proxy", proxy)
        trusted = authorities(base_url, proxied=proxied)
        if (base_url, proxied, proxy) in USUAL:
            assert trusted is True
            continue
        assert isinstance(trusted, ssl.SSLContext)
        assert trusted.cert_store_stats()["x509"] == 0
        assert (trusted.verify_mode, trusted.check_hostname) == (ssl.CERT_REQUIRED, True)
