"""Failed runs are told: posted to a real server on loopback, handed to a real command; what was not taken is
an error."""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dagster as dg
import pytest
from designs_fixtures import ROOT

from evolake import settings
from evolake.alerts import alert
from evolake.errors import InputError, MachineryError
from pipelines.alerts import about, alerts


class Told(ThreadingHTTPServer):
    """What was posted; `status` is what each post is answered."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taker)
        self.bodies: list[dict] = []
        self.status = 200


class Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *given: object) -> None:
        """Nothing on the screen."""


@pytest.fixture
def server(monkeypatch) -> Iterator[Told]:
    with Told() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("EVOLAKE_ALERT_WEBHOOK", f"http://127.0.0.1:{server.server_port}/services/SECRET")
        yield server
        server.shutdown()


def failed_run(project) -> dg.RunFailureSensorContext:
    project.grow("nightly", 1)
    project.plant("fail-nightly-0002")
    result = project.cycle("nightly", "0002")
    run = project.instance.get_run_by_id(result.run_id)
    end = dg.DagsterEvent("PIPELINE_FAILURE", run.job_name, message="the run failed")
    return dg.build_run_status_sensor_context("alerts", end, project.instance, run).for_run_failure()


def test_a_failed_cycle_is_posted_and_handed_to_the_command_with_its_reason(
    project, server, tmp_path, monkeypatch
):
    heard = tmp_path / "heard.json"
    command = [
        sys.executable,
        "-c",
        "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read())",
        str(heard),
    ]
    monkeypatch.setenv("EVOLAKE_ALERT_COMMAND", shlex.join(command))
    assert alerts().default_status == dg.DefaultSensorStatus.RUNNING
    context = failed_run(project)
    alerts()(context)
    [report] = server.bodies
    assert report == json.loads(heard.read_text()) == about(context)
    assert (report["event"], report["job"], report["cycle"], report["run_id"]) == (
        "run_failed",
        "nightly_cycle",
        "0002",
        context.dagster_run.run_id,
    )
    assert report["reason"] == "nightly/survivors: planted failure in cycle 0002"
    assert report["text"].startswith(
        "evolake: nightly cycle 0002 failed: nightly/survivors: planted failure in cycle 0002"
    )


def test_the_sensor_of_the_page_on_projects_of_ones_own_reports_a_failed_cycle(project, capsys):
    [code] = re.findall(r"```python\n(.+?)```", (ROOT / "docs" / "own-dagster.md").read_text(), re.DOTALL)
    found: dict[str, Any] = {"__name__": "page"}
    exec(code, found)
    sensor, context = found["tell_me"], failed_run(project)
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    capsys.readouterr()
    sensor(context)
    assert capsys.readouterr().out == "nightly_cycle 0002 failed: the run failed\n"


DEFAULT = "This run has been marked as failed from outside the execution context."


@pytest.mark.parametrize(
    ("records", "message", "reason"),
    [
        ((), None, "no reason is recorded: the run was marked as failed from outside"),
        (
            (),
            "The process of this run ended before the run did (killed?). Start its cycle again.",
            "The process of this run ended before the run did",
        ),
        (
            (),
            "Run timed out due to taking longer than 300 seconds to start.",
            "Run timed out due to taking longer than 300 seconds to start.",
        ),
        (
            ("Run execution process for r unexpectedly exited with code -9.",),
            None,
            "Run execution process for r unexpectedly exited with code -9.",
        ),
        (
            ("Exceeded maximum runtime of 60 seconds: exceeded maximum runtime",),
            None,
            "Exceeded maximum runtime of 60 seconds",
        ),
    ],
)
def test_an_alert_names_what_ended_a_run_that_has_no_failed_step(project, records, message, reason):
    run = project.instance.create_run_for_job(
        project.defs.resolve_job_def("nightly_cycle"), status=dg.DagsterRunStatus.STARTED
    )
    for record in records:
        project.instance.report_engine_event(record, run)
    end = project.instance.report_run_failed(run, message)
    assert message or end.message == DEFAULT, "Dagster's words"
    context = dg.build_run_status_sensor_context("alerts", end, project.instance, run).for_run_failure()
    assert about(context)["reason"].startswith(reason)


def test_where_nobody_is_named_the_sensor_is_off(monkeypatch):
    for name in ("EVOLAKE_ALERT_COMMAND", "EVOLAKE_ALERT_WEBHOOK"):
        monkeypatch.delenv(name, raising=False)
    assert alerts().default_status == dg.DefaultSensorStatus.STOPPED


def test_an_alert_that_is_not_taken_is_an_error_without_the_address_and_the_other_way_is_tried(
    server, monkeypatch
):
    server.status = 500
    monkeypatch.setenv("EVOLAKE_ALERT_COMMAND", "false")
    with pytest.raises(
        MachineryError, match=r"false ended with 1: ; the webhook at 127.0.0.1: HTTP 500"
    ) as raised:
        alert(settings.load(), {"text": "told"})
    assert server.bodies == [{"text": "told"}]
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EVOLAKE_ALERT_WEBHOOK", "ftp://somewhere"),
        ("EVOLAKE_ALERT_COMMAND", 'mail "'),
        ("EVOLAKE_ALERT_COMMAND", "  "),
    ],
)
def test_what_is_no_address_and_no_command_is_refused_by_name(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        alert(settings.load(), {"text": "told"})
