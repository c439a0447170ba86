"""One program of ours that is forked from a warm jail's server, where `native` starts one in its own jail.
See `inside.forked`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evolake.jail import bubblewrap, groups, native, supervise
from evolake.jail.process import JailProcess, request_descriptor
from evolake.jail.protocol import Limits, plain_name
from evolake.jail.waiting import Waiting


@dataclass(frozen=True)
class ForkedRun:
    """One program of ours to be forked from a warm server, as `NativeRun` is one to be started.

    driver: "package.module:function", called as `driver(payload)` in the jail. It answers by descriptor
    `inside.forked.ANSWER`, which is `stdout` of the outcome, and must end its process itself. files: relative
    name -> contents, in its folder. channel, waiting: as of a Call. limits: one run of a pool has as much
    memory as the other ones.
    """

    driver: str
    payload: Any
    files: Mapping[str, bytes] = field(repr=False)
    limits: Limits
    channel: tuple[int, ...] = ()
    waiting: Waiting | None = None


def observe(jail: JailProcess, run: ForkedRun, group: groups.Group | None) -> supervise.Observation:
    """Return one run in one jail, as it was seen. Raises JailDied."""
    limits = run.limits
    environment = native.ENVIRONMENT | {"HOME": bubblewrap.WORK, "TMPDIR": bubblewrap.WORK}
    files = [(plain_name(name), len(data)) for name, data in run.files.items()]
    head = json.dumps(
        {"driver": run.driver, "payload": run.payload, "files": files, "environment": environment}
    ).encode()
    streams = {name: supervise.Stream(limits.output_bytes) for name in ("stdout", "stderr")}
    descriptor = request_descriptor(head + b"".join(run.files.values()))
    try:
        message = {
            "op": "fork",
            "limits": limits.to_json(),
            "root": jail.root,
            "folder": bubblewrap.WORK,
            "head_size": len(head),
            "channel": len(run.channel),
            "scratch_mb": native.scratch_mb(run.files, limits),
            "shown": bubblewrap.visible_in_scratch(),
        }
        return supervise.observe(
            jail,
            message,
            (descriptor, *run.channel, *(group.descriptors if group else ())),
            streams,
            limits,
            waiting=run.waiting,
        )
    finally:
        os.close(descriptor)
