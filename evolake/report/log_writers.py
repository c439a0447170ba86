"""What is logged of a cycle, and how it is written into a log of another tool, in the place of what that log
had of the cycle.

A writer takes (what is logged, where) and raises whatever goes wrong. Each package is optional, and loaded
when it is used; none sends anything elsewhere (telemetry and reports of errors are off).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.errors import MachineryError
from evolake.lake import disk

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

PROJECT = "evolake"
ID, VERSION = "evolake.id", "evolake.version"
LONGEST = 5_000
"""Characters of a tag that MLflow accepts."""
MOST = 500
"""Metrics or spans of one request."""
ANSWER_S = 30.0
GEN_AI = {
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
}
"""Column of a call -> its name in OpenTelemetry's conventions."""
SPAN_IDS = {"traceId", "spanId", "parentSpanId"}


@dataclass(frozen=True)
class Span:
    """Work of a cycle with its times (UTC). kind: call, gate or evaluation. good: whether it did what was
    asked."""

    kind: str
    name: str
    began: datetime
    ended: datetime
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    good: bool = True


@dataclass(frozen=True)
class CycleLog:
    """What is logged of one cycle.

    Attributes:
        facts: name -> text. numbers: name -> finite number. scores: of its candidates, in the order in which
            they were made. left_out: evaluations that are no spans, because they are too many.
    """

    lake: str
    line: str
    cycle: str
    began: datetime
    ended: datetime
    facts: Mapping[str, str]
    numbers: Mapping[str, float]
    scores: Sequence[float]
    spans: Sequence[Span] = field(repr=False, default=())
    left_out: int = 0

    @property
    def id(self) -> str:
        """The same for every log of the cycle: 32 hex digits."""
        return hashlib.sha256(f"{self.lake}/{self.line}/{self.cycle}".encode()).hexdigest()[:32]

    @property
    def version(self) -> str:
        """sha256 (hex) of the content."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True, default=str).encode()).hexdigest()


def to_mlflow(log: CycleLog, uri: str) -> None:
    """Write a run of the experiment `evolake/LINE`: numbers at step CYCLE, scores of candidates at steps from
    0, the rest as tags."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    from mlflow import MlflowClient
    from mlflow.entities import Metric, RunTag

    client, name = MlflowClient(uri), f"{PROJECT}/{log.line}"
    found = client.get_experiment_by_name(name)
    experiment = found.experiment_id if found else client.create_experiment(name)
    for run in client.search_runs([experiment], f"tags.`{ID}` = '{log.id}'"):
        client.delete_run(run.info.run_id)
    began, ended = (round(at.timestamp() * 1000) for at in (log.began, log.ended))
    facts = {key: value[:LONGEST] for key, value in log.facts.items()}
    tags = facts | {"line": log.line, "cycle": log.cycle, ID: log.id, VERSION: log.version}
    run_id = client.create_run(
        experiment, start_time=began, run_name=f"{log.line} {log.cycle}", tags={ID: log.id}
    ).info.run_id
    metrics = [Metric(key, value, ended, int(log.cycle)) for key, value in log.numbers.items()]
    metrics += [Metric("candidate", score, ended, step) for step, score in enumerate(log.scores)]
    client.log_batch(run_id, tags=[RunTag(*pair) for pair in tags.items()])
    for first in range(0, len(metrics), MOST):
        client.log_batch(run_id, metrics=metrics[first : first + MOST])
    client.set_terminated(run_id, end_time=ended)


def to_wandb(log: CycleLog, folder: str) -> None:
    """Write an offline run, of group LINE, that `wandb sync` sends: the numbers as its summary, the rest as
    its config, scores of candidates as its steps."""
    place = Path(folder)
    for old in place.glob(f"wandb/offline-run-*-{log.id}"):
        shutil.rmtree(old)
    os.environ["WANDB_ERROR_REPORTING"] = "false"
    import wandb

    place.mkdir(parents=True, exist_ok=True)
    run = wandb.init(
        project=PROJECT,
        group=log.line,
        name=f"{log.line} {log.cycle}",
        id=log.id,
        dir=place,
        mode="offline",
        config={"line": log.line, "cycle": log.cycle, VERSION: log.version, **log.facts},
        settings=wandb.Settings(
            console="off",
            disable_code=True,
            disable_git=True,
            silent=True,
            x_disable_machine_info=True,
            x_disable_stats=True,
            x_save_requirements=False,
        ),
    )
    for step, score in enumerate(log.scores):
        run.log({"candidate": score}, step=step)
    run.summary.update(dict(log.numbers))
    run.finish()


def to_otel(log: CycleLog, place: str) -> None:
    """Send one trace by OTLP over HTTP; if the place is a folder, write it there as LINE-CYCLE.json, an OTLP
    request in JSON.

    Raises:
        MachineryError: the endpoint did not take it.
    """
    spans = list(_spans(log))
    if place.startswith(("http://", "https://")):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult

        exporter = OTLPSpanExporter(place, timeout=ANSWER_S)
        for first in range(0, len(spans), MOST):
            if exporter.export(spans[first : first + MOST]) is not SpanExportResult.SUCCESS:
                raise MachineryError("the endpoint did not take the spans")
        return
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    data = json.dumps(_hex_ids(MessageToDict(encode_spans(spans), use_integers_for_enums=True))).encode()
    Path(place).mkdir(parents=True, exist_ok=True)
    disk.write_atomic(Path(place) / f"{log.line}-{log.cycle}.json", data, tag="log")


def _spans(log: CycleLog) -> Iterator[ReadableSpan]:
    """Yield the span of the cycle, then one for each call, gate and evaluation."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    resource = Resource({"service.name": PROJECT, "service.version": __version__})
    trace = int(log.id, 16)

    def named(number: int) -> SpanContext:
        return SpanContext(trace, (trace + number) % 2**63 or 1, False, TraceFlags(TraceFlags.SAMPLED))

    facts = {**log.facts, **log.numbers, "line": log.line, "cycle": log.cycle, "left_out": log.left_out}
    yield ReadableSpan(
        f"cycle {log.line} {log.cycle}",
        named(0),
        resource=resource,
        attributes=_attributes(facts),
        start_time=_nanoseconds(log.began),
        end_time=_nanoseconds(log.ended),
    )
    for number, span in enumerate(log.spans, 1):
        yield ReadableSpan(
            span.name,
            named(number),
            named(0),
            resource,
            _attributes(span.facts),
            kind=SpanKind.CLIENT if span.kind == "call" else SpanKind.INTERNAL,
            status=Status(StatusCode.OK if span.good else StatusCode.ERROR),
            start_time=_nanoseconds(span.began),
            end_time=_nanoseconds(span.ended),
        )


def _attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {GEN_AI.get(name, f"{PROJECT}.{name}"): value for name, value in facts.items()}


def _hex_ids(value: Any) -> Any:
    """Return an OTLP message with its ids as hex digits, as OTLP's JSON has them; protobuf's is base64."""
    if isinstance(value, list):
        return [_hex_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: b64decode(item).hex() if name in SPAN_IDS else _hex_ids(item) for name, item in value.items()
    }


def _nanoseconds(at: datetime) -> int:
    return round(at.timestamp() * 1e6) * 1000


WRITERS: dict[str, Callable[[CycleLog, str], None]] = {
    "mlflow": to_mlflow,
    "wandb": to_wandb,
    "otel": to_otel,
}
"""Setting -> writer."""
