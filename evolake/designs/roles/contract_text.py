"""What a design file must be and what a step of it costs: the same words for planner, designer, session and
repair.

Every line is a rule that a gate checks, a fact of the engine, or a count of `evolake.designs.work`. A test
plants a breach of each rule, and compares the rules that are named here with those of the gates.
"""

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
    "the state's own update applied more than four times in a step": "designs-repeated-flow",
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
0.65 %, on (M, 3) 2 %; a division counts 5 of these, an element gathered 7 or scattered 6, exp, log or tanh 36, a power 110 (write v * v). Equal \
expressions count once, views nothing.\
"""
CONTRACT = "\n".join([FORM, f"\nGates block: {'; '.join(BLOCKED)}.", *FACTS, COSTS])
