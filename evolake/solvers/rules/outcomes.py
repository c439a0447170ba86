"""Checkers of what a variant did: its build, its answers on small files, its models and proofs, its
stability.

They read stored rows only: `evidence["build"]`, or `evidence["runs"]`, rows with the columns of
`tables.RUNS`, so that a changed rule can be judged without running a solver again. A reason names the first
instance in the order of the rows and counts the others. A copy of an instance bears its name, "~" and the way
it was copied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evolake.gates import Finding, checker
from evolake.solvers.tables import CLOCK, REFUSED, UNREAD

Row = Mapping[str, Any]
ANSWERS = ("SAT", "UNSAT")
COPY = "~"
GROWING, FILLED = "growing", "filled"
NO_PROOF = ("refuted", "missing", "incomplete", "malformed", "unsupported")
"""What a proof can be found to be that makes its variant unsound, since the answer came without a proof in
the format that the variant declares; "unknown" and "unchecked" do not."""


@checker("solvers.build")
def build(evidence: Row, *, most_cpu_s: float, most_warnings: int | None = None) -> Finding | None:
    """Check that a clean build ended well, within `most_cpu_s` seconds of processor time."""
    result = evidence["build"]
    if not result["ok"]:
        return Finding(result["reason"] or "the build failed", result["log_sha"])
    if result["cpu_s"] > most_cpu_s:
        return Finding(
            f"the build took {result['cpu_s']:.0f} cpu seconds; at most {most_cpu_s:g} are allowed",
            result["log_sha"],
        )
    if most_warnings is not None and result["warnings"] > most_warnings:
        return Finding(
            f"the build gave {result['warnings']} warnings; at most {most_warnings} are allowed",
            result["log_sha"],
        )
    return None


@checker("solvers.runs")
def runs(evidence: Row, *, least: int) -> Finding | None:
    """So many different instances were run: a gate that ran nothing has shown nothing."""
    there = len({_original(row) for row in evidence["runs"]})
    return Finding(f"only {there} instances were run; at least {least} are wanted") if there < least else None


@checker("solvers.ended")
def ended(evidence: Row, *, statuses: Mapping[str, str]) -> Finding | None:
    """No run ended in one of `statuses` (status -> the words for it). Who names crashes means refusals,
    too."""
    words = _with_refusals(statuses)
    bad = [row for row in evidence["runs"] if row["status"] in words]
    return _finding(bad, lambda row: words[row["status"]])


@checker("solvers.answers")
def answers(evidence: Row) -> Finding | None:
    """Every answer is the known one."""
    bad = [
        row
        for row in evidence["runs"]
        if row["answer"] in ANSWERS and row["expected"] in ANSWERS and row["answer"] != row["expected"]
    ]
    return _finding(bad, lambda row: f"answered {row['answer']}, but the instance is {row['expected']}")


@checker("solvers.copies")
def copies(evidence: Row) -> Finding | None:
    """Check that a shuffled and a renamed copy of a file get the answer of the file, where they get one."""
    by_instance: dict[str, list[Row]] = defaultdict(list)
    for row in evidence["runs"]:
        if row["answer"] in ANSWERS:
            by_instance[_original(row)].append(row)
    bad = [
        next(row for row in result if row["answer"] != result[0]["answer"])
        for result in by_instance.values()
        if len({row["answer"] for row in result}) > 1
    ]
    return _finding(bad, lambda row: f"answered {row['answer']} on this copy, but otherwise on the file")


@checker("solvers.models")
def models(evidence: Row) -> Finding | None:
    """Every SAT answer comes with a model that our own checker found to satisfy the formula as given."""
    bad = [
        row
        for row in evidence["runs"]
        if row["answer"] == "SAT" and row["certificate"] != "model" and row["status"] in ("sat", "wrong")
    ]
    return _finding(bad, lambda row: "its model does not satisfy the formula")


@checker("solvers.proofs")
def proofs(evidence: Row) -> Finding | None:
    """Every UNSAT answer comes with a proof that a checker verified. Missing, incomplete, unreadable, refuted
    and too slow ones all block."""
    bad = [row for row in evidence["runs"] if row["answer"] == "UNSAT" and row["proof_status"] != "verified"]
    return _finding(bad, lambda row: f"its proof is {row['proof_status'] or 'missing'}")


@checker("solvers.sound")
def sound(evidence: Row) -> Finding | None:
    """No answer is refuted: no model that falsifies a clause, no UNSAT of what has a model, no proof that
    fails, cannot be read or is not there. A proof that was not drawn, or that a limit left undecided, proves
    nothing and refutes nothing."""
    bad = [row for row in evidence["runs"] if unsound(row)]
    return _finding(
        bad,
        lambda row: (
            "its answer is refuted" if row["status"] == "wrong" else f"its proof is {row['proof_status']}"
        ),
    )


def unsound(row: Row) -> bool:
    """Return whether a run refutes its variant permanently."""
    return row["status"] == "wrong" or (row["status"] == "unsat" and row["proof_status"] in NO_PROOF)


def fault_of(status: str, proof_status: str) -> str:
    """Say what is wrong with an answer whose run is `unsound`: one with a proof that is missing or cannot be
    read is not called refuted."""
    return (
        "is refuted"
        if status == "wrong" or proof_status == "refuted"
        else f"has no proof: it is {proof_status}"
    )


@checker("solvers.answered")
def answered(evidence: Row, *, least_sat: int, least_unsat: int) -> Finding | None:
    """So many instances of each answer were answered: who gives up on all of them has shown nothing. Runs
    that the clock cut do not count."""
    for wanted, least in (("SAT", least_sat), ("UNSAT", least_unsat)):
        known = {
            row["instance"]
            for row in evidence["runs"]
            if row["expected"] == wanted and row["status"] != CLOCK
        }
        done = {
            row["instance"]
            for row in evidence["runs"]
            if row["expected"] == wanted and row["answer"] == wanted
        }
        if len(done) < min(least, len(known)):
            return Finding(
                f"answered {len(done)} of {len(known)} {wanted} instances within the limits; at least "
                f"{min(least, len(known))} are wanted"
            )
    return None


@checker("solvers.repeatable")
def repeatable(evidence: Row, *, counters: Sequence[str]) -> Finding | None:
    """Check that two runs of one file give the same counters, where the solver prints them."""
    return _unlike_runs(evidence["runs"], counters)


@checker("solvers.memory")
def memory(
    evidence: Row, *, statuses: Mapping[str, str], most_growth: float, slack_mb: float
) -> Finding | None:
    """Over a growing instance, under a fixed limit, memory stays near what the base takes: at most
    `most_growth` times that and `slack_mb`.

    statuses: as for `solvers.ended`. `evidence["base_runs"]` are the runs of the base on the same instances;
    none are needed for the statuses.
    """
    growing = [row for row in evidence["runs"] if row["family"] == GROWING]
    words = _with_refusals(statuses)
    bad = [row for row in growing if row["status"] in words]
    if bad:
        return _finding(
            bad,
            lambda row: (
                f"{words[row['status']]} over a growing instance under a limit of {row['memory_mb']} MB"
            ),
        )
    base = {row["instance"]: row["peak_mb"] for row in evidence["base_runs"] if row["family"] == GROWING}
    over = [
        row
        for row in growing
        if row["instance"] in base and row["peak_mb"] > most_growth * base[row["instance"]] + slack_mb
    ]
    return _finding(
        over, lambda row: f"took {row['peak_mb']:.0f} MB where its base takes {base[row['instance']]:.0f}"
    )


@checker("solvers.initialised")
def initialised(evidence: Row, *, counters: Sequence[str]) -> Finding | None:
    """Check that a run counts the same if memory that the program has not written is filled.

    A run of family FILLED is compared with the first run of the same formula. Nothing is found of a variant
    whose seed does not count the same either, or of whose seed such runs are not known, nor of one that is
    not repeatable without that: `repeatable` finds it. A variant that escapes the build for these runs, which
    its seed passes, is found.
    """
    if reason := evidence.get("unfilled"):
        return Finding(f"with local variables filled it cannot be built, as its seed can: {reason}")
    base = evidence["base_runs"]
    if base and not any(row["family"] == FILLED for row in base):
        return None
    if any(_changed_by_fill(base, counters)) or _unlike_runs(evidence["runs"], counters):
        return None
    return next(_changed_by_fill(evidence["runs"], counters), None)


@checker("solvers.proof_growth")
def proof_growth(evidence: Row, *, most_growth: float, least_conflicts: int) -> Finding | None:
    """For each conflict a variant writes at most `most_growth` times the bytes of proof that its seed writes.

    Both are sums over the growing formulas that both answered; fewer than `least_conflicts` conflicts of
    either say nothing. A variant that reports no conflicts where its seed does cannot be judged, and is
    found.
    """
    mine, theirs = (
        {row["instance"]: row for row in rows if _proved_growing(row)}
        for rows in (evidence["runs"], evidence["base_runs"])
    )
    both = [name for name, row in theirs.items() if name in mine and row["conflicts"] is not None]
    if silent := [name for name in both if mine[name]["conflicts"] is None]:
        return Finding(f"{silent[0]}: it reports no conflicts, and its seed does")
    counted = [
        [(row["proof_bytes"], row["conflicts"]) for row in (rows[name] for name in both)]
        for rows in (mine, theirs)
    ]
    totals = [(sum(size for size, _ in rows), sum(count for _, count in rows)) for rows in counted]
    if min(conflicts for _, conflicts in totals) < least_conflicts:
        return None
    ours, seeds = (size / conflicts for size, conflicts in totals)
    if ours <= most_growth * seeds:
        return None
    return Finding(
        f"it writes {ours:,.0f} bytes of proof for each conflict, and its seed {seeds:,.0f} on the same "
        f"{len(both)} formulas; at most {most_growth:g} times as much is allowed"
    )


def _proved_growing(row: Row) -> bool:
    return row["family"] == GROWING and row["answer"] in ANSWERS and row.get("proof_bytes") is not None


def _unlike_runs(rows: Sequence[Row], counters: Sequence[str]) -> Finding | None:
    """Return the first difference between two runs of one file that were answered."""
    seen: dict[str, Row] = {}
    for row in rows:
        if row["answer"] not in ANSWERS:
            continue
        first = seen.setdefault(row["instance"], row)
        for name in counters:
            if first.get(name) is not None and row.get(name) is not None and first[name] != row[name]:
                return Finding(
                    f"{row['instance']}: two runs of one file gave {first[name]:.0f} and {row[name]:.0f} "
                    f"{name.replace('_', ' ')}"
                )
    return None


def _changed_by_fill(rows: Sequence[Row], counters: Sequence[str]) -> Iterator[Finding]:
    """Yield what filled memory changes in runs of formulas that are answered without it."""
    plain: dict[str, Row] = {}
    for row in rows:
        if row["family"] != FILLED and row["answer"] in ANSWERS:
            plain.setdefault(row["instance"], row)
    for row in rows:
        first = plain.get(_original(row)) if row["family"] == FILLED else None
        if first is None:
            continue
        if row["status"] == "crash":
            yield Finding(f"{_original(row)}: it crashes if memory that it has not written is filled")
        elif row["answer"] in ANSWERS:
            yield from (
                Finding(
                    f"{_original(row)}: it depends on memory that it has not written: {first[name]:.0f} "
                    f"{name.replace('_', ' ')}, and {row[name]:.0f} if such memory is filled"
                )
                for name in counters
                if first.get(name) is not None and row.get(name) is not None and first[name] != row[name]
            )


def _with_refusals(statuses: Mapping[str, str]) -> dict[str, str]:
    """Return the statuses, and refusals if crashes are among them: a program that exits with an error had the
    status crash before."""
    return (
        {REFUSED: "refused to run", UNREAD: "could not read the formula"} if "crash" in statuses else {}
    ) | dict(statuses)


def _original(row: Row) -> str:
    return row["instance"].split(COPY)[0]


def _finding(bad: Sequence[Row], said: Callable[[Row], str]) -> Finding | None:
    if not bad:
        return None
    row = bad[0]
    reason = f" [{row['problems']}]" if row.get("problems") else ""
    more = f"; {len(bad) - 1} more runs likewise" if len(bad) > 1 else ""
    return Finding(f"{row['instance']}: {said(row)}{reason}{more}")
