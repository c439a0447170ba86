"""Evidence that is in a lake, judged by other rules than those that it was judged by: nothing is run in a
candidate's name, nothing is published.

A line says by `LineSpec.evidence` how its evidence is found; without that, verdicts name blobs of JSON, and a
candidate is asked about no gate that it has not met.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evolake.gate_spec import Evidence, GateSpec
from evolake.gates.rules import Ruleset
from evolake.gates.run import GateResult, is_usable, replay_gate

if TYPE_CHECKING:
    from evolake.lake import Lake

Find = Callable[[str, str, Mapping[str, str]], Evidence | None]
"""(artifact, gate, gate -> sha of the evidence that its verdicts of record name) -> what the gate's rules
judge; None where it is not stored."""


def by_sha(lake: Lake, _cycle: str | None) -> Find:
    """Return evidence as the verdicts of record name it: each a blob of JSON."""

    def find(_artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        return json.loads(lake.blobs.get(shas[gate])) if gate in shas else None

    return find


def as_written(_lake: Lake, _cycle: str | None, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a line that has none next to its files."""
    return ruleset


@dataclass(frozen=True)
class StoredEvidence:
    """How a line's evidence is found, and what its candidates cost.

    Attributes:
        find: (lake, cycle; None for the seeds) -> `Find`.
        rules: (lake, cycle, the rules that are files) -> the rules that judge in that cycle.
        seconds: SELECT of asset, cycle, artifact_id and cpu_s: processor time that making the asset took for
            the artifact; "" if none is counted.
        caution: what a reader should know of candidates that would be blocked; "" for nothing.
    """

    find: Callable[[Lake, str | None], Find] = by_sha
    rules: Callable[[Lake, str | None, Ruleset], Ruleset] = as_written
    seconds: str = ""
    caution: str = ""


def in_rows(
    tables: Sequence[str], key: str, inside: Callable[[Mapping[str, Any], str], Evidence | None], line: str
) -> Callable[[Lake, str | None], Find]:
    """Return `StoredEvidence.find` where rows have a column `evidence`, JSON of gate -> sha, next to what
    verdicts name.

    Args:
        tables: of the line, a later one counts before an earlier; those that a cycle lacks are left out. key:
            the column of the artifact's id.
        inside: (a blob's JSON, gate) -> the evidence in it.
    """

    def open_cycle(lake: Lake, cycle: str | None) -> Find:
        stored: dict[str, dict[str, str]] = {}
        for table in tables:
            if lake.record(line, table, cycle) is not None:
                for row in lake.read(line, table, cycle).select(key, "evidence").to_dicts():
                    stored[row[key]] = stored.get(row[key], {}) | json.loads(row["evidence"] or "{}")

        def find(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
            known = {**stored.get(artifact, {}), **shas}
            return inside(json.loads(lake.blobs.get(known[gate])), gate) if gate in known else None

        return find

    return open_cycle


@dataclass(frozen=True)
class Replayed:
    """A candidate after the gates of today. lacking: the gate that it comes to and whose evidence is not
    stored; "" if none lacks."""

    results: tuple[GateResult, ...]
    lacking: str = ""

    @property
    def outcomes(self) -> dict[str, tuple[str, str]]:
        """Rule -> (outcome, reason), of the rules that were asked."""
        return {
            verdict.rule_id: (verdict.outcome, verdict.reason)
            for result in self.results
            for verdict in result.verdicts
        }

    @property
    def passed(self) -> bool:
        """Whether nothing objects, as far as it was asked."""
        return all(result.passed for result in self.results)


def replay_stored(
    artifact: str,
    met: Sequence[str],
    gates: Sequence[GateSpec],
    ruleset: Ruleset,
    find: Callable[[str], Evidence | None],
    *,
    cycle: str,
    stopped: bool,
) -> Replayed:
    """Judge one candidate under `ruleset`: the gates that it has met, and those after them where what stopped
    it does so no more.

    Args:
        met: the gates that its verdicts of record are of. gates: those of the line, in order. find: gate ->
            its evidence.
        stopped: whether one of those verdicts is no pass.
    """
    results: list[GateResult] = []
    for gate in _course(gates, met, beyond=stopped):
        evidence = find(gate.name)
        if evidence is None or not is_usable(gate, evidence):
            return Replayed(tuple(results), gate.name)
        results.append(replay_gate(gate, evidence, ruleset, artifact_id=artifact, cycle=cycle, run_id=""))
        if not results[-1].passed:
            break
    return Replayed(tuple(results))


def _course(gates: Sequence[GateSpec], met: Sequence[str], *, beyond: bool) -> list[GateSpec]:
    """Return the gates that it met and, with `beyond`, those after them, up to where a line begins with
    another sort of candidate: there numbers fall.
    """
    places = [place for place, gate in enumerate(gates) if gate.name in met]
    reached = [gates[place] for place in places]
    if beyond and places:
        for before, gate in pairwise(gates[places[-1] :]):
            if gate.number < before.number:
                break
            reached.append(gate)
    return reached
