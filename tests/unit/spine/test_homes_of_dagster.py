"""A home of Dagster that cannot be used is refused with its cause, before anything is started."""

from __future__ import annotations

import errno
import fcntl

import pytest

from evolake.errors import InputError, LakeError
from evolake.lake import locks
from pipelines.home import ensure_home

TWICE = """
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config: {max_concurrent_runs: -1}
concurrency:
  runs: {max_concurrent_runs: 10}
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (TWICE, "is incompatible with the `concurrency > runs` config"),
        ("a: [\n", "line 2, column 1"),
        ("telemetry: yes\n", "telemetry must be dict"),
        ("run_launcher: {module: nosuch.module, class: X}\n", "nosuch.module"),
        ("storage: {postgres: {postgres_url: {env: NOSUCH}}}\n", "NOSUCH"),
        ("storage: {postgres: {postgres_url: 'postgresql+psycopg2://u:p@127.0.0.1:9/d'}}\n", "127.0.0.1"),
    ],
)
def test_a_configuration_that_dagster_refuses_is_named_with_its_file(tmp_path, text, cause):
    (tmp_path / "dagster.yaml").write_text(text)
    with pytest.raises(InputError) as raised:
        ensure_home(tmp_path)
    assert raised.value.what == f"{tmp_path / 'dagster.yaml'} cannot be used"
    assert cause in str(raised.value.got)


@pytest.mark.parametrize("call", ["flock", "lockf"])
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(tmp_path, call, number, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError(number, "no locks")

    monkeypatch.setattr(locks, "_with_locks", set())
    monkeypatch.setattr(fcntl, call, refused)
    with pytest.raises(LakeError, match=f"files in {tmp_path} cannot be locked"):
        ensure_home(tmp_path)
    with (
        pytest.raises(LakeError, match="cannot be locked"),
        locks.hold(tmp_path / "locks" / "x.lock", what="x", run_id="r", timeout_s=30),
    ):
        pass
