"""A variant through its gates, in order: compliance, build, smoke, correctness, stability. `collecting` says
what each looks at, rules that are files judge it.

    0 compliance   layout and documents; code that the variant adds to its base
    1 build        a clean build in the jail
    2 smoke        small files with known answers, and copies of them
    3 correctness  every model evaluated, every proof verified by an external checker
    4 stability    two runs count alike; memory over a growing formula

Each gate may be asked alone, on stored evidence (`gate_verdicts`), so that a changed rule is judged again
without building or running; `judge_variant` takes a repository through all of them and stops at the first
block. A dead jail or checker raises; it never becomes a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import evolake.solvers.rules  # noqa: F401  (registers the checkers)
from evolake import gates
from evolake.gates import GateResults, GateSpec, Ruleset, Verdict, replay_gate
from evolake.scratch import Scratch
from evolake.solvers.gates.collecting import Subject
from evolake.solvers.gates.context import GateContext
from evolake.solvers.gates.evidence import store_evidence
from evolake.solvers.gates.feedback import feedback_of, output_of
from evolake.solvers.gates.specs import GATE_NAMES, GATES
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.tables import LATE_GATES


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
