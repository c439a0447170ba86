"""Publishes again and again, ending the writer at its Nth file-system operation, N = 1, 2, ... until one
comes through; prints what readers saw.

    crash_driver.py FOLDER kill|exit first|second

Each writer, reader and re-run is a fork of this process, which itself never touches a frame (polars starts
its threads in the children) but has imported all that they need: each of some hundred forks would import it
once more. Prints one JSON list: for each N the operation it died at, what a reader saw right after, and the
part's sha after a re-run.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import polars as pl
import pyarrow  # noqa: F401 - polars would import it in each fork

from evolake.lake import Lake, disk

LINE, ASSET, CYCLE = "designs", "candidates", "0001"


def frame(content: str) -> pl.DataFrame:
    return pl.DataFrame(
        {"design": [f"{content}-{i}" for i in range(50)], "score": [float(i) for i in range(50)]}
    )


def in_child(work) -> tuple[int, str]:
    """(wait status, what `work` returned) of a fork that runs `work`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            os.write(writing, str(work()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    return os.waitpid(child, 0)[1], said


def publish(root: Path, content: str, run: str) -> str:
    return Lake(root).publish(LINE, ASSET, frame(content), cycle=CYCLE, run_id=run).file_sha


def publish_and_die(root: Path, content: str, at: int, how: str, log: Path) -> str:
    count = 0

    def hook(operation: str, path: Path) -> None:
        nonlocal count
        count += 1
        if count == at:
            log.write_text(operation)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(9)

    disk.hook = hook
    return publish(root, content, "dying")


def seen(root: Path) -> str:
    """What a reader sees: old, new, nothing, or what is wrong."""
    lake = Lake(root)
    if lake.record(LINE, ASSET, CYCLE) is None:
        return "nothing"
    result = lake.read(LINE, ASSET, CYCLE)
    return next((name for name in ("old", "new") if result.equals(frame(name))), f"neither: {result}")


def sha_and_leftovers(root: Path, run: str) -> str:
    sha = publish(root, "new", run)
    left = sorted(path.name for path in (root / "tables").rglob(".tmp-*"))
    return json.dumps([sha, seen(root), left])


def told_after(status: int, log: Path, look, again) -> dict[str, object]:
    """What came of a fork that ended with `status`: the operation that its `log` names, what a reader sees,
    and what a second run gives (JSON)."""
    after, ended = in_child(look)[1], in_child(again)[1]
    return {
        "operation": log.read_text() if log.exists() else None,
        "after": after,
        "again": json.loads(ended or "null"),
        "ended": status,
    }


def main() -> None:
    folder, how, which = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    report = []
    for number in range(1, 200):
        root, log = folder / f"{number}", folder / f"{number}.operation"
        if which == "second":
            in_child(lambda root=root: publish(root, "old", "before"))
        status, _ = in_child(
            lambda root=root, number=number, log=log: publish_and_die(root, "new", number, how, log)
        )
        report.append(
            told_after(
                status, log, lambda root=root: seen(root), lambda root=root: sha_and_leftovers(root, "again")
            )
        )
        if status == 0:
            break
    print(json.dumps(report))


if __name__ == "__main__":
    main()
