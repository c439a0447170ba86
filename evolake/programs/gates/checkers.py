"""The checks that the rules of the programs line name: pure functions of the evidence that `collecting`
collects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evolake.gates import Finding, checker

Evidence = Mapping[str, Any]


@checker("programs.inside_blocks")
def inside_blocks(evidence: Evidence) -> Finding | None:
    """Nothing outside the blocks of the initial program is changed, and no file is added or gone."""
    return Finding(f"it changes what may not evolve: {evidence['outside']}") if evidence["outside"] else None


@checker("programs.readable")
def readable(evidence: Evidence, most_characters: int) -> Finding | None:
    """Check that a Python program parses, and no program is longer than allowed."""
    if evidence["unreadable"]:
        return Finding(evidence["unreadable"])
    if evidence["characters"] > most_characters:
        return Finding(f"it has {evidence['characters']:,} characters, {most_characters:,} are allowed")
    return None


@checker("programs.no_copy")
def no_copy(evidence: Evidence) -> Finding | None:
    """No other program says the same, but for space and comments."""
    return Finding(f"it says the same as {evidence['same_as'][:12]}") if evidence["same_as"] else None


@checker("programs.no_reach")
def no_reach(evidence: Evidence) -> Finding | None:
    """Check that it uses no way to the evaluator or the interpreter's insides that the initial program does
    not use."""
    return (
        Finding(f"it reaches for what scores it: {', '.join(evidence['reaches'][:3])}")
        if evidence["reaches"]
        else None
    )


@checker("programs.no_constants")
def no_constants(evidence: Evidence, *, fraction_digits: int = 4, whole_digits: int = 6) -> Finding | None:
    """Check that it holds no constant of the evaluator, of so many significant digits, that the initial
    program does not hold."""
    for number, digits, whole in evidence["constants"]:
        if digits >= (whole_digits if whole else fraction_digits):
            return Finding(f"it holds the evaluator's constant {number}")
    return None


@checker("programs.builds")
def builds(evidence: Evidence) -> Finding | None:
    """Check that the build command ends well and leaves what it should."""
    return Finding(evidence["reason"]) if evidence["reason"] else None


@checker("programs.ends_well")
def ends_well(evidence: Evidence) -> Finding | None:
    """Every evaluation ends by itself, in time and memory, with a result that is no report of an error."""
    status, reason = evidence["status"], evidence["reason"]
    if status in ("ok", "tampered"):
        return None
    return Finding(
        f"its evaluator reports an error: {reason}"
        if status == "reported"
        else f"its evaluation ended as {status}: {reason}"
    )


@checker("programs.untouched")
def untouched(evidence: Evidence) -> Finding | None:
    """Check that what scores it is the same after the evaluation as before."""
    return (
        Finding(f"it tampered with what scores it: {', '.join(evidence['tampered'][:3])}")
        if evidence["tampered"]
        else None
    )


@checker("programs.finite")
def finite(evidence: Evidence) -> Finding | None:
    """Every metric that the project names, the score, and every metric of a mean is a finite number."""
    return Finding(f"the metric {evidence['odd'][0]!r} is no finite number") if evidence["odd"] else None


@checker("programs.shape")
def shape(evidence: Evidence, most_metrics: int) -> Finding | None:
    """Check that the metrics that the project declares are there, a score among them, and no more metrics
    than allowed."""
    if missing := [name for name in evidence["declared"] if name not in evidence["metrics"]]:
        return Finding(f"the result lacks the metric {missing[0]!r}")
    if evidence["score"] is None:
        return Finding("the result has no score")
    if len(evidence["metrics"]) > most_metrics:
        return Finding(f"the result has {len(evidence['metrics'])} metrics, {most_metrics} are allowed")
    return None


@checker("programs.no_duplicate")
def no_duplicate(evidence: Evidence) -> Finding | None:
    """No living program of the project gives the same metrics."""
    return (
        Finding(f"it behaves as {evidence['behaves_as'][:12]}: every metric is the same")
        if evidence["behaves_as"]
        else None
    )
