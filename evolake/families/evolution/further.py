"""Candidates that get further than when they were made, because a rule has been loosened since: compared
again, and where evidence is missing, taken through all gates again.

What a new family must differ from is what is accepted now: the archive that entered the cycle, the versions
of this cycle that were accepted when they were made and still are, and those that got further before it. So
of two alike the one that was accepted first stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.families.evolution.records import load_evidence, store_evidence, store_gate
from evolake.families.evolution.stages import passes_all
from evolake.families.gates.judging import FamilyResults
from evolake.families.gates.static import nearest
from evolake.families.model.contract import Family, as_json
from evolake.families.model.population import load_family
from evolake.families.model.similarity import Fingerprint
from evolake.gates import Ruleset
from evolake.lake import BlobStore


@dataclass
class Further:
    """What the candidates of one cycle become on the way. Rows are rows of CANDIDATES; one that got further
    has the evidence and the fingerprint of now, and its `gate`, which says what blocked it when it was made,
    is None.

    archived: the fingerprints of what entered the cycle; asked for once, where a candidate gets further.
    examine: all gates on a family, compared with the fingerprints that it is given; called only where
    evidence is missing. renewed: family_id -> the row of each candidate that got further here.
    """

    archived: Callable[[], list[Fingerprint]]
    rows: Sequence[Mapping[str, Any]]
    ruleset: Ruleset
    blobs: BlobStore
    examine: Callable[[Family, Sequence[Fingerprint]], FamilyResults]
    renewed: dict[str, dict[str, Any]] = field(default_factory=dict)
    _known: list[Fingerprint] | None = None

    def again(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row after all gates, for evidence that is not stored. Raises MachineryError when the
        jail failed."""
        examined = self.examine(load_family(row["record_sha"], self.blobs), self.known())
        return self._renew(
            row, examined.fingerprint, store_evidence(examined, self.blobs), accepted=examined.accepted
        )

    def compared(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row with all its evidence as it is stored, but for the families that it is most like:
        those are of now."""
        evidence, ours = json.loads(row["evidence"]), Fingerprint.from_json(row["fingerprint"])
        stored = load_evidence(evidence["static"], self.blobs)
        static = stored["evidence"] | {"nearest": nearest(ours, self.known())}
        evidence["static"] = store_gate(static, stored["rows"], self.blobs)
        return self._renew(row, ours, evidence, accepted=passes_all(evidence, self.ruleset, self.blobs))

    def known(self) -> list[Fingerprint]:
        """Of every family that is accepted now."""
        if self._known is None:
            standing = [
                row
                for row in self.rows
                if row["gate"] is None
                and row["fingerprint"]
                and passes_all(json.loads(row["evidence"]), self.ruleset, self.blobs)
            ]
            self._known = [*self.archived(), *(Fingerprint.from_json(row["fingerprint"]) for row in standing)]
        return self._known

    def _renew(
        self, row: Mapping[str, Any], ours: Fingerprint | None, evidence: Mapping[str, str], *, accepted: bool
    ) -> dict[str, Any]:
        if accepted and ours is not None:
            self.known().append(ours)
        now = dict(row) | {
            "fingerprint": ours.to_json() if ours else None,
            "evidence": as_json(evidence),
            "gate": None,
        }
        self.renewed[row["family_id"]] = now
        return now
