"""What edited rules would change, before anything is made again: verdicts that flip, champions that would
fall, cycles whose outcome changes.

Everything comes from the lake: the verdicts of record, the evidence that they rest on
(`evolake.gates.stored`), and who was champion. Nothing is published and no candidate is run. What is not
stored is not guessed: a candidate that comes to a gate without evidence is named with that gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from evolake.gates.known import known_gates
from evolake.gates.stored import Replayed, StoredEvidence, replay_stored
from evolake.lake import VERDICTS
from evolake.lines import lines
from evolake.report.champion import SEED_ROUND

if TYPE_CHECKING:
    from evolake.gates import Ruleset
    from evolake.lake import Catalogue, Lake

Row = Mapping[str, Any]
NOT_ASKED = "not asked"
OF_RECORD = f"""
SELECT v.artifact_id, v.gate, v.rule_id, v.ruleset_hash, v.outcome, v.reason, v.evidence_sha,
  coalesce(v.origin_cycle, '{SEED_ROUND}') AS cycle,
  v.origin_asset[:-{len(VERDICTS.name) + 3}] AS asset, coalesce(known.title, v.artifact_id[:12]) AS title
FROM verdicts_all AS v LEFT JOIN known_artifacts AS known USING (artifact_id)
WHERE v.origin_line = $line AND v.superseded = false ORDER BY cycle, v.artifact_id, v.gate_no, v.gate,
  v.rule_id"""
CROWNED = "SELECT cycle, artifact_id FROM champions WHERE line = $line ORDER BY cycle"


@dataclass(frozen=True)
class Flip:
    """A rule that says something else of a candidate than its verdict of record. before, after: pass, block,
    error or "not asked".

    asset: where the verdict of record was made; of a rule that was not asked before, where the candidate's
    last one was.
    """

    rule_id: str
    artifact_id: str
    title: str
    cycle: str
    asset: str
    before: str
    after: str
    reason: str


Outcome = Literal["accepted", "blocked", "further", "unknown"]


@dataclass(frozen=True)
class Fate:
    """What becomes of a candidate under the new rules.

    Attributes:
        asset: where its last verdict of record was made. was, now: its outcome; "further": what blocked it
            does so no more, and it comes to a gate whose evidence is collected when its asset is made;
            "unknown": the evidence of a gate that it has met is not stored.
        lacking: the gate without evidence; "" where everything is stored.
    """

    artifact_id: str
    cycle: str
    asset: str
    was: Outcome
    now: Outcome
    lacking: str = ""

    @property
    def changes(self) -> bool:
        """Whether it is known to end otherwise than it did."""
        return self.now not in (self.was, "unknown")


@dataclass(frozen=True)
class Fallen:
    """A champion that a rule would block.

    cycles: at whose end it held the title. is_champion: it holds it now. is_seed: it would fall when the
    seeds are sealed again.
    """

    artifact_id: str
    title: str
    rule_id: str
    reason: str
    cycles: tuple[str, ...]
    is_champion: bool
    is_seed: bool


@dataclass(frozen=True)
class Preview:
    """What the rules of one line would change.

    Attributes:
        judged: number of candidates with verdicts of record, per cycle. fates: of those that other rules
            judged. outdated: (asset, cycle) of the verdicts that other rules of their gate gave.
    """

    line: str
    ruleset_hash: str
    judged: int
    flips: tuple[Flip, ...]
    fates: tuple[Fate, ...]
    fallen: tuple[Fallen, ...]
    outdated: frozenset[tuple[str, str]] = frozenset()

    def by_rule(self) -> dict[str, list[Flip]]:
        """Return rule -> its flips, the rule with the most first."""
        result: dict[str, list[Flip]] = {}
        for flip in self.flips:
            result.setdefault(flip.rule_id, []).append(flip)
        return dict(sorted(result.items(), key=lambda item: (-len(item[1]), item[0])))


def evidence_of_line(line: str) -> StoredEvidence:
    """Return how a line's evidence is found; the common way where it says nothing."""
    spec = lines().get(line)
    return spec.evidence.load() if spec and spec.evidence else StoredEvidence()


def preview_rules(lake: Lake, catalogue: Catalogue, ruleset: Ruleset) -> Preview:
    """Return what the rule files of `ruleset` would change in the lake.

    Raises:
        CorruptPart, LakeError: stored evidence or a table is damaged. InputError: a rule that cannot be used.
    """
    line, stored = ruleset.line, evidence_of_line(ruleset.line)
    rows = catalogue.frame(OF_RECORD, {"line": line}).to_dicts()
    flips: list[Flip] = []
    fates: list[Fate] = []
    judged = 0
    blocked: dict[str, Flip] = {}
    outdated: set[tuple[str, str]] = set()
    for cycle, of_cycle in groupby(rows, key=lambda row: row["cycle"]):
        partition = None if cycle == SEED_ROUND else cycle
        find, in_force = stored.find(lake, partition), stored.rules(lake, partition, ruleset)
        for artifact, of_artifact in groupby(of_cycle, key=lambda row: row["artifact_id"]):
            said = list(of_artifact)
            judged += 1
            by_others = {
                (row["asset"], cycle) for row in said if not in_force.judged(row["gate"], row["ruleset_hash"])
            }
            outdated |= by_others
            if not by_others:
                continue
            shas = {row["gate"]: row["evidence_sha"] for row in said if row["evidence_sha"]}
            stopped = any(row["outcome"] != "pass" for row in said)
            now = replay_stored(
                artifact,
                [row["gate"] for row in said],
                known_gates(line),
                in_force,
                lambda gate, artifact=artifact, shas=shas, find=find: find(artifact, gate, shas),
                cycle=cycle,
                stopped=stopped,
            )
            new = flips_of(said, now)
            flips += new
            blocked |= {flip.artifact_id: flip for flip in new if flip.after == "block"}
            was: Outcome = "blocked" if stopped else "accepted"
            fates.append(Fate(artifact, cycle, said[-1]["asset"], was, _outcome(now, said), now.lacking))
    crowned = catalogue.frame(CROWNED, {"line": line}).to_dicts()
    return Preview(
        line, ruleset.hash, judged, tuple(flips), tuple(fates), _fallen(crowned, blocked), frozenset(outdated)
    )


def flips_of(said: Sequence[Row], now: Replayed) -> list[Flip]:
    """Return rules whose word on a candidate changes. That a rule which passes it is asked, or is asked no
    more, is no flip.

    said: its verdicts of record.
    """
    before, after = {row["rule_id"]: row for row in said}, now.outcomes
    if now.lacking:  # what was said of gates that cannot be asked again is neither confirmed nor changed
        asked = {result.gate for result in now.results}
        before = {name: row for name, row in before.items() if row["gate"] in asked}
    results: list[Flip] = []
    for rule in sorted(before.keys() | after.keys()):
        old = before[rule]["outcome"] if rule in before else NOT_ASKED
        new, reason = after.get(rule, (NOT_ASKED, ""))
        if old != new and not {old, new} <= {"pass", NOT_ASKED}:
            row = before.get(rule, said[-1])
            results.append(
                Flip(
                    rule,
                    row["artifact_id"],
                    row["title"],
                    row["cycle"],
                    row["asset"],
                    old,
                    new,
                    reason or row["reason"],
                )
            )
    return results


def _outcome(now: Replayed, said: Sequence[Row]) -> Outcome:
    if not now.lacking:
        return "accepted" if now.passed else "blocked"
    stopped_at = {row["gate"] for row in said if row["outcome"] != "pass"}
    return "further" if stopped_at and stopped_at <= {result.gate for result in now.results} else "unknown"


def _fallen(crowned: Sequence[Row], blocked: Mapping[str, Flip]) -> tuple[Fallen, ...]:
    """promoted: rows of cycle and artifact_id, oldest first. blocked: artifact -> the flip that blocks it."""
    titles: dict[str, list[str]] = {}
    for row in crowned:
        titles.setdefault(row["artifact_id"], []).append(row["cycle"])
    return tuple(
        Fallen(
            name,
            flip.title,
            flip.rule_id,
            flip.reason,
            tuple(cycles),
            cycles[-1] == crowned[-1]["cycle"],
            flip.cycle == SEED_ROUND,
        )
        for name, cycles in titles.items()
        if (flip := blocked.get(name))
    )
