"""What a coder is shown about a gate's objection: which rule, why it exists, what was seen. Bounded, and with
the variant's own output fenced as data.

Learned rules name the variants that they come from by whole ids; here, as everywhere that a role reads, these
are short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.agents.fences import cap, fence, inline
from evolake.errors import EvolakeError
from evolake.gates import Ruleset, Verdict
from evolake.gates.boundary import raised_in
from evolake.lake.blobs import BlobStore
from evolake.solvers.roles.models import with_short_ids

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
