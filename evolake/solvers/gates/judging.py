"""Take a variant through its gates, in order; show its coder an objection; and block for good a variant that
gave one refuted answer, anywhere and ever. `collecting` says what each gate looks at, rules that are files
judge it.

    0 compliance   layout and documents; code that the variant adds to its base
    1 build        a clean build in the jail
    2 smoke        small files with known answers, and copies of them
    3 correctness  every model evaluated, every proof verified by an external checker
    4 stability    two runs count alike; memory over a growing formula

Each gate may be asked alone, on stored evidence (`gate_verdicts`), so that a changed rule is judged again
without building or running; `judge_variant` stops at the first block. A dead jail or checker raises; it never
becomes a verdict.

Of an objection a coder sees which rule, why it exists, what was seen: bounded, and with the variant's own
output fenced as data. Learned rules name the variants that they come from by whole ids; here, as everywhere
that a role reads, these are short.

Unsound is permanent. A wrong model, UNSAT of a formula that has a model, a proof that a checker refutes, that
no checker can read (it is not in the format that the variant declares) or that is missing: one such answer in
the benchmark, in a duel or on the holdout, in whichever cycle, blocks the variant, with a verdict of that
stage as its reason. From then on it is neither ranked nor a parent, a survivor or a champion; a champion
falls and the next one takes its place. The line is never blocked: checks assert that nothing unsound is
ranked or survives. A proof that a limit left undecided is no proof, so its answer counts as unsolved; it
refutes nothing.

So is a variant whose two answered runs of one formula in the duels of a cycle wrote proofs of different
lengths: it does not repeat itself, and no figure of it means anything. Each formula is run as often on each
side as a duel has pairs; a challenger in duels of one pair is not seen, nor is a search that differs and
comes to a proof of the same length.

What the runs of a stage come to is judged by the rules of its gate (`tables.LATE_GATES`). A seed that is
found unsound stays what its variants are compared with and built from: its sources, not its figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from evolake import gates
from evolake.agents.fences import cap, fence, inline
from evolake.errors import EvolakeError
from evolake.gates import GateResults, GateSpec, Ruleset, Verdict, replay_gate
from evolake.gates.boundary import raised_in
from evolake.lake.blobs import BlobStore
from evolake.scratch import Scratch
from evolake.solvers.gates.collecting import Subject
from evolake.solvers.gates.evidence import runs_evidence, store_evidence
from evolake.solvers.gates.runs import GateContext
from evolake.solvers.gates.specs import GATE_NAMES, GATES
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.roles.models import with_short_ids
from evolake.solvers.tables import LATE_GATES

LONGEST_FEEDBACK = 6000
LONGEST_LOG = 2500
LONGEST_OUTPUT = 5000
SHOWN = 8
RUN_FIELDS = ("instance", "expected", "status", "answer", "proof_status", "conflicts", "peak_mb", "problems")


def feedback_of(
    verdicts: Sequence[Verdict],
    seen: Mapping[str, Mapping[str, Any]],
    ruleset: Ruleset,
    blobs: BlobStore | None = None,
) -> str:
    """Return the text for the next attempt; empty if nothing blocked.

    Args:
        seen: gate -> the evidence that its rules judged. blobs: where the build's log is.
    """
    blocked = next((verdict for verdict in verdicts if verdict.outcome != "pass"), None)
    if blocked is None:
        return ""
    rule = next((rule for rule in ruleset.rules if rule.id == blocked.rule_id), None)
    parts = [
        f"Blocked at gate {blocked.gate_no} ({blocked.gate}) by the rule {blocked.rule_id}: "
        f"{inline(blocked.reason, 500)}"
    ]
    if rule is not None and rule.text:
        parts.append(f"The rule: {inline(rule.text, 600)}")
    evidence = seen.get(blocked.gate, {})
    if raised_in(evidence):
        return cap(with_short_ids("\n\n".join(parts)), LONGEST_FEEDBACK)
    if blocked.gate == "build":
        parts += _build_details(evidence["build"], blobs)
    elif "runs" in evidence:
        parts += _run_details(evidence["runs"], blocked)
    elif blocked.gate == "compliance" and evidence.get("layout"):
        parts.append(fence("\n".join(str(problem) for problem in evidence["layout"][:SHOWN]), "layout", 1500))
    return cap(with_short_ids("\n\n".join(parts)), LONGEST_FEEDBACK)


def output_of(verdicts: Sequence[Verdict], complaints: Mapping[str, str]) -> str:
    """Return what the program itself wrote in runs that did not end well, that of the instance which the
    reason names first; "" if no gate objected.

    Args:
        complaints: instance -> the end of what its run wrote. Of secret formulas there is none.
    """
    blocked = next((verdict for verdict in verdicts if verdict.outcome != "pass"), None)
    if blocked is None:
        return ""
    named = blocked.reason.split(":", 1)[0].split("~")[0]
    order = sorted(complaints, key=lambda instance: (instance.split("~")[0] != named, instance))
    distinct: dict[str, str] = {}
    for instance in order:
        distinct.setdefault(complaints[instance], instance)
    return cap(
        "\n\n".join(f"{instance}:\n{text}" for text, instance in list(distinct.items())[:SHOWN]),
        LONGEST_OUTPUT,
    )


def _build_details(build: Mapping[str, Any], blobs: BlobStore | None) -> list[str]:
    """Return the lines of the log that name errors, or its end."""
    if blobs is None or not build.get("log_sha"):
        return []
    try:
        log = blobs.get(build["log_sha"]).decode("utf-8", "replace").splitlines()
    except EvolakeError as error:
        return [f"(the build's log cannot be read: {error.what})"]
    errors = [line for line in log if "error" in line.lower() or "undefined reference" in line]
    return [fence("\n".join(errors[:20] or log[-20:]), "build log", LONGEST_LOG)]


def _run_details(rows: Sequence[Mapping[str, Any]], blocked: Verdict) -> list[str]:
    """Return the runs of the instance that the reason names, then others that went wrong."""
    named = blocked.reason.split(":", 1)[0].split("~")[0]
    bad = [row for row in rows if row["status"] not in ("sat", "unsat")]
    chosen = [row for row in rows if row["instance"].split("~")[0] == named] + [
        row for row in bad if row["instance"].split("~")[0] != named
    ]
    if not chosen:
        return []
    return [fence("\n".join(_run_line(row) for row in chosen[:SHOWN]), "runs", LONGEST_LOG)]


def _run_line(row: Mapping[str, Any]) -> str:
    return "  ".join(
        f"{name}={inline(row.get(name), 120)}" for name in RUN_FIELDS if row.get(name) not in (None, "")
    )


@dataclass(frozen=True)
class VariantResults(GateResults):
    """A variant after its gates. runs: gate -> rows of RUNS, of the gates that it came to. feedback: what a
    coder is shown about its block, or "". output: what the program wrote in runs that did not end well, of a
    block by those, or "".
    """

    build: BuildResult | None = None
    runs: Mapping[str, Rows] = field(default_factory=dict)
    feedback: str = ""
    output: str = ""

    @property
    def variant_id(self) -> str:
        """Return the variant's id."""
        return self.artifact_id

    @property
    def evidence_shas(self) -> dict[str, str]:
        """Gate -> sha of what its rules judged."""
        return {result.gate: result.evidence_sha for result in self.results if result.evidence_sha}


def gate_verdicts(
    gate: str,
    evidence: Mapping[str, Any],
    ruleset: Ruleset,
    *,
    variant_id: str,
    cycle: str,
    run_id: str,
    evidence_sha: str | None = None,
) -> list[Verdict]:
    """Return verdicts of one gate on evidence as it was collected or stored; rules after the first block are
    not asked.

    Raises:
        InputError: a rule that cannot be used.
    """
    asked = GateSpec((*GATE_NAMES, *LATE_GATES).index(gate), gate, lambda _: evidence)
    return list(
        replay_gate(
            asked,
            evidence,
            ruleset,
            artifact_id=variant_id,
            cycle=cycle,
            run_id=run_id,
            evidence_sha=evidence_sha,
        ).verdicts
    )


def judge_variant(
    variant: Path | str,
    *,
    adapter: Adapter,
    base: Path,
    ruleset: Ruleset,
    context: GateContext,
    cycle: str,
    run_id: str,
    stop_at: str | None = None,
) -> VariantResults:
    """Take one variant through its gates, up to and with `stop_at` (all by default); the first block ends it.

    Args:
        variant: its repository, or the sha of its archive. base: the repository of its seed.

    Raises:
        MachineryError: the jail, a checker or the compiler failed; nothing was judged. InputError: the base
            or a rule cannot be used.
    """
    if isinstance(variant, str):
        with Scratch("variant") as parent:
            folder = Path(parent) / "variant"
            context.blobs.get_tree(variant, folder)
            return judge_variant(
                folder,
                adapter=adapter,
                base=base,
                ruleset=ruleset,
                context=context,
                cycle=cycle,
                run_id=run_id,
                stop_at=stop_at,
            )
    asked = GATES[: GATE_NAMES.index(stop_at) + 1] if stop_at else GATES
    subject = Subject(
        source_sha(variant),
        cycle,
        lambda: variant,
        base,
        read_card(base)["base"],
        adapter,
        (),
        lambda: context,
    )
    done = gates.run_gates(
        subject,
        asked,
        ruleset,
        artifact_id=subject.variant_id,
        cycle=cycle,
        run_id=run_id,
        store=partial(store_evidence, blobs=context.blobs),
    )
    return VariantResults(
        done.artifact_id,
        done.results,
        done.accepted and asked == GATES,
        subject.built,
        subject.runs,
        feedback_of(done.verdicts, done.evidence, ruleset, context.blobs),
        output_of(done.verdicts, subject.complaints),
    )


Row = Mapping[str, Any]
Judge = Callable[[Sequence[Row]], list[Verdict]]
"""Rows of RUNS or DUELS -> verdicts on their variants."""


def stage_judge(gate: str, ruleset: Ruleset, blobs: BlobStore, *, cycle: str, run_id: str) -> Judge:
    """Return what judges the runs of one stage; gate: of `tables.LATE_GATES`. A verdict for each variant and
    rule of the gate, in order of ids."""

    def judge(rows: Sequence[Row]) -> list[Verdict]:
        by_variant: dict[str, list[Row]] = defaultdict(list)
        for row in contradicted(rows):
            by_variant[row["variant_id"]].append(row)
        result: list[Verdict] = []
        for variant_id in sorted(by_variant):
            evidence = runs_evidence(by_variant[variant_id])
            sha = store_evidence(evidence, blobs)
            result += gate_verdicts(
                gate, evidence, ruleset, variant_id=variant_id, cycle=cycle, run_id=run_id, evidence_sha=sha
            )
        return result

    return judge


def contradicted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, where an unproved UNSAT of a formula that another run found a model of is a wrong
    answer, which was not known before."""
    with_model = {_formula(row) for row in rows if row["certificate"] == "model"}
    return [
        {
            **row,
            "status": "wrong",
            "problems": "says UNSAT of a formula that another variant found a model of",
        }
        if row["status"] == "unsat" and row["certificate"] is None and _formula(row) in with_model
        else row
        for row in rows
    ]


def unsound_in(verdicts: Iterable[Verdict]) -> set[str]:
    """Return variants that are refuted, or do not repeat themselves."""
    return {verdict.artifact_id for verdict in verdicts if verdict.outcome == "block"}


def objections(rows: Iterable[Row]) -> dict[str, Row]:
    """Return variant -> the row of VERDICTS that objects to it, the earliest gate's if there are more."""
    ordered = sorted(
        (row for row in rows if row["outcome"] != "pass"), key=lambda row: row["gate_no"], reverse=True
    )
    return {row["artifact_id"]: row for row in ordered}


def without(runs: pl.DataFrame, unsound: Iterable[str]) -> pl.DataFrame:
    """Return rows of RUNS of all other variants."""
    return runs.filter(~pl.col("variant_id").is_in(list(unsound)))


def _formula(row: Row) -> str:
    return str(row.get("formula_sha") or row["instance"])
