"""A mirror of a lake in an object store: content-addressed, incremental, verified on both sides, and
resumable after any cut.

    objects/ab/cdef...         bytes by their sha256, written once
    snapshots/00000007.json.zst    which files the lake had, with size and sha256, at its seventh push

A push sends the objects that the store lacks and then creates the next snapshot; the store refuses a number
that is there, so of two concurrent pushes one wins. A pull makes a lake what the newest snapshot says.
Neither overwrites what it does not know: a push wants the newest snapshot to be the one that this lake was
last pushed or pulled as, a pull wants the lake as it was then. What cannot be done again is mirrored, the
private key too: a person who reads the store reads the lake. Caches, locks, quarantine and seeds are left
out.
"""

from evolake.lake.mirror.check import Checked, check
from evolake.lake.mirror.pull import Pulled, pull
from evolake.lake.mirror.push import Pushed, push

__all__ = ["Checked", "Pulled", "Pushed", "check", "pull", "push"]
