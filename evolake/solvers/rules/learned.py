"""Learned rules: proposals of a cycle's post-mortem, decided by replay, kept as rows with their diff, joined
to the ruleset of later cycles; and how much the rules are worth. Source: SATLUTION (arXiv 2509.07367),
"Dynamic self-evolved rules in the loop"; the paper appends rules unseen, here a proposal must first earn its
place.

    forbidden   what must not be done
    failure     what went wrong, and how it looks
    champion    what must be kept

A proposal names one of the checkers for learned rules and its parameters; no rule brings code. It is a pure
function of the evidence of the compliance gate, which is stored for every variant, so it is tried on all of
history without a build or a run. It becomes active when it blocks a failed variant that it names and no
accepted one. Each proposal is a row, whatever came of it. Seeds are never written: active rules live in the
lake's rows, and `with_learned` joins them to the tracked ones.

The measures are those of SATLUTION, "Rule effectiveness metrics", made precise.

    prevention   of the variants that failed after the compliance gate (by a later gate, or by a regression),
                 the share that today's compliance rules would block, by replay: what is caught now before a
                 build is paid for
    compliance   of the variants that a cycle judged, the share that passed all compliance rules at their
                 first attempt
    coverage     of the failure signatures seen so far (gate and rule, or kind of regression), the share of
                 which at least one variant would be blocked by a compliance rule now
    kill rate    of the variants judged, the share that a rule blocked: for each rule by itself, and for all
                 gates together
    time to fix  mean number of attempts until a variant that compliance blocked at first passed it

A share of nothing is null, never 0 or 1.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.errors import InputError
from evolake.gates import Rule, Ruleset
from evolake.gates.boundary import Raised, contained
from evolake.gates.checkers import apply
from evolake.gates.rules import parse_rule
from evolake.solvers.rules.edits import LEARNED_CHECKERS

Standing = Literal["accepted", "blocked", "regressed"]


@dataclass(frozen=True)
class StoredVariant:
    """A variant as the lake remembers it.

    `standing`: accepted; blocked by `gate` for `cause`; or regressed: it passed all gates and was worse than
    its parent (gate "benchmark"). evidence: what the compliance gate collected; None if the variant died
    before it could be read.
    """

    variant_id: str
    cycle: str
    standing: Standing
    gate: str = ""
    cause: str = ""
    evidence: Mapping[str, Any] | None = None

    @property
    def failed(self) -> bool:
        """Return whether the variant was blocked or regressed."""
        return self.standing != "accepted"

    @property
    def signature(self) -> tuple[str, str]:
        """What failures of one sort share: the gate and the rule (or the kind of regression) that it fell
        by."""
        return self.gate, self.cause


@dataclass(frozen=True)
class Replay:
    """What a rule would have done. Ids in the order of the variants given. `problem`: the rule cannot be
    applied at all."""

    blocked_failed: tuple[str, ...] = ()
    blocked_accepted: tuple[str, ...] = ()
    problem: str = ""


def replay(check: str, parameters: Mapping[str, Any], variants: Sequence[StoredVariant]) -> Replay:
    """Apply one checker to the stored evidence of all variants. A checker that cannot use its parameters is a
    problem, no error."""
    failed, accepted = [], []
    for variant in variants:
        if variant.evidence is None:
            continue
        try:
            finding = contained(apply, check, variant.evidence, parameters)
        except InputError as error:
            return Replay(problem=str(error))
        if isinstance(finding, Raised):
            return Replay(problem=f"{check} cannot use these parameters: {finding.error}: {finding.message}")
        if finding:
            (failed if variant.failed else accepted).append(variant.variant_id)
    return Replay(tuple(failed), tuple(accepted))


def blocked_by(rules: Sequence[Rule], variants: Sequence[StoredVariant]) -> dict[str, list[str]]:
    """Return variant id -> ids of the rules that would block it, for those variants that at least one rule
    blocks."""
    result: dict[str, list[str]] = {}
    for variant in variants:
        if variant.evidence is not None:
            hits = [
                rule.id for rule in rules if contained(apply, rule.check, variant.evidence, rule.parameters)
            ]
            if hits:
                result[variant.variant_id] = hits
    return result


GATE = "compliance"
LESSONS = ("forbidden", "failure", "champion")
PREFIX = "solvers-learned-"
MOST_ACTIVE = 40
LONGEST_RATIONALE = 2000
NAMED = 3


def decide(
    proposals: Sequence[Mapping[str, Any]],
    variants: Sequence[StoredVariant],
    known: Iterable[Mapping[str, Any]],
    *,
    cycle: str,
) -> list[dict[str, Any]]:
    """Return rows of RULE_PROPOSALS, one a proposal, in their order.

    Args:
        proposals: each {"name", "lesson", "check", "parameters", "rationale", "evidence": [variant ids]}.
        variants: all that the lake remembers, this cycle's among them.
        known: rows of earlier cycles. Two equal proposals of one cycle: the second is a duplicate.

    A proposal that makes its judge raise, or that no rule file can hold, is rejected for that.
    """
    rows = list(known)
    made = []
    for proposal in proposals:
        result = contained(_decided, proposal, variants, rows, cycle)
        row = _undecidable(result, rows, cycle) if isinstance(result, Raised) else result
        rows.append(row)
        made.append(row)
    return made


def active_rules(rows: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Return the active learned rules of these rows: of one id the newest version."""
    newest: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["state"] == "active" and (
            row["rule_id"] not in newest or row["version"] > newest[row["rule_id"]]["version"]
        ):
            newest[row["rule_id"]] = row
    return tuple(parse_rule(row["text"], f"{name}.md") for name, row in sorted(newest.items()))


def with_learned(ruleset: Ruleset, rows: Iterable[Mapping[str, Any]]) -> Ruleset:
    """Return the tracked rules and the active learned ones of earlier cycles: what a later cycle pins."""
    return ruleset.joined(active_rules(rows))


def rule_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of the shared `rules` table: the learned rules that these proposals made active, so that a
    verdict by one of them has its rule."""
    return Ruleset("solvers", active_rules(rows)).rows()


def _decided(
    proposal: Mapping[str, Any], variants: Sequence[StoredVariant], known: list[Mapping[str, Any]], cycle: str
) -> dict[str, Any]:
    name = PREFIX + (_slug(str(proposal.get("name", ""))) or "unnamed")
    earlier = [row for row in known if row["rule_id"] == name]
    version = 1 + max((row["version"] for row in earlier), default=0)
    parameters = proposal.get("parameters") if isinstance(proposal.get("parameters"), Mapping) else {}
    evidence = [str(item) for item in proposal.get("evidence") or []]
    check, lesson = str(proposal.get("check", "")), str(proposal.get("lesson", ""))
    text = _rule_text(
        name,
        version,
        check,
        dict(parameters or {}),
        lesson,
        str(proposal.get("rationale", "")),
        evidence,
        cycle,
    )
    seen = replay(check, dict(parameters or {}), variants) if check in LEARNED_CHECKERS else Replay()
    if problem := _unreadable(text, name):
        seen = Replay(problem=problem)
    state, reason = _verdict(proposal, check, lesson, dict(parameters or {}), evidence, seen, known)
    before = next((row for row in reversed(earlier) if row["state"] == "active"), None)
    return {
        "rule_id": name,
        "version": version,
        "cycle": cycle,
        "lesson": lesson,
        "check": check,
        "parameters": _json(parameters or {}),
        "rationale": str(proposal.get("rationale", ""))[:LONGEST_RATIONALE],
        "evidence": _json(evidence),
        "state": state,
        "reason": reason,
        "blocked_failed": _json(seen.blocked_failed),
        "blocked_accepted": _json(seen.blocked_accepted),
        "text": text,
        "diff": _diff(before, text, name),
        "text_sha": hashlib.sha256(text.encode()).hexdigest(),
    }


def _unreadable(text: str, name: str) -> str:
    """Return why the rule's file could not be read back, as every later cycle must; "" where it can."""
    try:
        parse_rule(text, f"{name}.md").text.encode()
    except (InputError, ValueError) as error:
        return f"its file cannot be read: {type(error).__name__}"
    return ""


def _undecidable(result: Raised, known: Sequence[Mapping[str, Any]], cycle: str) -> dict[str, Any]:
    name = f"{PREFIX}undecidable"
    version = 1 + max((row["version"] for row in known if row["rule_id"] == name), default=0)
    texts = dict.fromkeys(("lesson", "check", "rationale", "text", "diff", "text_sha"), "")
    lists = dict.fromkeys(("evidence", "blocked_failed", "blocked_accepted"), "[]")
    return {
        "rule_id": name,
        "version": version,
        "cycle": cycle,
        "parameters": "{}",
        "state": "rejected",
        "reason": result.reason,
        **texts,
        **lists,
    }


def _verdict(
    proposal: Mapping[str, Any],
    check: str,
    lesson: str,
    parameters: dict[str, Any],
    evidence: list[str],
    seen: Replay,
    known: list[Mapping[str, Any]],
) -> tuple[str, str]:
    """State and reason. The first objection counts."""
    if not check:
        return "rejected", "names no checker, so nothing can be replayed; it stays as advice"
    if check not in LEARNED_CHECKERS:
        return (
            "rejected",
            f"no checker for learned rules is called {check!r}; there are {', '.join(LEARNED_CHECKERS)}",
        )
    if lesson not in LESSONS:
        return "rejected", f"lesson {lesson!r} is none of {', '.join(LESSONS)}"
    if not isinstance(proposal.get("parameters"), Mapping):
        return "rejected", "parameters are no mapping"
    active = active_rules(known)
    if twin := next(
        (rule for rule in active if (rule.check, _json(rule.parameters)) == (check, _json(parameters))), None
    ):
        return "duplicate", f"says what {twin.id} version {twin.version} says"
    if seen.problem:
        return "rejected", seen.problem
    named = [item for item in seen.blocked_failed if item in evidence]
    if not named:
        return (
            "rejected",
            "blocks none of the failed variants that it names" if evidence else "names no failed variant",
        )
    if seen.blocked_accepted:
        return "rejected", f"would have blocked {_listed(seen.blocked_accepted)}, accepted"
    if len(active) >= MOST_ACTIVE:
        return "rejected", f"{MOST_ACTIVE} learned rules are active already"
    return "active", f"blocks {_listed(seen.blocked_failed)}, failed, and none of those accepted"


def _rule_text(
    name: str,
    version: int,
    check: str,
    parameters: dict[str, Any],
    lesson: str,
    rationale: str,
    evidence: list[str],
    cycle: str,
) -> str:
    """Return the rule as a file. Prose of a model cannot end the front matter: it is below it, and the fields
    are one line each."""
    fields = {
        "id": name,
        "version": version,
        "kind": "learned",
        "gate": GATE,
        "check": _one_line(check) or "none",
        "parameters": _json(parameters),
        "since_cycle": cycle,
    }
    head = "\n".join(f"{key}: {value}" for key, value in fields.items())
    seen = f"\n\nEvidence: {', '.join(evidence)}" if evidence else ""
    return f"---\n{head}\n---\nLesson: {_one_line(lesson)}. {rationale[:LONGEST_RATIONALE].strip()}{seen}\n"


def _diff(before: Mapping[str, Any] | None, text: str, name: str) -> str:
    old = before["text"].splitlines(keepends=True) if before else []
    source = f"a/{name}.md" if before else "/dev/null"
    return "".join(difflib.unified_diff(old, text.splitlines(keepends=True), source, f"b/{name}.md"))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:48].rstrip("-")


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:80]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _listed(items: Sequence[str]) -> str:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(item[:12] for item in items[:NAMED]) + more


COMPLIANCE = "compliance"


@dataclass(frozen=True)
class RuleMetrics:
    """See the module. `kills`: rule id -> (variants blocked, variants judged by it)."""

    prevention: float | None
    compliance: float | None
    coverage: float | None
    kill_rate: float | None
    time_to_fix: float | None
    kills: Mapping[str, tuple[int, int]]

    def rows(self, cycle: str) -> list[dict[str, Any]]:
        """Return one row per metric, and one per rule: {"cycle", "metric", "rule_id", "value"}."""
        named = {
            name: getattr(self, name)
            for name in ("prevention", "compliance", "coverage", "kill_rate", "time_to_fix")
        }
        totals = [
            {"cycle": cycle, "metric": name, "rule_id": None, "value": value} for name, value in named.items()
        ]
        return totals + [
            {"cycle": cycle, "metric": "kill_rate", "rule_id": rule_id, "value": blocked / judged}
            for rule_id, (blocked, judged) in self.kills.items()
        ]


def rule_metrics(
    ruleset: Ruleset,
    variants: Sequence[StoredVariant],
    verdicts: Iterable[Mapping[str, Any]],
    attempts: Mapping[str, Sequence[bool]],
) -> RuleMetrics:
    """Return the metrics of one cycle.

    Args:
        ruleset: the rules in force after the cycle. variants: all that are stored, of all cycles.
        verdicts: rows of this cycle's final verdicts (artifact_id, rule_id, outcome).
        attempts: variant -> whether each of its attempts, in order, passed compliance; the last one is the
            variant's own.
    """
    late = [
        variant
        for variant in variants
        if variant.failed and variant.gate != COMPLIANCE and variant.evidence is not None
    ]
    caught = set(blocked_by(ruleset.of_gate(COMPLIANCE), late))
    signatures = {variant.signature for variant in late}
    covered = {variant.signature for variant in late if variant.variant_id in caught}
    judged: Counter[str] = Counter()
    blocked: Counter[str] = Counter()
    seen: set[str] = set()
    dead: set[str] = set()
    for row in verdicts:
        seen.add(row["artifact_id"])
        judged[row["rule_id"]] += 1
        if row["outcome"] == "block":
            blocked[row["rule_id"]] += 1
            dead.add(row["artifact_id"])
    mended = [
        tries.index(True)
        for tries in (list(attempt) for attempt in attempts.values())
        if tries and not tries[0] and True in tries
    ]
    return RuleMetrics(
        prevention=_share(len(caught), len(late)),
        compliance=_share(sum(bool(result and result[0]) for result in attempts.values()), len(attempts)),
        coverage=_share(len(covered), len(signatures)),
        kill_rate=_share(len(dead), len(seen)),
        time_to_fix=_share(sum(mended), len(mended)),
        kills={rule_id: (blocked[rule_id], judged[rule_id]) for rule_id in sorted(judged)},
    )


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
