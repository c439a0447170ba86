"""Fills a small disk with parts until one does not fit, and checks that what was there is still whole. Run on
the disk to fill.

full_disk.py ROOT [file size limit in bytes]
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np
import polars as pl

from evolake.errors import LakeError
from evolake.lake import Lake


def frame(seed: int, rows: int) -> pl.DataFrame:
    return pl.DataFrame({"noise": np.random.default_rng(seed).random(rows)})


def main() -> None:
    lake = Lake(Path(sys.argv[1]))
    first = lake.publish("designs", "candidates", frame(0, 1000), cycle="0001", run_id="fits")
    blob = lake.blobs.put(b"small")
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    messages = []
    for attempt in (
        lambda: lake.publish("designs", "candidates", frame(1, 400_000), cycle="0001", run_id="too big"),
        lambda: lake.publish("designs", "candidates", frame(1, 400_000), cycle="0002", run_id="too big"),
        lambda: lake.blobs.put(np.random.default_rng(2).bytes(3_200_000)),
    ):
        try:
            attempt()
            messages.append("it fitted")
        except LakeError as error:
            messages.append(str(error))
    reader = Lake(lake.root)
    small = reader.publish("designs", "candidates", frame(3, 10), cycle="0002", run_id="fits again")
    print(
        json.dumps(
            {
                "messages": messages,
                "old content whole": reader.read("designs", "candidates", "0001").equals(frame(0, 1000)),
                "record unchanged": reader.record("designs", "candidates", "0001") == first,
                "small content fits": reader.read("designs", "candidates", "0002").equals(frame(3, 10))
                and small.rows == 10,
                "blob whole": reader.blobs.get(blob) == b"small",
                "leftovers": [path.name for path in lake.root.rglob(".tmp-*")],
            }
        )
    )


if __name__ == "__main__":
    main()
