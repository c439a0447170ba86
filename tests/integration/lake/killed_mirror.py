"""Pushes or pulls a lake and is killed by SIGKILL just before its Nth object (push) or file (pull): argv is
push|pull, lake, address, N."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from evolake.lake import Lake, mirror
from evolake.lake.object_store import Remote

what, root, url, last = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
method = "put" if what == "push" else "get"
real, calls = getattr(Remote, method), iter(range(last))


def cut_off(self: Remote, *given: object) -> object:
    """The real call, but for the Nth."""
    if next(calls, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, *given)


setattr(Remote, method, cut_off)
if what == "push":
    mirror.push(Lake(root), url)
else:
    mirror.pull(root, url)
