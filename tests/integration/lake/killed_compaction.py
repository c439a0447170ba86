"""Compacts again and again, ending the process at its Nth file-system operation, N = 1, 2, ... until one
comes through; prints what readers saw.

    killed_compaction.py FOLDER

Every table gets a checkpoint with each line, so that its writes are among the operations. Each compaction,
reader and re-run is a fork of this process; see crash_driver.py. Prints one JSON list: for each N the
operation that it died at, what a reader saw right after, and what after a re-run.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from crash_driver import ASSET, LINE, frame, in_child, told_after

from evolake.lake import Lake, checkpoint, compact, disk
from evolake.lake.audit import audit

CYCLES = ("0001", "0002", "0003")


def publish(root: Path) -> str:
    for cycle in CYCLES:
        Lake(root).publish(LINE, ASSET, frame(cycle), cycle=cycle, run_id=f"run-{cycle}")
    return ""


def compact_and_die(root: Path, at: int, log: Path) -> str:
    count = 0

    def hook(operation: str, path: Path) -> None:
        nonlocal count
        count += 1
        if count == at:
            log.write_text(f"{operation} {path.name}")
            os.kill(os.getpid(), signal.SIGKILL)

    disk.hook = hook
    return again(root)


def again(root: Path) -> str:
    compact.compact(Lake(root))
    return ""


def seen(root: Path) -> str:
    """ "whole" where every cycle is what was published, by the reader and by the table of parts."""
    lake = Lake(root)
    whole = lake.cycles(LINE, ASSET) == list(CYCLES) and all(
        lake.read(LINE, ASSET, cycle).equals(frame(cycle)) for cycle in CYCLES
    )
    return "whole" if whole else "not whole"


def clean(root: Path) -> str:
    again(root)
    left = sorted(
        path.name
        for path in (root / "tables").rglob("*")
        if path.is_file() and path.name != "_manifest.jsonl"
    )
    findings = [finding.what for finding in audit(Lake(root)) if not finding.note]
    return json.dumps([seen(root), len(left), findings])


def main() -> None:
    folder, report = Path(sys.argv[1]), []
    checkpoint.FEWEST_LINES = 1
    whole = folder / "whole"
    in_child(lambda: publish(whole))
    for number in range(1, 300):
        root, log = folder / f"{number}", folder / f"{number}.operation"
        shutil.copytree(whole, root)
        status, _ = in_child(lambda root=root, number=number, log=log: compact_and_die(root, number, log))
        report.append(told_after(status, log, lambda root=root: seen(root), lambda root=root: clean(root)))
        if status == 0:
            break
    print(json.dumps(report))


if __name__ == "__main__":
    main()
