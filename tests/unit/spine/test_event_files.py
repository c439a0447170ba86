"""The files of a run's events stay open while it writes to them, and are left as Dagster leaves them."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from pipelines.event_files import kept_open

RUN = "6f1c2c0e-0000-4000-8000-000000000001"


@dg.op
def speaks(context) -> None:
    for number in range(3):
        context.log.info(f"line {number}")


@dg.job
def speaking() -> None:
    speaks()


@pytest.fixture
def instance(tmp_path: Path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        yield made


def logs_of(instance: dg.DagsterInstance) -> dict[str, bool]:
    """shard -> whether its log of changes is there."""
    storage = instance.event_log_storage
    assert isinstance(storage, SqliteEventLogStorage)
    return {
        name: Path(storage.path_for_shard(shard) + "-wal").exists()
        for name, shard in (("run", RUN), ("index", "index"))
    }


def test_the_logs_stay_while_a_run_writes_and_are_gone_afterwards(instance: dg.DagsterInstance):
    with kept_open(instance, RUN):
        assert speaking.execute_in_process(instance=instance, run_id=RUN).success
        assert logs_of(instance) == {"run": True, "index": True}
        assert len([entry for entry in instance.all_logs(RUN) if "line" in entry.user_message]) == 3
    assert logs_of(instance) == {"run": False, "index": False}
    assert len([entry for entry in instance.all_logs(RUN) if "line" in entry.user_message]) == 3


def test_without_it_every_event_removes_them(instance: dg.DagsterInstance):
    assert speaking.execute_in_process(instance=instance, run_id=RUN).success
    assert logs_of(instance) == {"run": False, "index": False}


def test_events_that_lie_elsewhere_are_left_alone(tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance, kept_open(instance, RUN):
        assert speaking.execute_in_process(instance=instance, run_id=RUN).success
    assert list(tmp_path.iterdir()) == []
