"""`make dev`: the UI comes up over the project's own definitions, every line a group of it, and goes when it is interrupted."""

from __future__ import annotations

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

import pytest
from designs_fixtures import ROOT

from evolake.lines import lines

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
GROUPS = "{ assetNodes { groupName } }"
PATIENCE_S = 300


def asked(url: str, query: str) -> dict[str, object] | None:
    """What the UI's server answers; None while nobody does."""
    request = urllib.request.Request(f"{url}/graphql", json.dumps({"query": query}).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)["data"]
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def test_the_ui_shows_a_group_for_every_line(tmp_path: Path):
    recipe = re.search(r"^dev:.*\n(?:\t.*\n)*?\t@\$\(BIN\)/(dagster dev .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    program, *arguments = recipe[1].split()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {"DAGSTER_HOME": str(home), "EVOLAKE_LAKE": str(tmp_path / "lake"), "DAGSTER_DISABLE_TELEMETRY": "1"}
    command = [str(Path(sys.executable).with_name(program)), *arguments, "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        found = None
        end = time.monotonic() + PATIENCE_S
        while not found and server.poll() is None and time.monotonic() < end:
            answer = asked(f"http://127.0.0.1:{port}", GROUPS)
            found = {node["groupName"] for node in answer["assetNodes"]} if answer else None
            time.sleep(0.2)
        assert found and set(lines()) <= found, (tmp_path / "log").read_text()[-3000:]
    finally:
        os.killpg(server.pid, signal.SIGINT)
        assert server.wait(60) is not None
