"""Requests as a model reads them: one line a size, a table of designs, nothing that was not measured, and
what a design file must be and what a step of it costs, in the same words for every role. The operators read
the fields themselves.

Every line on design files is a rule that a gate checks, a fact of the engine, or a count of
`evolake.designs.work`. A test plants a breach of each rule, and compares the rules that are named here with
those of the gates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from evolake.agents.fences import clean, inline
from evolake.designs.roles.models import SHORT_ID, DesignDetail, DesignSummary, Direction, LevelResult

FORM = """\
A design is a Python file with three parts:
- `VARIABLES_SPEC`: name -> dict(init=function of a shape, shape=tuple of "B" (first), "N" (variables), "M" (clauses) or numbers, \
bounds=(low, high)); `v`, ("B", "N") in (-1.0, 1.0), whose signs are the assignment.
- `HYPER_SPACE`: name -> dict(type="uniform", "log_uniform" or "int", default=, low=, high=), or type="categorical" with \
`choices`; `lr`, the step (0.01 without it).
- `_grad_single(vars, idx, sgn, hp)`: the negative time derivatives of ONE instance (no batch axis). `idx` (M, 3): variables of each clause; `sgn`: \
+1 or -1. The engine does `vars[k] -= hp.lr * grad[k]`, clamps to the bounds and checks the clauses.\
"""
"""What the rule `designs-contract` checks."""
BLOCKED = {
    "more than 64 KiB": "designs-contract",
    "input, output, global state": "designs-trace",
    "branches on values of tensors (the function is traced once)": "designs-trace",
    "more than 5,000 operators": "designs-trace",
    "more than four rounds from variables to clauses and back in a step": "designs-repeated-flow",
    "first steps that leave the finite numbers": "designs-dynamics",
    "what computes a known design": "designs-duplicate",
}
"""What is blocked, in the words of the prompt -> the rule that blocks it."""
FACTS = (
    "`torch` and `math` may be imported (Python 3).",
    "The baseline divides all derivatives by the largest |dv|, so that lr is the largest move of a step; "
    "another time scale is allowed.",
)
"""What no gate checks."""

COSTS = """\
Cost is work: median steps times the cost of a step, the baseline's being 1. A simple operation on (N,) adds about 0.15 % to a step, on (M,) \
0.65 %, on (M, 3) 2 %; an element gathered counts 7 of these, scattered 6, a division 10, a root 18, exp 36, tanh or sigmoid 50, log 70, a power 110 (write v * v), \
what has no kernel (sin, erf, sorts, random numbers) hundreds to thousands. Equal expressions count once, views nothing.\
"""
CONTRACT = "\n".join([FORM, f"\nGates block: {'; '.join(BLOCKED)}.", *FACTS, COSTS])


NOT_MEASURED = "not measured yet"
LONGEST_RATIONALE = 600
RESULT_FIELDS = (
    "design_id",
    "N",
    "median_step",
    "max_steps",
    "steps_run",
    "unsolved_fraction",
    "work_per_step",
    "fidelity",
    "batch",
    "ratio",
)
SUMMARY_HEAD = (
    "design | rank | consensus | ucb | visits | largest N solved | median work there | against its parent "
    "| operator | title"
)


def levels_text(results: Sequence[LevelResult]) -> str:
    """Return median and allowed work of the sizes that were solved, a line for each kind, fidelity and cost
    of a step; a line for each that was not.

    Median steps are left out: they are the median work divided by the cost of a step.
    """
    solved: dict[str, list[str]] = {}
    failed = []
    for item in results:
        head = f"{item.kind}, {item.fidelity}, a step costs {item.work_per_step:g}"
        if item.unsolved_fraction < 0.5:
            cut = " (a clock cut it)" if item.timed_out else ""
            solved.setdefault(head, []).append(
                f"N={item.N} {item.median_work:g} of {item.max_work}{_diverged_text(item)}{cut}"
            )
        else:
            failed.append(f"{head}; {_failed_level(item)}")
    return (
        "\n".join([*(f"{head}; median work: {', '.join(sizes)}" for head, sizes in solved.items()), *failed])
        or NOT_MEASURED
    )


def summaries_text(summaries: Sequence[DesignSummary]) -> str:
    """Return a line for each design, in the order given."""
    return "\n".join([SUMMARY_HEAD, *(_summary_line(item) for item in summaries)]) if summaries else "none"


def detail_text(detail: DesignDetail, *, source: bool = True) -> str:
    """Return a design as a reference. source: with its file."""
    lines = [f"design {detail.design_id}: {inline(detail.title)}"]
    lines += [f"idea: {inline(detail.rationale, LONGEST_RATIONALE)}"] if detail.rationale else []
    lines += (
        [f"lesson ({detail.success_level or 'no level'}): {inline(detail.key_insight, LONGEST_RATIONALE)}"]
        if detail.key_insight
        else []
    )
    lines += [f"against its parent: {detail.against_parent}"] if detail.against_parent else []
    lines += [f"scaling law: {detail.scaling}"] if detail.scaling else []
    lines += ["results:", levels_text(detail.results)]
    return "\n".join([*lines, *(["source:", clean(detail.source).rstrip()] if source else [])])


def details_text(details: Sequence[DesignDetail], *, source: bool = True) -> str:
    """Return designs as references, one after another."""
    return "\n\n".join(detail_text(item, source=source) for item in details) or "none"


def results_text(results: Sequence[Mapping[str, Any]]) -> str:
    """Return results as objectives receive them: a line for each size of each design."""
    if not results:
        return "none yet"
    names = [name for name in RESULT_FIELDS if name in results[0]]
    return "\n".join(
        [" | ".join(names), *(" | ".join(_result_cell(name, row[name]) for name in names) for row in results)]
    )


def outcomes_text(outcomes: Sequence[str]) -> str:
    """Return who is champion and how the last contests went."""
    return "\n".join(f"- {inline(line, 1200)}" for line in outcomes)


def brief_text(request: Direction) -> str:
    """Return what the planner asks for, without what it left empty, and which request of the cycle it is."""
    parts = (
        ("direction", request.direction),
        ("why", request.rationale),
        ("focus", request.focus),
        ("stay away from", request.avoid),
        ("phase of the search", request.phase),
        ("learnt so far", "; ".join(request.key_insights)),
    )
    lines = [f"{name}: {clean(text)}" for name, text in parts if text]
    return "\n".join([*lines, *([clean(request.sibling.text())] if request.sibling else [])])


DIRECTION_TEXTS: Mapping[str, Callable[[Any], Any]] = {
    "brief": brief_text,
    "outcomes": lambda request: outcomes_text(request.outcomes),
    "objectives": lambda request: "; ".join(inline(item) for item in request.objectives),
}
"""Placeholders of a designer, one-shot or session, that are not fields as they are."""
BRIEF_FIELDS = ("sibling", "phase", "direction", "rationale", "focus", "avoid", "key_insights")


def prompt_values(
    *hidden: str,
    contract: bool = False,
    written: Mapping[str, Callable[[Any], Any]] | None = None,
    **texts: Callable[[Any], Any],
) -> Callable[[BaseModel], dict[str, Any]]:
    """For `Role.values`: the request's fields but the hidden ones, those that are `written` as text, and the
    contract.

    written, texts: placeholder -> (request) -> its value.
    """
    made = {**(written or {}), **texts}
    left_out = {*hidden, *made, *(BRIEF_FIELDS if "brief" in made else ())}

    def values(request: BaseModel) -> dict[str, Any]:
        shown = request.model_dump(mode="json", exclude=left_out)
        return (
            shown
            | {name: write(request) for name, write in made.items()}
            | ({"contract": CONTRACT} if contract else {})
        )

    return values


def _result_cell(name: str, value: Any) -> str:
    if name == "design_id":
        return str(value)[:SHORT_ID]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _failed_level(item: LevelResult) -> str:
    """Return how a size ended that was not solved. What broke the runs comes before what a clock cut."""
    if item.failure:
        return f"N={item.N} broke: {inline(item.failure, 300)}"
    if item.timed_out:
        return f"N={item.N} not measured: a clock cut it"
    ran = "" if item.steps_run is None else f" after {item.steps_run} steps"
    return (
        f"N={item.N} not solved: {item.unsolved_fraction:.0%} unsolved{ran} of a work of "
        f"{item.max_work}{_diverged_text(item)}"
    )


def _diverged_text(item: LevelResult) -> str:
    return f", {item.diverged} instances diverged" if item.diverged else ""


def _summary_line(item: DesignSummary) -> str:
    measured = item.fidelity != "none"
    figures = (
        (
            str(item.rank),
            f"{item.consensus:.3f}",
            f"{item.ucb:.3f}",
            f"{item.visits:.1f}",
            str(item.largest_solved),
        )
        if measured
        else ("",) * 5
    )
    work = "" if item.median_work is None else f"{item.median_work:g}"
    title = (
        inline(item.title, 80).replace("|", "/")
        + (", tuned" if item.tuned else "")
        + ("" if measured else f", {NOT_MEASURED}")
    )
    return " | ".join(
        (
            item.design_id,
            *figures,
            work,
            item.against_parent,
            inline(item.operator, 40).replace("|", "/"),
            title,
        )
    )
