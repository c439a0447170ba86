"""Give a fresh process exactly the descriptors it should have."""

from __future__ import annotations

import fcntl
import os

CHANNEL_OF_CANDIDATE, CHANNEL_OF_PROGRAM = (5, 6), (4, 5)
"""Descriptors to read from and write to a process of another jail, for calls and runs that have such a
channel."""
SAFE = 64
"""Descriptors that lie among the places are first moved above this number, so that putting one in place never
closes another."""


def arrange(places: dict[int, int], standard_input: int | None = None) -> None:
    """Descriptor 0 is `standard_input` (default: the null device), each key of `places` becomes its value's
    copy, all others are closed.

    Keys must be 1, 2, ... without a gap.
    """
    source = os.open(os.devnull, os.O_RDONLY) if standard_input is None else standard_input
    wanted = {0: source, **places}
    if min(wanted.values()) < len(wanted):
        wanted = {place: fcntl.fcntl(descriptor, fcntl.F_DUPFD, SAFE) for place, descriptor in wanted.items()}
    for place, descriptor in wanted.items():
        os.dup2(descriptor, place)
    os.closerange(len(wanted), os.sysconf("SC_OPEN_MAX"))
