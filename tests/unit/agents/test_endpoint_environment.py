"""Proxies and certificates that the environment names: they serve, or are refused by name."""

import os

import pytest

from evolake.agents.endpoint import Endpoint
from evolake.errors import InputError


@pytest.fixture(autouse=True)
def bare(monkeypatch) -> None:
    for name in list(os.environ):
        if name.upper().endswith("_PROXY") or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)


def reach(host: str = "http://127.0.0.1:9/v1") -> Endpoint:
    return Endpoint(host, "key", deadline_s=1, retries=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("all_proxy", "socks5h://127.0.0.1:9"),
        ("HTTPS_PROXY", "ftp://127.0.0.1"),
        ("HTTP_PROXY", "http://[::1"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name} cannot be used to reach the model endpoint") as raised:
        reach()
    assert str(raised.value.got).startswith(f"{name}={value}: ")
    assert "socksio" in str(raised.value.wanted) and "NO_PROXY" in str(raised.value.do)


def test_a_password_of_a_proxy_is_not_shown(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secret@127.0.0.1:9")
    with pytest.raises(InputError) as raised:
        reach()
    assert "secret" not in str(raised.value) and "socks5://...@127.0.0.1:9" in str(raised.value)


@pytest.mark.parametrize("excepted", ["127.0.0.1", "example.org,127.0.0.1", "*"])
def test_a_host_that_needs_no_proxy_is_reached_without_one(excepted, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", excepted)
    assert reach().base_url == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("content", [None, "no certificate\n"])
def test_certificates_that_are_none_are_named(content, tmp_path, monkeypatch):
    path = tmp_path / "corp.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(InputError, match="SSL_CERT_FILE cannot be used") as raised:
        reach()
    assert str(raised.value.got).startswith(f"SSL_CERT_FILE={path}: ")
