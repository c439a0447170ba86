"""`make dev`: the UI comes up over the project's own definitions, every line a group of it, and goes with all
its processes at SIGTERM, also where a script started it in the background, that is with SIGINT ignored."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from designs_fixtures import ROOT

from evolake.lines import lines

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
GROUPS = "{ assetNodes { groupName } }"
PATIENCE_S = 300
STOPS_S = 60


def asked(url: str, query: str) -> dict[str, Any] | None:
    """What the UI's server answers; None while nobody does."""
    request = urllib.request.Request(
        f"{url}/graphql", json.dumps({"query": query}).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)["data"]
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def of_home(home: Path) -> list[int]:
    """The processes whose environment names this home of Dagster, but for those that are ending."""
    result: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"DAGSTER_HOME={home}".encode() in (
                entry / "environ"
            ).read_bytes().split(b"\0"):
                result.append(int(entry.name))
        except OSError:  # gone, or somebody else's
            continue
    return result


def test_the_ui_shows_a_group_for_every_line(tmp_path):
    recipe = re.search(
        r"^dev:.*\n(?:\t.*\n)*?\t@\$\(BIN\)/(python -m pipelines\.dev .*)$",
        (ROOT / "Makefile").read_text(),
        re.MULTILINE,
    )
    assert recipe
    program, *arguments = recipe[1].split()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    command = [str(Path(sys.executable).with_name(program)), *arguments, "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
    try:
        result = None
        end = time.monotonic() + PATIENCE_S
        while not result and server.poll() is None and time.monotonic() < end:
            answer = asked(f"http://127.0.0.1:{port}", GROUPS)
            result = {node["groupName"] for node in answer["assetNodes"]} if answer else None
            time.sleep(0.2)
        assert result and set(lines()) <= result, (tmp_path / "log").read_text()[-3000:]
        assert len(of_home(home)) > 1
        server.terminate()
        assert server.wait(STOPS_S) is not None
        end = time.monotonic() + STOPS_S
        while of_home(home) and time.monotonic() < end:
            time.sleep(0.2)
        assert of_home(home) == [], (tmp_path / "log").read_text()[-3000:]
    finally:
        for left in of_home(home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)
