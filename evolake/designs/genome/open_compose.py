"""Writes a genome of the open grammar as a design file: plain Python in the contract's format, one statement
per drive. The defaults of HYPER_SPACE are the genome's values, so the file alone is the whole design.

And finds out whether a design file computes the baseline dynamics, by running both: a seed design that is the
baseline in other words gets the baseline's genome, so that operators can change its drives and not only its
values. Text proves nothing, so both are traced in float64 and run for five steps from the same start on the
same instances; agreement to 1e-6 in every variable is recognition. (The dynamics are chaotic: over more steps
even equal designs part.)
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from evolake.designs.engines.isolated import fits_apart, states_apart
from evolake.designs.genome.open_expression import LEAVES, Expression, heads
from evolake.designs.genome.open_genome import OpenGenome, baseline
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.tracing.trace import trace

STEPS = 5
TOLERANCE = 1e-6
PROBE_N = 24
PROBE_BATCH = 6
PROBE_SEED = 20


def recognised(source: str, pool: Any) -> OpenGenome | None:
    """Return the baseline's genome if the file computes what the baseline does, else None, also for a file
    that cannot be traced."""
    result = trace(source, pool=pool, dtype="float64", fits=fits_apart)
    if isinstance(result, Blocked):
        return None
    after = states_after(result)
    if after is None:
        return None
    traced = trace(compose(baseline()), pool=pool, dtype="float64", fits=fits_apart)
    states = states_after(traced) if isinstance(traced, TracedDesign) else None
    return baseline() if states is not None and same_states(after, states) else None


def states_after(traced: TracedDesign, steps: int = STEPS) -> dict[str, np.ndarray] | None:
    """Return every variable after a few steps of the batched engine in float64, on small fixed instances;
    None for a design that breaks on them."""
    states = states_apart(json.dumps(traced.to_json()), PROBE_N, PROBE_BATCH, PROBE_SEED, steps)
    return None if isinstance(states, str) else states


def same_states(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> bool:
    """Equal variables, equal to `TOLERANCE`, relative for large values."""
    if set(first) != set(second):
        return False
    return all(np.allclose(first[name], second[name], rtol=TOLERANCE, atol=TOLERANCE) for name in first)


Form = Literal["number", "scalar", "clause", "literal", "variable"]
"""What a written expression is at run time: a Python number, or a tensor over what its name says."""

OF_NUMBERS = {
    "neg": "(-{0})",
    "abs": "abs({0})",
    "square": "({0}) ** 2",
    "root": "math.sqrt(abs({0}))",
    "log": "math.log1p(abs({0}))",
    "exp": "math.exp(min({0}, 10.0))",
    "tanh": "math.tanh({0})",
    "sigmoid": "(0.5 + 0.5 * math.tanh(0.5 * ({0})))",
    "relu": "max({0}, 0.0)",
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "div": "({0} / (abs({1}) + 0.001))",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "power": "((abs({0}) + 1e-6) ** min(max({1}, -3.0), 3.0))",
}
OF_TENSORS = OF_NUMBERS | {
    "abs": "torch.abs({0})",
    "square": "torch.square({0})",
    "root": "torch.sqrt(torch.abs({0}))",
    "log": "torch.log1p(torch.abs({0}))",
    "exp": "torch.exp(torch.clamp({0}, max=10.0))",
    "tanh": "torch.tanh({0})",
    "sigmoid": "torch.sigmoid({0})",
    "relu": "torch.relu({0})",
    "div": "({0} / (torch.abs({1}) + 0.001))",
    "min": "torch.minimum({0}, {1})",
    "max": "torch.maximum({0}, {1})",
    "power": "((torch.abs({0}) + 1e-6) ** torch.clamp({1}, -3.0, 3.0))",
}
AROUND = (
    "(torch.zeros_like(v).scatter_add(0, idx.reshape(-1), ({0}).unsqueeze(1).expand(-1, 3).reshape(-1)) / "
    "degree)"
)
REDUCED: Mapping[str, tuple[Form, Form, str]] = {
    "at": ("variable", "literal", "({0})[idx]"),
    "lowest": ("literal", "clause", "torch.amin({0}, dim=1)"),
    "highest": ("literal", "clause", "torch.amax({0}, dim=1)"),
    "middle": ("literal", "clause", "torch.mean({0}, dim=1)"),
    "around": ("clause", "variable", AROUND),
}
INDENT = "    "
FORCE = (
    "literal = v[idx] * sgn",
    "leading, place = torch.topk(literal, 2, dim=1)",
    "u = 0.5 * (1.0 - literal)",
    "unmet = 0.5 * (1.0 - leading)",
    "c, second = unmet[:, 0], unmet[:, 1]",
    "winner = place[:, :1]",
    "best = torch.zeros_like(literal).scatter(1, winner, 1.0)",
    "rival = c.unsqueeze(1).expand(-1, 3).scatter(1, winner, second.unsqueeze(1))",
)
DEGREE = (
    "degree = torch.clamp(torch.zeros_like(v).scatter_add(0, idx.reshape(-1), "
    "torch.ones_like(literal).reshape(-1)), min=1.0)"
)
TRUE = "true = torch.sum(torch.where(literal > 0.0, 1.0, 0.0), dim=1)"
OF_THE_FORMULA: Mapping[str, str] = {
    **{f"true{number}": f"torch.mean(torch.where(true == {number}.0, 1.0, 0.0))" for number in range(4)},
    "variables": "torch.sum(torch.ones_like(v))",
    "clauses": "torch.sum(torch.ones_like(c))",
    "ratio": "torch.sum(torch.ones_like(c)) / torch.sum(torch.ones_like(v))",
    "log_variables": "torch.log(torch.sum(torch.ones_like(v)))",
}
"""How the numbers of the whole formula are computed. Sizes are summed up: a number that is read off a shape
would have to fit a form in N and M."""
LIKE = {"literal": "literal", "clause": "c", "variable": "v", "scalar": "v"}
OVER_ALL, SCALAR = 'vars["{0}"]', 'torch.max(vars["{0}"])'
"""How a memory is read. One number per formula is kept once for every variable, all the same: kernels know no
shape of one number."""


def compose(genome: OpenGenome, title: str = "", rationale: str = "") -> str:
    """Return the design file of `genome`. The same arguments give the same text; title and rationale only
    enter the docstring."""
    heading = plain(title) or "3-SAT solver design"
    lines = [heading.rstrip(".") + ".", ""]
    if rationale:
        lines += [*textwrap.wrap(plain(rationale), 110), ""]
    lines.append(
        "Open grammar: "
        + (", ".join(genome.term_names()) or "nothing beyond the names of the baseline dynamics")
        + "."
    )
    docstring = '"""' + "\n".join(lines) + '\n"""\n'
    gradient = _gradient(genome)
    imports = ["import math\n"] if "math." in gradient else []
    return "\n".join(
        [docstring, *imports, "import torch\n", _variables(genome), _hyper_space(genome), gradient]
    )


def _variables(genome: OpenGenome) -> str:
    lines = [
        "VARIABLES_SPEC = {",
        '    "v": dict(init=lambda shape: 2.0 * torch.rand(shape) - 1.0, shape=("B", "N"), bounds=(-1.0, '
        "1.0)),",
        '    "xl": dict(init=lambda shape: torch.ones(shape), shape=("B", "M"), bounds=(1.0, 1e6)),',
        '    "xs": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),',
    ]
    for memory in genome.memories:
        axis = "M" if memory.axis == "clause" else "N"
        lines.append(
            f'    "{memory.name}": dict(init=lambda shape: torch.zeros(shape), shape=("B", "{axis}"), '
            f"bounds=({memory.low!r}, {memory.high!r})),"
        )
    return "\n".join([*lines, "}\n"])


def _hyper_space(genome: OpenGenome) -> str:
    lines = ["HYPER_SPACE = {"]
    for held in genome.constants:
        p = held.parameter
        lines.append(
            f'    "{p.name}": dict(type="{p.type}", default={held.value!r}, low={p.low!r}, high={p.high!r}),'
        )
    return "\n".join([*lines, "}\n"])


def _gradient(genome: OpenGenome) -> str:
    kinds, forms = genome.kinds(), forms_of(genome)
    body = ['v, xl, xs = vars["v"], vars["xl"], vars["xs"]']
    body += [
        f"{memory.name} = {SCALAR if memory.axis == 'scalar' else OVER_ALL}".format(memory.name)
        for memory in genome.memories
    ]
    body += [
        "",
        "# c is 0 for a clause with a literal wholly true and 1 for one whose literals are all wholly false",
        *FORCE,
    ]
    if any("around" in heads(drive) for drive in genome.all_drives().values()):
        body.append(DEGREE)
    read = {name for drive in genome.all_drives().values() for name in heads(drive)}
    if any(f"true{number}" in read for number in range(4)):
        body.append(TRUE)
    body += [f"{name} = {text}" for name, text in OF_THE_FORMULA.items() if name in read]
    body.append("")
    for slot, drive in genome.all_drives().items():
        text, form = written(drive, forms)
        if slot == "pace":
            body.append(f"pace = {text}")
            continue
        like = LIKE[kinds[slot]]
        if form in ("number", "scalar"):
            text = f"torch.zeros_like({like}) + {text}"
        elif form == "clause" and kinds[slot] == "literal":
            text = f"({text}).unsqueeze(1).expand(-1, 3)"
        name = "force" if slot == "force" else f"d_{slot}"
        body.append(f"{name} = {text}")
        if slot == "force":
            body.append(
                "pull = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (sgn * force).reshape(-1))"
            )
            body.append("drift = pull / torch.clamp(torch.max(torch.abs(pull)), min=1e-6)")
            body += ["speed = torch.clamp(torch.max(torch.abs(pull)), min=1e-6)"] if "speed" in read else []
    body += [
        "",
        "# time runs so that the fastest variable moves one unit in one unit of time; the engine "
        "descends, hence the sign",
        f"scale = {'-pace' if 'pace' in genome.all_drives() else '-1.0'} / "
        "torch.clamp(torch.max(torch.abs(d_v)), min=1e-6)",
    ]
    names = ("v", "xl", "xs", *(memory.name for memory in genome.memories))
    body.append("return {" + ", ".join(f'"{name}": d_{name} * scale' for name in names) + "}")
    text = "\n".join(INDENT + line if line else "" for line in body)
    return f"\ndef _grad_single(vars, idx, sgn, hp):\n{text}\n"


def forms_of(genome: OpenGenome) -> dict[str, Form]:
    """Return what each name is at run time."""
    result: dict[str, Form] = {**LEAVES, **{memory.name: memory.axis for memory in genome.memories}}
    for name in genome.values():
        result[name] = "number"
    return result


def written(expression: Expression, forms: Mapping[str, Form]) -> tuple[str, Form]:
    """Return the expression as Python, and what it is at run time."""
    if isinstance(expression, float):
        return (f"({expression!r})" if expression < 0 else repr(expression)), "number"
    if isinstance(expression, str):
        return (f"hp.{expression}" if forms[expression] == "number" else expression), forms[expression]
    operator, *operands = expression
    parts = [written(operand, forms) for operand in operands]
    form = parts[0][1]
    if operator in REDUCED:
        wanted, given, template = REDUCED[operator]
        return (template.format(parts[0][0]), given) if form == wanted else parts[0]
    if operator == "overall":
        return parts[0] if form in ("number", "scalar") else (f"torch.mean({parts[0][0]})", "scalar")
    if len(parts) == 2:
        return _of_two(operator, parts)
    return (OF_NUMBERS if form == "number" else OF_TENSORS)[operator].format(parts[0][0]), form


def _of_two(operator: str, parts: list[tuple[str, Form]]) -> tuple[str, Form]:
    (first, item), (second, other) = parts
    if item == other == "number":
        return OF_NUMBERS[operator].format(first, second), "number"
    form: Form = next(
        (result for result in ("literal", "clause", "variable", "scalar") if result in (item, other)),
        "scalar",
    )  # pyright: ignore[reportAssignmentType]
    if form == "literal":
        first, second = (f"({text}).unsqueeze(1)" if kind == "clause" else text for text, kind in parts)
    template = OF_TENSORS[operator]
    if operator in ("min", "max") and "number" in (item, other):
        tensor, number = (first, second) if other == "number" else (second, first)
        return f"torch.clamp({tensor}, {'max' if operator == 'min' else 'min'}={number})", form
    if operator in ("div", "power") and other == "number":
        template = template.replace("torch.abs({1})", "abs({1})").replace(
            "torch.clamp({1}, -3.0, 3.0)", "min(max({1}, -3.0), 3.0)"
        )
    if operator == "power" and item == "number":
        template = template.replace("torch.abs({0})", "abs({0})")
    return template.format(first, second), form


def plain(text: str) -> str:
    """Return one line without quotes or backslashes, so that no title can end the docstring."""
    return " ".join(text.replace("\\", "/").replace('"', "'").split())[:600]
