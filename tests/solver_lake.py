"""A lake of the solvers line after two cycles, small and with known figures: what reports and questions are
asked of.

Seeds `alpha` and `beta`. Cycle 0001 makes `tuned` (accepted) and `liar` (two wrong answers, blocked at gate
3); alpha is champion. Cycle 0002 makes `<b>fast</b>`, child of tuned, which takes half of alpha's time
everywhere and wins. Nothing here was run: rows are written as the assets write them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from solver_runs import run_row

from evolake.lake import (
    AGENT_CALLS,
    ARTIFACTS,
    CHAMPIONS,
    DERIVATIONS,
    RULES,
    VERDICTS,
    Lake,
    TableSchema,
    side_table,
)
from evolake.solvers import tables
from evolake.solvers.evolution.population import Population, empty_population
from evolake.solvers.gates.specs import GATE_NAMES as GATES
from evolake.solvers.measurement.duel_families import family_rows
from evolake.solvers.measurement.metrics import compute_metrics
from evolake.solvers.tables import ARCHIVE, FAILED_PROPOSALS, FINDINGS, VARIANTS

LINE = "solvers"
NOON = datetime(2026, 1, 1, tzinfo=UTC)
FORMULAS = {"u-1": "unsat", "u-2": "unsat", "s-1": "sat", "s-2": "sat"}
SPEED = {"alpha": 2.0, "beta": 3.0, "tuned": 1.9, "fast": 1.0}
NAMES = ("alpha", "beta", "tuned", "liar", "fast")
ID = {name: hashlib.sha256(name.encode()).hexdigest() for name in NAMES}
DIFF = "--- a/src/main.cc\n+++ b/src/main.cc\n@@ -1 +1 @@\n-if (a < b) slow();\n+if (a < b) fast();\n"
EDITS = json.dumps([{"kind": "tunable", "name": "var-decay", "parameters": {"value": 0.85}}])


def seconds(name: str, formula: str, repeat: int = 0) -> float:
    """cpu time of a variant on a formula; a pass differs from the one before by 1%."""
    return SPEED[name] * (1 + list(FORMULAS).index(formula) / 10) * (1 + repeat / 100)


def suite_rows(name: str, cycle: str, suite: str, repeats: int = 1, **other: Any) -> list[dict[str, Any]]:
    """Rows of RUNS of one variant on all formulas."""
    return [
        run_row(
            ID[name],
            formula,
            status,
            seconds(name, formula, repeat),
            cycle=cycle,
            suite=suite,
            repeat=repeat,
            **other,
        )
        for formula, status in FORMULAS.items()
        for repeat in range(repeats)
    ]


def duel_rows(cycle: str, champion: str, challenger: str) -> list[dict[str, Any]]:
    """Rows of DUELS, two pairs a formula."""
    kept = (
        "instance",
        "status",
        "solved",
        "certificate",
        "proof_status",
        "cpu_s",
        "conflicts",
        "timeout_s",
        "host",
    )
    return [
        {name: row[name] for name in kept}
        | {
            "cycle": cycle,
            "formula": row["instance"],
            "champion_id": ID[champion],
            "challenger_id": ID[challenger],
            "pair": row["repeat"],
            "part": part,
            "place": place,
        }
        | {"variant_id": ID[side]}
        for place, (part, side) in enumerate((("champion", champion), ("challenger", challenger)))
        for row in suite_rows(side, cycle, "train", 2)
    ]


def variant(name: str, cycle: str, state: str, parents: Sequence[str] = (), **other: Any) -> dict[str, Any]:
    """A row of VARIANTS."""
    row = {
        "variant_id": ID[name],
        "state": state,
        "cycle": cycle,
        "title": name,
        "base": "beta" if name == "beta" else "alpha",
        "operator": "tunable",
        "origin": "operators",
        "plan_id": None,
        "hypothesis": f"{name} searches less",
        "changed": f"Moved {name}.",
        "parents": [ID[parent] for parent in parents],
        "edits": EDITS,
        "archive_sha": "0" * 64,
        "diff_sha": None,
        "evidence": "{}",
        "gate": None,
        "rule_id": None,
        "reason": None,
        "repairs": 0,
        "objections": [],
        "dropped": None,
    }
    return row | ({} if parents else {"operator": "seed", "edits": "[]", "hypothesis": ""}) | other


def make_lake(root: Path) -> Lake:
    """The lake, both cycles sealed."""
    lake = Lake(root)
    first, second = "0001", "0002"
    diff_sha = lake.blobs.put(DIFF.encode())
    seeds = [variant("alpha", "0000", "accepted"), variant("beta", "0000", "accepted")]
    tuned = variant("tuned", first, "candidate", ["alpha"])
    liar = variant("liar", first, "candidate", ["beta"], operator="patch", edits=None, base="beta")
    fast = variant("fast", second, "candidate", ["tuned"], title="<b>fast</b>", diff_sha=diff_sha, repairs=1)
    blocked = {"gate": "correctness", "rule_id": "r-correctness", "reason": "u-1: <wrong>"}
    archive = [*seeds, tuned | {"state": "accepted"}, liar | {"state": "blocked"} | blocked]
    edges = [
        {
            "child_id": ID["tuned"],
            "parent_id": ID["alpha"],
            "operator": "tunable",
            "weight": 1.0,
            "cycle": first,
        },
        {"child_id": ID["liar"], "parent_id": ID["beta"], "operator": "patch", "weight": 1.0, "cycle": first},
        {
            "child_id": ID["fast"],
            "parent_id": ID["tuned"],
            "operator": "tunable",
            "weight": 1.0,
            "cycle": second,
        },
    ]
    early = (
        empty_population()
        .add(variants=archive, derivations=edges[:2])
        .with_states({ID["alpha"]: "champion"})
        .with_values(champion_since=first)
    )
    late = early.add(variants=[fast], derivations=edges[2:]).with_states(
        {ID["alpha"]: "accepted", ID["tuned"]: "retired", ID["fast"]: "champion"}
    )
    late = late.with_values(champion_since=second)
    publish(lake, "seeds", VARIANTS, None, seeds)
    publish(
        lake,
        side_table("seeds", ARTIFACTS),
        ARTIFACTS,
        None,
        [artifact(row, "0000", "accepted") for row in seeds],
    )
    early, late = made(lake, first, [tuned, liar], ["alpha", "beta", "tuned"], edges[:2], early), late
    late = made(
        lake,
        second,
        [fast],
        ["fast"],
        edges[2:],
        late.with_tables(runs=early.runs.to_dicts(), holdout=early.holdout.to_dicts()),
    )
    before = None
    for cycle, entering in ((first, empty_population().add(variants=seeds)), (second, early), ("0003", late)):
        for name, schema in ARCHIVE.items():
            publish(lake, f"incoming_{name}", schema, cycle, entering.frames()[name].to_dicts())
        lake.seals.seal(LINE, cycle, f"version {cycle}", before, "run")
        before = f"version {cycle}"
    return lake


def made(
    lake: Lake,
    cycle: str,
    rows: Sequence[Mapping[str, Any]],
    measured: Sequence[str],
    edges: Sequence[Mapping[str, Any]],
    after: Population,
) -> Population:
    """Publishes what a cycle publishes; gives `after` with the cycle's runs and ranking."""
    passed = [row for row in rows if row["title"] != "liar"]
    runs = [row for name in measured for row in suite_rows(name, cycle, "train")]
    champion = "alpha" if cycle == "0001" else "fast"
    holdout = suite_rows(champion, cycle, "holdout", 2)
    both = after.add(runs=runs, holdout=holdout)
    ranked = compute_metrics(both.runs, baselines=[ID["alpha"], ID["beta"]], cycle=cycle)
    ranking = [
        {
            "variant_id": row["variant_id"],
            "cycle": cycle,
            "rank": place + 1,
            "consensus": place / 10,
            "visits": 1.0,
            "ucb": 0.0,
            "solved": row["solved"],
            "par2": row["par2"],
            "wrong": row["wrong"],
        }
        for place, row in enumerate(ranked.to_dicts())
    ]
    unchecked = {"proof_status": "unchecked", "certificate": None}
    smoke = [
        row | (unchecked if row["answer"] == "UNSAT" else {})
        for name in passed
        for row in suite_rows(_name(name), cycle, "smoke")
    ]
    parts = [row for name in passed for row in suite_rows(_name(name), cycle, "train")]
    if cycle == "0001":
        parts += [
            run_row(ID["liar"], "s-1", "wrong", 1.0, expected="SAT", solved=False),
            run_row(ID["liar"], "s-2", "wrong", 1.0, solved=False),
        ]
    challenger, ratio, wins = ("tuned", 1.05, False) if cycle == "0001" else ("fast", 2.0, True)
    decision = {
        "cycle": cycle,
        "champion_id": ID["alpha"],
        "challenger_id": ID[challenger],
        "instances": 8,
        "formulas": 8,
        "pairs": 2,
        "left_out": 0,
        "solved_champion": 8.0,
        "solved_challenger": 8.0,
        "par2_champion": 2.3,
        "par2_challenger": 2.3 / ratio,
        "ratio": ratio,
        "ratio_low": ratio - 0.1,
        "ratio_high": ratio + 0.1,
        "noise_floor": 1.01,
        "wins": wins,
        "verdict": "better" if wins else "undecided",
        "reason": "a gain beyond the noise" if wins else "no gain beyond the noise",
        "test": "sign flips over 8",
    }
    rule = {
        "rule_id": "solvers-learned-no-lies",
        "version": 1,
        "cycle": cycle,
        "lesson": "forbidden",
        "check": "solvers.forbidden_pattern",
        "parameters": "{}",
        "rationale": "it lied",
        "evidence": "[]",
        "state": "active" if cycle == "0001" else "duplicate",
        "reason": "blocks liar",
        "blocked_failed": json.dumps([ID["liar"]]),
        "blocked_accepted": "[]",
        "text": "",
        "diff": "",
        "text_sha": "t",
    }
    built = [
        {
            "variant_id": row["variant_id"],
            "cycle": cycle,
            "passed": True,
            "program_sha": row["title"],
            "log_sha": "l",
            "warnings": 3,
            "cpu_s": 4.5,
        }
        for row in rows
    ]
    finding = {
        "finding_id": f"{cycle}-0",
        "cycle": cycle,
        "title": "lies",
        "lesson": "failure",
        "explanation": "e",
        "evidence": ["x"],
    }
    worth = [{"metric": "compliance", "rule_id": None}, {"metric": "kill_rate", "rule_id": "r-correctness"}]
    worth = [row | {"cycle": cycle, "value": 0.5} for row in worth]
    called = {"call_id": cycle, "cycle": cycle, "role": "coder", "backend": "operators", "status": "ok"}
    fates = [artifact(row, cycle, "blocked" if row["title"] == "liar" else "accepted") for row in rows]
    written: dict[str, tuple[TableSchema, Sequence[Mapping[str, Any]]]] = {
        "variants": (VARIANTS, rows),
        "binaries": (tables.BINARIES, built),
        "smoke": (tables.SMOKE_RUNS, smoke),
        "correctness": (tables.CORRECTNESS_RUNS, parts),
        "stability_runs": (tables.STABILITY_RUNS, []),
        "benchmark_runs": (tables.RUNS, runs),
        "metrics": (tables.METRICS, ranked.to_dicts()),
        "consensus_ranking": (tables.RANKING, ranking),
        "champion": (tables.DECISIONS, [decision]),
        "unmade": (FAILED_PROPOSALS, []),
        "champion_trials": (tables.DUELS, duel_rows(cycle, "alpha", challenger)),
        "holdout_runs": (tables.HOLDOUT_RUNS, holdout),
        "rule_proposals": (ARCHIVE["rule_proposals"], [rule]),
        "rule_metrics": (tables.RULE_METRICS, worth),
        "post_mortem": (FINDINGS, [finding]),
        side_table("variants", DERIVATIONS): (DERIVATIONS, edges),
        side_table("compliance", VERDICTS): (VERDICTS, verdicts(rows, cycle)),
        side_table("variants", AGENT_CALLS): (AGENT_CALLS, [called]),
        side_table("survivors", CHAMPIONS): (
            CHAMPIONS,
            [{"line": LINE, "cycle": cycle, "artifact_id": ID[champion], "score": 0.0}],
        ),
        side_table("survivors", ARTIFACTS): (ARTIFACTS, fates),
    }
    if cycle == "0001":
        rules_to_show = [
            {"rule_id": name, "version": "1", "kind": "static"} for name in (f"r-{gate}" for gate in GATES)
        ]
        publish(lake, side_table("seeds", RULES), RULES, None, rules_to_show)
        learned = {
            "rule_id": "solvers-learned-no-lies",
            "version": "1",
            "since_cycle": cycle,
            "kind": "learned",
        }
        written[side_table("rule_proposals", RULES)] = (RULES, [learned])
    families = family_rows(
        duel_rows(cycle, "alpha", challenger), {name: f"family {name[0]}" for name in FORMULAS}
    )
    written[tables.CONTEST_FAMILIES.name] = (tables.CONTEST_FAMILIES, families)
    for name, (schema, content) in written.items():
        publish(lake, name, schema, cycle, content)
    return both.with_tables(ranking=ranking)


def verdicts(rows: Sequence[Mapping[str, Any]], cycle: str) -> list[dict[str, Any]]:
    """One rule a gate, and from cycle 0002 on the learned one, which passes; liar is blocked at the gate
    correctness."""
    result: list[dict[str, Any]] = []
    if cycle == "0002":
        of_all = {
            "cycle": cycle,
            "gate_no": 0,
            "gate": "compliance",
            "rule_id": "solvers-learned-no-lies",
            "rule_version": "1",
            "outcome": "pass",
        }
        result += [
            of_all | {"artifact_id": row["variant_id"], "reason": "", "ruleset_hash": "h", "run_id": "run"}
            for row in rows
        ]
    for row in rows:
        for number, gate in enumerate(GATES):
            bad = row["title"] == "liar" and gate == "correctness"
            result.append(
                {
                    "artifact_id": row["variant_id"],
                    "cycle": cycle,
                    "gate_no": number,
                    "gate": gate,
                    "rule_id": f"r-{gate}",
                    "rule_version": "1",
                    "ruleset_hash": "h",
                    "outcome": "block" if bad else "pass",
                    "reason": "u-1: <wrong>" if bad else "",
                    "run_id": "run",
                }
            )
            if bad:
                break
    return result


def artifact(row: Mapping[str, Any], cycle: str, state: str) -> dict[str, Any]:
    """A row of ARTIFACTS."""
    return {
        "artifact_id": row["variant_id"],
        "line": LINE,
        "kind": "variant",
        "cycle": cycle,
        "state": state,
        "content_sha": row["variant_id"],
        "title": row["title"],
        "created_at": NOON,
        "run_id": "run",
        "code_version": "1",
    }


def publish(
    lake: Lake, name: str, schema: TableSchema, cycle: str | None, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Publishes rows as a table of the line."""
    lake.publish(LINE, name, schema.frame(rows), cycle=cycle, run_id="run", schema=schema)


def _name(row: Mapping[str, Any]) -> str:
    return next(name for name in NAMES if ID[name] == row["variant_id"])
