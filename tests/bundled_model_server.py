"""The small bundled model, cut to its first layers, behind a real OpenAI-compatible server, `transformers
serve`, on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evolake.prompts.policies.models import load_base
from evolake.prompts.policies.registry import model_cache

START_S = 180.0
LAYERS = 2
"""Of the thirty: replies of a few tokens mean nothing either way, and a prompt is read in a tenth of the
time."""


@dataclass(frozen=True)
class Server:
    """Where it listens, the model's name there, and its log."""

    base_url: str
    model: str
    log: Path

    def answered(self) -> int:
        """Chat completions that it gave."""
        return self.log.read_text(errors="replace").count('"POST /v1/chat/completions HTTP/1.1" 200')


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serves the first layers of the bundled model, which is unpacked once per user, on one thread, until
    left. `folder` is for what the server reads and writes.

    Raises:
        AssertionError: it did not listen within three minutes; with the end of its log.
    """
    cache = model_cache(folder)
    load_base("local", None, cache)
    [whole] = [path.parent for path in cache.glob("*/config.json")]
    (checkpoint := folder / "model").mkdir()
    for file in whole.iterdir():
        (checkpoint / file.name).symlink_to(file)
    config = json.loads((whole / "config.json").read_text()) | {"num_hidden_layers": LAYERS}
    (checkpoint / "config.json").unlink()
    (checkpoint / "config.json").write_text(json.dumps(config | {"layer_types": None}))
    (folder / "hub").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_CACHE": str(folder / "hub"),
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    program = str(Path(sys.executable).with_name("transformers"))
    command = [
        program,
        "serve",
        str(checkpoint),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--device",
        "cpu",
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
    try:
        _await(f"http://127.0.0.1:{port}/health", process, log)
        yield Server(f"http://127.0.0.1:{port}/v1", str(checkpoint), log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as reply:
                json.load(reply)
                return
        except (urllib.error.URLError, OSError, ValueError):
            time.sleep(0.2)
    raise AssertionError(f"no server at {url}:\n{log.read_text(errors='replace')[-3000:]}")
