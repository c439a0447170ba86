"""A host that is busy: one processor, which this process shares with others that never stop computing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SPIN = (
    "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100_000):\n"
    "        pass"
)
"""Computes until killed, or until who started it is gone."""


@contextmanager
def busy_host(others: int = 5) -> Iterator[None]:
    """Keep this thread, and what it starts, to one processor beside `others` busy processes.

    Each has a session of its own, since Linux shares processors between sessions first, and each jail is one.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True) for _ in range(others)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, before)
