"""An audit of a whole lake: does it hold, byte for byte and reference by reference, what was written; and the
repair of what provably can be.

    for finding in audit(lake): ...            every check
    for finding in audit(lake, fast=True): ... no bytes of parts and blobs are read
    repair(lake)                               repairs, looks again, and says what it did

Nothing is changed by an audit. A repair only appends to logs, puts back what the lake itself knows to the
byte, and moves what is damaged to quarantine; each step can be cut off anywhere and done again. What a live
writer has in hand is left alone. Callers that know more kinds of files (the call cache, fetched sources) pass
further checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from evolake.errors import EvolakeError
from evolake.lake.audit import blobs, leftovers, references, seals, tables
from evolake.lake.audit.findings import Audit, Finding
from evolake.lake.store import Lake

__all__ = ["Audit", "Finding", "audit", "repair"]

Check = Callable[[Lake, bool], Iterable[Finding]]
CHECKS: tuple[Check, ...] = (seals.check, tables.check, blobs.check, references.check, leftovers.check)
MOST_PASSES = 4


def audit(lake: Lake, *, fast: bool = False, more: Iterable[Check] = ()) -> Iterator[Finding]:
    """Yield everything that is not as it should be.

    Args:
        fast: without the bytes of parts and blobs: sizes, logs, seals, what is missing and what is left over.
        more: further checks: (lake, fast) -> findings.
    """
    for check in (*CHECKS, *more):
        try:
            yield from check(lake, fast)
        except EvolakeError as error:
            mend = error.do or "fix the disk and verify again"
            yield Finding(
                "machinery", error.what, "", error.wanted or "a readable lake", error.got or "", mend
            )


def repair(lake: Lake, *, more: Iterable[Check] = ()) -> Audit:
    """Repair what can be repaired, and return what was done and what is left.

    What is repaired may uncover more (a manifest that can be read again names its parts), so the audit is
    repeated until nothing changes.
    """
    done: list[tuple[str, str]] = []
    more = tuple(more)
    for _ in range(MOST_PASSES):
        left = tuple(audit(Lake(lake.root), more=more))
        acted = False
        for finding in left:
            if finding.repair is not None:
                try:
                    done.append((finding.where, finding.repair()))
                    acted = True
                except EvolakeError as error:
                    done.append((finding.where, f"not repaired: {error.what}: {error.got}"))
        if not acted:
            return Audit(left, tuple(done))
    return Audit(tuple(audit(Lake(lake.root), more=more)), tuple(done))
