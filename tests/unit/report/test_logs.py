"""Finished cycles in MLflow, Weights & Biases and OpenTelemetry: read back by the tools' own packages, once
each however often they are logged, and a log that fails stops nothing."""

from __future__ import annotations

import json
import struct
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from commands import evolake
from local_server import listening
from mlflow import MlflowClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from solver_lake import ID, NOON, make_lake
from wandb.proto import wandb_internal_pb2

from evolake.lake import VERDICTS, Lake, side_table
from evolake.report import logs
from evolake.report.logs import log_at_end, log_cycles, log_of, shown
from evolake.settings import LogsSettings

LINE = "solvers"
MEASURE = "trend/PAR-2 of the champion"


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> tuple[Lake, LogsSettings, Path]:
    """A lake of two cycles that was logged once."""
    folder = tmp_path_factory.mktemp("logged")
    lake = make_lake(folder / "lake")
    places = LogsSettings(
        mlflow=f"sqlite:///{folder}/mlflow.db", wandb=str(folder / "w"), otel=str(folder / "spans")
    )
    rows = log_cycles(lake, LINE, places)
    assert [(row["cycle"], row["target"], row["state"], row.get("reason")) for row in rows] == [
        (cycle, target, "logged", None)
        for cycle in ("0002", "0001")
        for target in ("mlflow", "wandb", "otel")
    ]
    return lake, places, folder


def mlflow_runs(places: LogsSettings) -> list:
    client = MlflowClient(places.mlflow)
    found = client.get_experiment_by_name(f"evolake/{LINE}")
    assert found is not None
    return client.search_runs([found.experiment_id], order_by=["tags.cycle"])


def wandb_records(run: Path) -> list:
    """Its file is a log as LevelDB's: blocks of 32 KiB, of parts that begin with checksum, length and kind
    (whole, first, middle or last part of a record)."""
    data, records, part, place = next(run.glob("*.wandb")).read_bytes(), [], b"", 7
    assert data[:4] == b":W&B"
    while place + 7 <= len(data):
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        part += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            records.append(wandb_internal_pb2.Record.FromString(part))  # pyright: ignore[reportAttributeAccessIssue]
            part = b""
    return records


def wandb_run(run: Path) -> tuple[str, dict, dict]:
    """Group, config and summary."""
    records = wandb_records(run)
    [about] = [record.run for record in records if record.WhichOneof("record_type") == "run"][-1:]
    config = {item.key: json.loads(item.value_json) for item in about.config.update}
    summary = {
        item.key or item.nested_key[0]: json.loads(item.value_json)
        for record in records
        if record.WhichOneof("record_type") == "summary"
        for item in record.summary.update
    }
    return about.run_group, config, summary


def spans_in(folder: Path, cycle: str) -> list[dict]:
    [resource] = json.loads((folder / f"{LINE}-{cycle}.json").read_text())["resourceSpans"]
    return [span for scope in resource["scopeSpans"] for span in scope["spans"]]


def test_mlflow_has_a_run_for_each_cycle_with_its_numbers(logged):
    _, places, _ = logged
    first, second = mlflow_runs(places)
    assert [run.data.tags["cycle"] for run in (first, second)] == ["0001", "0002"]
    assert [run.data.metrics[MEASURE] for run in (first, second)] == [2.3, 1.15]
    assert (first.data.metrics["stopped/correctness"], first.data.metrics["candidates"]) == (1, 2)
    assert second.data.tags["leads"] == f"<b>fast</b> ({ID['fast'][:12]}), since cycle 0002"
    assert (second.info.status, second.info.run_name) == ("FINISHED", "solvers 0002")


def test_wandb_has_an_offline_run_for_each_cycle(logged):
    _, _, folder = logged
    runs = [wandb_run(run) for run in (folder / "w" / "wandb").glob("offline-run-*")]
    by_cycle = {config["cycle"]: (group, summary) for group, config, summary in runs}
    assert sorted(by_cycle) == ["0001", "0002"]
    group, summary = by_cycle["0001"]
    assert (group, summary[MEASURE], summary["stopped/correctness"]) == (LINE, 2.3, 1)


def test_spans_of_a_cycle_are_calls_gates_and_evaluations_below_the_cycle(logged):
    lake, _, folder = logged
    root, *spans = spans_in(folder / "spans", "0001")
    log = log_of(lake, LINE, "0001")
    assert root["traceId"] == log.id and "parentSpanId" not in root
    assert {span["parentSpanId"] for span in spans} == {root["spanId"]}
    assert {span["traceId"] for span in spans} == {log.id}
    assert len({span["spanId"] for span in (root, *spans)}) == len(spans) + 1
    assert {span["name"].split()[0] for span in spans} >= {"call", "gate"}
    [stopped] = [span for span in spans if span["status"].get("code") == 2]
    assert stopped["name"] == "gate correctness"
    said = {item["key"]: item["value"] for item in stopped["attributes"]}
    assert said["evolake.artifact_id"] == {"stringValue": ID["liar"]}


def test_an_endpoint_gets_the_same_spans_by_otlp(logged):
    lake, _, folder = logged
    got: list[ExportTraceServiceRequest] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            assert self.path == "/v1/traces?key=secret"
            got.append(
                ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with listening(Collector) as address:
        rows = log_cycles(lake, LINE, LogsSettings(otel=f"{address}/v1/traces?key=secret"), again=True)
    sent = [span for item in got for span in item.resource_spans[0].scope_spans[0].spans]
    assert [row["state"] for row in rows] == ["logged", "logged"]
    assert {row["place"] for row in rows} == {f"{address}/v1/traces"}
    kept = [span for cycle in ("0002", "0001") for span in spans_in(folder / "spans", cycle)]
    assert [(span.name, span.span_id.hex()) for span in sent] == [
        (span["name"], span["spanId"]) for span in kept
    ]
    assert [str(span.end_time_unix_nano) for span in sent] == [span["endTimeUnixNano"] for span in kept]


def test_a_cycle_is_in_a_log_once_also_after_a_kill_or_a_second_run(tmp_path):
    lake = make_lake(tmp_path / "lake")
    places = LogsSettings(mlflow=f"sqlite:///{tmp_path}/mlflow.db", wandb=str(tmp_path / "w"))
    log_cycles(lake, LINE, places)
    assert log_cycles(lake, LINE, places) == []
    # killed after the log had the cycle, before the lake noted it
    lake.publish(LINE, "logged", lake.read(LINE, "logged", "0001").clear(), cycle="0001", run_id="x")
    assert len(log_cycles(lake, LINE, places)) == 2
    # the cycle ran again, with another verdict
    row = {
        "artifact_id": ID["tuned"],
        "cycle": "0001",
        "gate_no": 0,
        "gate": "compliance",
        "rule_id": "r-new",
    }
    row |= {"rule_version": "1", "outcome": "block", "reason": "no", "run_id": "x", "judged_at": NOON}
    lake.publish(
        LINE,
        side_table("compliance", VERDICTS),
        VERDICTS.frame([row]),
        cycle="0001",
        run_id="x",
        schema=VERDICTS,
    )
    assert {(row["cycle"], row["target"]) for row in log_cycles(lake, LINE, places)} == {
        ("0001", "mlflow"),
        ("0001", "wandb"),
    }
    assert [run.data.tags["cycle"] for run in mlflow_runs(places)] == ["0001", "0002"]
    assert mlflow_runs(places)[0].data.metrics["stopped/compliance"] == 1
    runs = [wandb_run(run) for run in (tmp_path / "w" / "wandb").glob("offline-run-*")]
    assert sorted(config["cycle"] for _, config, _ in runs) == ["0001", "0002"]


def test_a_log_that_fails_is_a_row_and_a_sentence_and_is_tried_again(tmp_path):
    lake = make_lake(tmp_path / "lake")
    place = tmp_path / "spans"
    place.write_text("no folder")
    places = LogsSettings(otel=str(place))
    [sentence] = log_at_end(lake, LINE, "0001", places)
    assert (
        sentence.startswith("cycle 0001 is not in the log otel: FileExistsError") and "lake log" in sentence
    )
    row = lake.read(LINE, "logged", "0001").row(0, named=True)
    assert (row["state"], row["version"], row["place"]) == ("failed", None, str(place))
    place.unlink()
    assert log_at_end(lake, LINE, "0002", places) == []
    assert sorted(path.name for path in place.iterdir()) == ["solvers-0001.json", "solvers-0002.json"]
    assert lake.read(LINE, "logged", "0001")["state"].to_list() == ["logged"]


def test_a_log_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    lake = make_lake(tmp_path / "lake")
    monkeypatch.setattr(logs, "PATIENCE_S", 0.01)
    [sentence] = log_at_end(lake, LINE, "0002", LogsSettings(otel=str(tmp_path / "spans")))
    assert "it took more than 0.01 s" in sentence


def test_no_log_is_named_no_log_is_written(tmp_path):
    assert log_at_end(make_lake(tmp_path / "lake"), LINE, "0002", LogsSettings()) == []


def test_the_command_logs_every_line_and_says_what_failed(tmp_path, monkeypatch):
    lake = make_lake(tmp_path / "lake")
    monkeypatch.setenv("EVOLAKE_LAKE", str(lake.root))
    monkeypatch.setenv("EVOLAKE_LOGS__OTEL", str(tmp_path / "spans"))
    done = evolake("lake", "log")
    assert (done.returncode, done.stdout) == (0, "2 written to otel\n")
    found = json.loads(evolake("lake", "log", LINE, "--again", "--json").stdout)
    assert found["verdict"] == "logged" and [row["cycle"] for row in found["cycles"]] == ["0002", "0001"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVOLAKE_LOGS__OTEL", str(tmp_path / "file"))
    done = evolake("lake", "log")
    assert done.returncode == 1 and "solvers 0002 is not in otel: FileExistsError" in done.stdout


def test_an_address_is_shown_without_its_secrets():
    assert shown("postgresql://me:word@host/db?sslkey=k") == "postgresql://host/db"
    assert shown("/srv/logs") == "/srv/logs"
