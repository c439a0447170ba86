"""One of two writers of the same partition: waits for the starting file, publishes, prints how it went.

racing_writer.py ROOT NAME START TIMES
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

from evolake.errors import PartitionBusy
from evolake.lake import Lake


def frame(name: str, number: int) -> pl.DataFrame:
    return pl.DataFrame({"writer": [f"{name}-{number}"] * 2000, "row": list(range(2000))})


def main() -> None:
    root, name, start, times = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    lake = Lake(root, lock_timeout_s=0)
    won = busy = 0
    print("ready", flush=True)
    while not start.exists():
        pass
    for number in range(times):
        try:
            lake.publish("designs", "candidates", frame(name, number), cycle="0001", run_id=name)
            won += 1
        except PartitionBusy as error:
            assert "is busy" in str(error)
            busy += 1
    print(json.dumps({"won": won, "busy": busy}))


if __name__ == "__main__":
    main()
