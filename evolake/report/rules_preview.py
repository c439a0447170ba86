"""Preview edited rules, before anything is made again: which verdicts flip, which champions would fall, which
cycles change, what making them again takes; in words for a terminal, as JSON, in Markdown for Dagster's UI.

Everything comes from the lake: the verdicts of record, the evidence that they rest on
(`evolake.gates.stored`), and who was champion. Nothing is published and no candidate is run. What is not
stored is not guessed: a candidate that comes to a gate without evidence is named with that gate.

A cycle whose candidates end as they did is judged again and nothing else changes. The first one in which a
candidate ends otherwise is made again from its judging assets on, and every later cycle whole, for it is
based on another population.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from evolake.gates.checkers import known_gates
from evolake.gates.stored import Replayed, StoredEvidence, replay_stored
from evolake.lake import AGENT_CALLS, VERDICTS
from evolake.lines import lines
from evolake.report.champion import SEED_ROUND
from evolake.report.numbers import counted
from evolake.report.story import Cost, as_text

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
    """crowned: rows of cycle and artifact_id, oldest first. blocked: artifact -> the flip that blocks it."""
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


CALLS = f"""
SELECT coalesce(origin_cycle, '{SEED_ROUND}') AS cycle, origin_asset[:-{len(AGENT_CALLS.name) + 3}] AS asset,
  artifact_id, 1 AS calls,
  coalesce(input_tokens + output_tokens, 0) AS tokens, usd
FROM agent_calls_all WHERE origin_line = $line
QUALIFY row_number() OVER (PARTITION BY call_id ORDER BY usd DESC NULLS LAST, superseded) = 1"""


@dataclass(frozen=True)
class Graph:
    """The assets of one cycle of a line.

    Attributes:
        everything: in the order that they are made. below: those that ask rules -> what depends on them in
            the same cycle.
    """

    everything: tuple[str, ...]
    below: Mapping[str, frozenset[str]]

    @property
    def downstream(self) -> frozenset[str]:
        """What asks rules, and all that depends on it."""
        return frozenset(self.below).union(*self.below.values())


MadeBy = Callable[[str, str], bool | None]
"""(asset, cycle) -> whether Dagster has the asset as made by the rules of its gates; None if Dagster has no
record of it."""


@dataclass(frozen=True)
class CycleWork:
    """What has to be made again of one cycle. whole: all of it, for another population enters. changes:
    candidates that end otherwise. left: whether a run that was cut off left assets that are older than what
    they are based on."""

    cycle: str
    assets: tuple[str, ...]
    whole: bool
    changes: int
    cost: Cost
    left: bool = False


@dataclass(frozen=True)
class Work:
    """All that has to be made again.

    Attributes:
        seeds: how many seeds end otherwise; they stay what they are until they are sealed again. once: assets
            without cycles that ask rules.
    """

    cycles: tuple[CycleWork, ...]
    seeds: int
    once: tuple[str, ...] = ()

    @property
    def cost(self) -> Cost:
        """Of all cycles."""
        return _added([cycle.cost for cycle in self.cycles])


def unrecorded(_asset: str, _cycle: str) -> None:
    """Answer as the `MadeBy` of a lake without Dagster's records: verdicts say by which rules they were
    given."""


def work_of(
    preview: Preview,
    graph: Graph,
    catalogue: Catalogue,
    done: Sequence[str],
    made_by: MadeBy = unrecorded,
    once: Sequence[str] = (),
    left: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Work:
    """Return what the preview's rules ask to be made again: what Dagster's UI shows as stale, and what
    becomes stale when that is made.

    done: the line's finished cycles, in order. once: assets without cycles that other rules made. left: cycle
    -> assets that are older than what they are based on, as a run leaves them that was killed in between.
    """
    judging = _judging(preview, graph, catalogue)
    changed = Counter(fate.cycle for fate in preview.fates if fate.changes and fate.asset in judging)
    first = min((*changed, *(cycle for cycle in done if left.get(cycle))), default=None)
    spent = _spent(preview.line, catalogue)
    cycles: list[CycleWork] = []
    for cycle in done:
        whole = first is not None and first < cycle
        again = {asset for asset in graph.below if _is_stale(asset, cycle, preview, made_by)}
        if cycle == first:
            again = again.union(left.get(cycle, ()), *(graph.below[asset] for asset in again))
        if not (whole or cycle == first or again):
            continue
        assets = tuple(asset for asset in graph.everything if whole or asset in again)
        own = [row for row in spent if row["cycle"] == cycle]
        cost = _cost(own) if whole else _cost_of(own, assets, judging, preview, cycle)
        cycles.append(CycleWork(cycle, assets, whole, changed[cycle], cost, bool(left.get(cycle))))
    seeds = sum(fate.changes and fate.cycle == SEED_ROUND for fate in preview.fates)
    return Work(tuple(cycles), seeds, tuple(once))


def _is_stale(asset: str, cycle: str, preview: Preview, made_by: MadeBy) -> bool:
    known = made_by(asset, cycle)
    return (asset, cycle) in preview.outdated if known is None else not known


def _judging(preview: Preview, graph: Graph, catalogue: Catalogue) -> set[str]:
    """Assets that publish verdicts and are made again when a rule is edited."""
    rows = catalogue.query(
        "SELECT DISTINCT origin_asset FROM verdicts_all WHERE origin_line = $line", {"line": preview.line}
    ).rows
    publishing = {asset for (asset,) in rows}
    return {asset for asset in graph.downstream if f"{asset}__{VERDICTS.name}" in publishing}


def _spent(line: str, catalogue: Catalogue) -> list[Row]:
    """Rows of cycle, asset, artifact_id and what was spent: cpu_s, or calls, tokens and usd."""
    seconds = evidence_of_line(line).seconds
    rows = catalogue.frame(seconds).to_dicts() if seconds else []
    return [*rows, *catalogue.frame(CALLS, {"line": line}).to_dicts()]


def _cost_of(
    spent: Sequence[Row], assets: Collection[str], judging: Collection[str], preview: Preview, cycle: str
) -> Cost:
    """Return what making `assets` of a cycle takes: what they took before, less those that are now blocked,
    and the mean for each that is new.

    Evidence that is stored costs nothing; for each candidate whose evidence is lacking, what a candidate took
    that was judged when it was made.
    """
    fates = [fate for fate in preview.fates if fate.cycle == cycle]
    out = {fate.artifact_id for fate in fates if fate.changes and fate.now == "blocked"}
    new = sum(fate.changes and fate.now != "blocked" for fate in fates)
    lacking = sum(bool(fate.lacking) for fate in fates)
    after = [
        row
        for row in spent
        if row["asset"] in assets and (row["asset"] in judging or row["artifact_id"] not in out)
    ]
    made = [row for row in spent if row["asset"] not in assets and row["artifact_id"] and "cpu_s" in row]
    return _added([_cost(after), _times(_each(after), new), _times(_each(made), lacking)])


def _each(rows: Sequence[Row]) -> Cost:
    """Return the mean over the candidates that rows name."""
    named = [row for row in rows if row["artifact_id"]]
    return _times(_cost(named), 1 / max(len({row["artifact_id"] for row in named}), 1))


def _cost(rows: Sequence[Row]) -> Cost:
    seconds, calls = [row for row in rows if "cpu_s" in row], [row for row in rows if "calls" in row]
    prices = [row["usd"] for row in calls]
    return Cost(
        sum(float(row["cpu_s"] or 0) for row in seconds),
        len(calls),
        sum(row["tokens"] for row in calls),
        None if None in prices else sum(prices),
    )


def _times(cost: Cost, factor: float) -> Cost:
    return Cost(
        (cost.cpu_s or 0) * factor,
        round(cost.calls * factor),
        round(cost.tokens * factor),
        None if cost.usd is None else cost.usd * factor,
    )


def _added(costs: Sequence[Cost]) -> Cost:
    prices = [cost.usd for cost in costs]
    return Cost(
        sum(cost.cpu_s or 0 for cost in costs),
        sum(cost.calls for cost in costs),
        sum(cost.tokens for cost in costs),
        None if None in prices else sum(price or 0 for price in prices),
    )


EXAMPLES = 5
SHORT_ID = 12
LONGEST_REASON = 160


@dataclass(frozen=True)
class PreviewText:
    """One line's preview with its work. selections: cycle -> what to select of it in Dagster. commands: what
    makes it all again, in order."""

    preview: Preview
    work: Work
    selections: dict[str, str]
    commands: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; of each rule's flips five are shown, all are counted."""
        preview, work = self.preview, self.work
        return {
            "ruleset_hash": preview.ruleset_hash,
            "judged": preview.judged,
            "rules": {
                rule: {
                    "flips": len(flips),
                    "artifacts": [{"cycle": flip.cycle, "artifact_id": flip.artifact_id} for flip in flips],
                    "examples": [asdict(flip) for flip in flips[:EXAMPLES]],
                }
                for rule, flips in preview.by_rule().items()
            },
            "evidence_lacking": [asdict(fate) for fate in preview.fates if fate.lacking],
            "champions_that_would_fall": [asdict(item) for item in preview.fallen],
            "seeds_that_end_otherwise": work.seeds,
            "make_again_once": list(work.once),
            "make_again": [
                asdict(cycle) | {"selection": self.selections[cycle.cycle]} for cycle in work.cycles
            ],
            "cost": asdict(work.cost),
            "commands": list(self.commands),
        }

    def lines(self) -> list[str]:
        """For a terminal."""
        preview = self.preview
        head = f"{preview.line}: {self.summary()}"
        parts = [head]
        for rule, flips in preview.by_rule().items():
            parts.append(f"  {rule}: {counted(len(flips), 'verdict flips', 'verdicts flip')}")
            parts += [f"    {_flip_text(flip)}" for flip in flips[:EXAMPLES]]
            if len(flips) > EXAMPLES:
                parts.append(f"    and {len(flips) - EXAMPLES} more (--json lists their ids)")
        parts += [f"  {sentence}" for sentence in self.sentences()]
        if self.commands:
            parts.append("  to make that again, and no more:")
            parts += [f"    {command}" for command in self.commands]
        return parts

    def markdown(self) -> str:
        """For Dagster's UI. What candidates are called is text in it."""
        parts = [f"**{self.preview.line}**: {as_text(self.summary())}", ""]
        for rule, flips in self.preview.by_rule().items():
            parts += [
                f"`{rule}`: {counted(len(flips), 'verdict flips', 'verdicts flip')}",
                "",
                "| candidate | cycle | was | would be | why |",
            ]
            parts += ["| --- | --- | --- | --- | --- |", *(_row(flip) for flip in flips[:EXAMPLES]), ""]
        parts += [f"- {as_text(sentence)}" for sentence in self.sentences()]
        parts += ["", "```", *self.commands, "```"] if self.commands else []
        return "\n".join(parts)

    def summary(self) -> str:
        """Return what comes of it, in a sentence."""
        preview = self.preview
        if not preview.fates and not self.work.cycles and not self.work.once:
            return f"the lake is judged by these rules already ({counted(preview.judged, 'candidate')})"
        flips = (
            counted(len(preview.flips), "verdict flips", "verdicts flip")
            if preview.flips
            else "no verdict flips"
        )
        return f"of {counted(len(preview.fates), 'candidate')} that other rules judged, {flips}"

    def sentences(self) -> list[str]:
        """Return what follows from the flips."""
        preview, work = self.preview, self.work
        parts = [_fallen_in_words(item) for item in preview.fallen]
        for outcome, why in (
            ("further", "come further than before, to evidence that is collected then"),
            ("unknown", "cannot be judged from what is stored; their evidence is made again"),
        ):
            if number := sum(fate.now == outcome for fate in preview.fates):
                parts.append(f"{counted(number, 'candidate')} {why}")
        if (caution := evidence_of_line(preview.line).caution) and any(
            flip.after == "block" for flip in preview.flips
        ):
            parts.append(caution)
        if work.seeds:
            parts.append(
                f"{counted(work.seeds, 'seed')} would end otherwise: what was sealed stays until `evolake "
                f"seeds reseal {preview.line}`, "
                "which voids every cycle"
            )
        parts += [_work(cycle) for cycle in work.cycles]
        if work.once:
            parts.append(f"of no cycle: {', '.join(work.once)}")
        if work.cycles:
            parts.append(
                "cost, by what it took before (replies in the call cache cost nothing again): "
                f"{work.cost.text()}"
            )
        return parts


def _flip_text(flip: Flip) -> str:
    reason = f": {shorten(flip.reason, LONGEST_REASON, placeholder=' …')}" if flip.reason else ""
    return (
        f"{flip.artifact_id[:SHORT_ID]} {flip.title} (cycle {flip.cycle}) {flip.before} -> "
        f"{flip.after}{reason}"
    )


def _row(flip: Flip) -> str:
    reason = shorten(flip.reason, LONGEST_REASON, placeholder=" …")
    cells = (f"{flip.artifact_id[:SHORT_ID]} {flip.title}", flip.cycle, flip.before, flip.after, reason)
    return f"| {' | '.join(as_text(cell) for cell in cells)} |"


def _fallen_in_words(item: Fallen) -> str:
    who = (
        f"{'the champion' if item.is_champion else 'a champion of before,'} {item.title} "
        f"({item.artifact_id[:SHORT_ID]})"
    )
    when = ", once the seeds are sealed again" if item.is_seed else ""
    return f"{who} would fall by {item.rule_id}{when}; it held the title at the end of {_cycles(item.cycles)}"


def _work(item: CycleWork) -> str:
    if item.whole:
        return f"cycle {item.cycle}: whole, for another population enters it"
    after = (
        ", which a run that was cut off left as they were" if item.left else ", whose verdicts alone change"
    )
    if item.changes:
        after = f", for {counted(item.changes, 'candidate ends', 'candidates end')} otherwise"
    return f"cycle {item.cycle}: {', '.join(item.assets)}{after}"


def _cycles(cycles: Sequence[str]) -> str:
    return cycles[0] if len(cycles) == 1 else f"{len(cycles)} cycles, {cycles[0]} to {cycles[-1]}"
