"""Seals: the small records through which one cycle of a line hands its survivors to the next.

`incoming[n]`, the population that enters cycle n, is sealed by the cycle before it (cycle 1 by the seeds). A seal names the content version of
that population and the version of the seal it was built on, so the seals of a line form a hash chain. Opening cycle n reopens seal n+1, and a
cycle starts only when every link up to it holds: a failure, a change or a partial re-run anywhere before it stops what stands on it, while a
re-run that ends in the same content breaks nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from evolake.errors import LakeError
from evolake.lake import disk
from evolake.lake.layout import check_cycle, check_name


def following(cycle: str) -> str:
    """The cycle after `cycle`."""
    return f"{int(check_cycle(cycle)) + 1:04d}"


def preceding(cycle: str) -> str | None:
    """The cycle before `cycle`; None before the first."""
    number = int(check_cycle(cycle)) - 1
    return f"{number:04d}" if number >= 1 else None


@dataclass(frozen=True)
class Seal:
    """The seal of the population that enters one cycle.

    Attributes:
        state: sealed, or reopened because the cycle before runs again.
        version: content version of the population.
        built_on: version of the seal before it; None for the first.
        run_id: the run that sealed or reopened it. at: when, ISO 8601 in UTC.
        tables: asset name -> content_sha of the lake parts that are the population. The part's cycle is the seal's own;
            `name@0001` names another.
    """

    line: str
    cycle: str
    state: Literal["sealed", "reopened"]
    version: str
    built_on: str | None
    run_id: str
    at: str
    tables: Mapping[str, str] = field(default_factory=dict)


class Seals:
    """The seals of one lake, each replaced atomically."""

    def __init__(self, root: Path, clock: Callable[[], datetime]):
        self._root, self._clock = root / "seals", clock

    def _path(self, line: str, cycle: str) -> Path:
        return self._root / check_name("line", line) / f"{check_cycle(cycle)}.json"

    def read(self, line: str, cycle: str) -> Seal | None:
        """The seal of the population that enters `cycle`; None where it is missing."""
        path = self._path(line, cycle)
        try:
            text = disk.read(path)
        except FileNotFoundError:
            return None
        try:
            return Seal(**json.loads(text))
        except (ValueError, TypeError) as error:
            before = preceding(cycle)
            redo = f"cycle {before}" if before else "the seeds"
            raise LakeError(
                f"the seal {path} cannot be read", wanted="a JSON object with the fields of a seal", got=str(error),
                do=f"move the file away and materialize {redo} of {line} again",
            ) from None

    def seal(self, line: str, cycle: str, version: str, built_on: str | None, run_id: str, tables: Mapping[str, str] | None = None) -> Seal:
        """Seals the population that enters `cycle`. See `Seal` for the arguments."""
        seal = Seal(line, cycle, "sealed", version, built_on, run_id, self._clock().isoformat(), dict(tables or {}))
        self._write(seal)
        return seal

    def reopen(self, line: str, cycle: str, run_id: str) -> Seal | None:
        """Unseals `cycle` because the one before it runs again; None where there is nothing to unseal."""
        seal = self.read(line, cycle)
        if seal is None:
            return None
        reopened = replace(seal, state="reopened", run_id=run_id, at=self._clock().isoformat())
        self._write(reopened)
        return reopened

    def _write(self, seal: Seal) -> None:
        text = json.dumps(asdict(seal), sort_keys=True, indent=1) + "\n"
        disk.write_atomic(self._path(seal.line, seal.cycle), text.encode(), tag=str(os.getpid()))

    def cycles(self, line: str) -> list[str]:
        """The cycles that have a seal, in order."""
        return sorted(path.stem for path in (self._root / check_name("line", line)).glob("*.json") if path.stem.isdigit())

    def lines(self) -> list[str]:
        """The lines that have a seal, in order."""
        return sorted(path.name for path in self._root.glob("*") if path.is_dir())

    def broken_link(self, line: str, cycle: str) -> tuple[str, str] | None:
        """(cycle, why) of the first population up to `cycle` that is not sealed on the one before it; None where the chain holds."""
        before = None
        for number in range(1, int(check_cycle(cycle)) + 1):
            at = f"{number:04d}"
            seal = self.read(line, at)
            if seal is None:
                return at, "missing"
            if seal.state != "sealed":
                return at, seal.state
            if seal.built_on != before:
                return at, "built on an older population"
            before = seal.version
        return None


def explain_broken(line: str, cycle: str, at: str, why: str) -> str:
    """The sentence for whoever starts `cycle` while the link `at` is broken: what is wrong and the backfill that mends it."""
    before = preceding(at)
    redo = f"cycle {before}" if before else "the seeds"
    return (
        f"{line}: cycle {cycle} cannot start: the population that enters cycle {at} is {why}. "
        f"Materialize the whole group from {redo} on, in one backfill."
    )
