"""Fixtures of all integration tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch) -> None:
    """Servers on loopback are reached directly, whatever proxy this machine has."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
