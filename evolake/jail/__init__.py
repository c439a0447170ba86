"""Run code that no person has read: typed limits, typed outcomes, no harm to the host nor to the next
candidate.

    with open_pool(workers=2, preload=("numpy",)) as pool:
        outcome = pool.call(GENERIC_DRIVER, source, {"function": "f", "args": [1]}, Limits(cpu_s=2))

Host side: protocol (values), backends (how to build a jail), process (one jail), supervise (one call),
pool, native, canary, check. Inside: the package `inside`, started by `python -m`, which imports
nothing but the standard library and what it is asked to preload. The names below are imported at first use,
because the server passes through this file and need not pay for the host's side.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolake.jail.check import check_jail
    from evolake.jail.native import NativeRun, run_native
    from evolake.jail.pool import Pool, open_pool
    from evolake.jail.protocol import (
        GENERIC_DRIVER,
        JAIL_MODES,
        Call,
        JailMode,
        Limits,
        NativeOutcome,
        Outcome,
        Status,
    )

_HOMES = {
    "check_jail": "check",
    "NativeRun": "native",
    "run_native": "native",
    "Pool": "pool",
    "open_pool": "pool",
}

__all__ = [
    "GENERIC_DRIVER",
    "JAIL_MODES",
    "Call",
    "JailMode",
    "Limits",
    "NativeOutcome",
    "NativeRun",
    "Outcome",
    "Pool",
    "Status",
    "check_jail",
    "open_pool",
    "run_native",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'protocol')}"), name)
