"""Physical cores: two timed runs on the two threads of one core slow each other down, so timed work counts
cores and not threads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

TOPOLOGY = Path("/sys/devices/system/cpu")


def physical_cores(usable: Iterable[int] | None = None, topology: Path = TOPOLOGY) -> list[int]:
    """Return one logical core of each physical core among `usable` (default: those that this process may run
    on), the lowest. All, if the kernel does not say which belong together."""
    first: dict[str, int] = {}
    for core in sorted(os.sched_getaffinity(0) if usable is None else usable):
        try:
            siblings = (topology / f"cpu{core}" / "topology" / "thread_siblings_list").read_text().strip()
        except OSError:
            siblings = str(core)
        first.setdefault(siblings, core)
    return sorted(first.values())
