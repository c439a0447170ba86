"""When a seed that is among the seeds of a line now enters its evolution: what `evolake seeds add` and
`evolake programs new` say."""

from __future__ import annotations

from evolake.lake import Lake, following
from evolake.lake.schemas import OPENED
from evolake.report.status import sealed_cycles


def entry(lake: Lake, line: str) -> tuple[str | None, str]:
    """Return (cycle, sentence). cycle: that it enters at the latest; None where the line has not begun.

    A cycle that a run has opened already is too late for it; a run that took over from one that was killed
    does not show whether it has.
    """
    seal = lake.seals.read(line, "0001")
    if seal is None or seal.state != "sealed":
        return None, "it enters with the other seeds, when the line begins"
    done = sealed_cycles(lake, line)
    cycle = following(done[-1]) if done else "0001"
    holder, opened = lake.line_holder(line), lake.record(line, OPENED.name, cycle)
    if holder and opened:
        later = following(cycle)
        if opened.run_id == holder.run_id:
            return (
                later,
                f"a run is in progress on cycle {cycle}, which began without it: it enters cycle {later}",
            )
        return (
            later,
            f"a run is in progress on cycle {cycle}: it enters that one if its seeds have not been read "
            f"yet, else cycle {later}",
        )
    return cycle, f"it enters cycle {cycle}"
