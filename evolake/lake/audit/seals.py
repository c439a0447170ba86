"""Seals against the journal of their line, and the journal against itself.

A whole journal has the last word: what is in a seal's file is put back from it. A journal that has lost lines
is believed again when every seal that is there has a check sum that holds and is at least as new as what the
journal still says of its cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evolake.errors import LakeError
from evolake.lake import chained, disk, seal_files
from evolake.lake.audit.findings import BACKUP, Finding
from evolake.lake.seal_files import Seal
from evolake.lake.store import Lake


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all seals; `fast` makes no difference, they are small."""
    for line in lake.seals.lines():
        yield from _line(lake, line)


def _line(lake: Lake, line: str) -> Iterator[Finding]:
    log, known = lake.seals.journal(line)
    journal = seal_files.journal(lake.seals.folder(line))
    read = {cycle: _file(lake.seals.path(line, cycle), line, cycle) for cycle in lake.seals.cycles(line)}
    where = str(journal.relative_to(lake.root))
    if log is None:
        yield from _without_journal(lake, line, read, where)
        return
    newer = [seal for cycle in read if (seal := _newer(read[cycle], known.get(cycle, []))) is not None]
    whole = all(not isinstance(result, str) for result in read.values()) or not log.faults
    for fault in log.faults:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} is damaged at line {fault.at}",
            where,
            fault.wanted,
            fault.got,
            BACKUP,
            repair=(lambda: _mend(lake, line, newer)) if whole else None,
        )
    if newer and not log.faults:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} has lost its end",
            where,
            f"the seal of cycle {newer[0].cycle} of {newer[0].at}",
            "no line for it",
            BACKUP,
            repair=lambda: _mend(lake, line, newer),
        )
    for cycle, results in read.items():
        path = lake.seals.path(line, cycle)
        last = known.get(cycle, [None])[-1]
        if results == last or (isinstance(results, Seal) and results in newer):
            continue
        if isinstance(results, str):
            got = results
        elif results is None:
            got = "no file"
        else:
            got = f"an older seal, of {results.at}"
        wanted = (
            f"the seal of {last.at}, {last.state}" if last else "a seal that the journal of the line knows"
        )
        yield Finding(
            "seal",
            f"the seal of {line}, cycle {cycle}, is not the one that was written last",
            str(path.relative_to(lake.root)),
            wanted,
            got,
            f"move it away and materialize the cycle before {cycle} again",
            repair=(lambda path=path, last=last: _put_back(path, last)) if last and not log.faults else None,
        )


def _file(path: Path, line: str, cycle: str) -> Seal | str | None:
    """Return the seal in a file, None if there is none, or why it is not one."""
    try:
        return seal_files.decode(disk.read(path), line, cycle)
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        return str(error)


def _newer(result: Seal | str | None, known: list[Seal]) -> Seal | None:
    """Return a whole seal of which the journal has lost the line: it is newer than all that the journal knows
    of its cycle."""
    if isinstance(result, Seal) and result not in known and (not known or result.at > known[-1].at):
        return result
    return None


def _without_journal(
    lake: Lake, line: str, read: dict[str, Seal | str | None], where: str
) -> Iterator[Finding]:
    for cycle, result in read.items():
        if isinstance(result, str):
            path = str(lake.seals.path(line, cycle).relative_to(lake.root))
            mend = f"move it away and materialize the cycle before {cycle} again"
            yield Finding(
                "seal",
                f"the seal of {line}, cycle {cycle}, is damaged",
                path,
                "a seal of that line and cycle",
                result,
                mend,
            )
    whole = [results for results in read.values() if isinstance(results, Seal)]
    if len(whole) < len(read):
        return
    if whole:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} is gone",
            where,
            "every seal that was ever made",
            "no file",
            BACKUP,
            repair=lambda: _mend(lake, line, whole),
        )


def _mend(lake: Lake, line: str, seals: list[Seal]) -> str:
    """Add to a line's journal the seals that it lacks, and acknowledge what is broken in it."""
    log, known = lake.seals.journal(line)
    lacking = [seal for seal in seals if seal not in known.get(seal.cycle, [])]
    bodies = [seal_files.entry(seal) for seal in lacking]
    faults = log.faults if log else ()
    if faults:
        bodies.append({"event": chained.MENDED, "faults": [fault.name for fault in faults]})
    if not bodies:
        return "was repaired already"
    with disk.as_lake_error(f"the journal of {line} cannot be repaired", "to append to it"):
        lake.seals.note(line, bodies)
    return f"journal of {line}: {len(lacking)} seals noted again, {len(faults)} breaks acknowledged"


def _put_back(path: Path, seal: Seal) -> str:
    with disk.as_lake_error(f"the seal {path} cannot be put back", "to write what the journal says"):
        try:
            if seal_files.decode(disk.read(path), seal.line, seal.cycle) == seal:
                return "was repaired already"
        except (ValueError, FileNotFoundError):
            pass
        if path.is_dir():
            raise LakeError(f"{path} is a folder", got="move it away")
        disk.write_atomic(path, seal_files.encode(seal), tag="repair")
    return (
        f"seal of {seal.line}, cycle {seal.cycle}: put back as the journal has it ({seal.state}, {seal.at})"
    )
