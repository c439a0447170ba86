"""`evolake doctor` looks at everything, whatever is broken, and names it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolake.cli import doctor
from evolake.cli.doctor import Check, examine
from evolake.errors import LakeError
from evolake.lake import locks

LAST = "GPU"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path


def looked_at() -> dict[str, Check]:
    return {check.name: check for check in examine()}


def test_settings_that_cannot_be_read_hide_nothing_else(place, monkeypatch):
    def broken(mode: str) -> Iterator[Check]:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setenv("EVOLAKE_WORKERS", "many")
    monkeypatch.setenv("EVOLAKE_BACKENDS", "model")
    monkeypatch.setattr(doctor, "_jail", broken)
    seen = looked_at()
    assert not seen["settings"].ok and "setting 'workers'" in seen["settings"].detail
    assert "did you mean EVOLAKE_BACKEND?" in seen["variables"].detail
    assert (seen["jail"].ok, seen["jail"].detail) == (
        False,
        "PermissionError: [Errno 1] Operation not permitted",
    )
    assert seen["nightly schedule"].ok and LAST in seen


def test_a_bad_home_schedule_and_file_system_are_named_next_to_each_other(place, monkeypatch):
    def refused(folder: Path) -> None:
        raise LakeError(f"files in {folder} cannot be locked", do="put them elsewhere")

    (place / "home" / "dagster.yaml").write_text("telemetry: yes\n")
    monkeypatch.setenv("EVOLAKE_NIGHTLY_CRON", "every day")
    monkeypatch.setattr(locks, "require_locks", refused)
    monkeypatch.setattr(doctor, "_jail", lambda mode: iter(()))
    seen = looked_at()
    assert "cannot be locked" in seen["file locks"].detail and seen["file locks"].mend == "put them elsewhere"
    assert "telemetry must be dict" in seen["Dagster's home"].detail
    assert "EVOLAKE_NIGHTLY_CRON is no schedule: 'every day'" in seen["nightly schedule"].detail
    assert not seen["nightly schedule"].ok and not seen["nightly schedule"].needed and LAST in seen


@pytest.mark.parametrize(
    ("name", "value"), [("SSL_CERT_FILE", "/nope/ca.pem"), ("HTTPS_PROXY", "ftp://x:99999")]
)
def test_a_client_that_cannot_be_built_is_named_without_a_call(name, value, monkeypatch):
    for setting, given in (
        ("MODEL_BASE_URL", "https://models.example.invalid/v1"),
        ("MODEL_API_KEY", "none"),
        ("MODELS", '{"default": "m"}'),
    ):
        monkeypatch.setenv(f"EVOLAKE_{setting}", given)
    monkeypatch.setattr(doctor, "_jail", lambda mode: iter(()))
    assert looked_at()["model endpoint"].ok
    monkeypatch.setenv(name, value)
    endpoint = looked_at()["model endpoint"]
    assert name in endpoint.detail and not endpoint.ok
