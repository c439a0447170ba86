"""What a design file must be and what a step of it costs: the same words for planner, designer, session and repair.

Every line is a rule that a gate checks, a fact of the engine, or a count of `evolake.designs.work`.
"""

COSTS = """\
Cost is work: median steps times the cost of a step, the baseline's being 1. A simple operation on (N,) adds about 0.15 % to a step, on (M,) \
0.65 %, on (M, 3) 2 %; a division counts 5 of these, an element gathered 7 or scattered 6, exp, log or tanh 36, a power 110 (write v * v). Equal \
expressions count once, views nothing.\
"""
CONTRACT = f"""\
A design is a Python file with three parts:
- `VARIABLES_SPEC`: name -> dict(init=function of a shape, shape=tuple of "B" (first), "N" (variables), "M" (clauses) or numbers, \
bounds=(low, high)); `v`, ("B", "N") in (-1.0, 1.0), whose signs are the assignment.
- `HYPER_SPACE`: name -> dict(type="uniform", "log_uniform" or "int", default=, low=, high=), or type="categorical" with `choices`; `lr`, the step.
- `_grad_single(vars, idx, sgn, hp)`: the negative time derivatives of ONE instance (no batch axis). `idx` (M, 3): variables of each clause; `sgn`: \
+1 or -1. The engine does `vars[k] -= hp.lr * grad[k]`, clamps to the bounds and checks the clauses.

Gates block: imports other than `torch` and `math` (Python 3); input, output, global state; branches on values of tensors (the function is traced \
once); more than 5,000 operators; the state's own update applied several times in a step; first steps that leave the finite numbers; what computes a \
known design.
The baseline divides all derivatives by the largest |dv|, so that lr is the largest move of a step; another time scale is allowed.
{COSTS}\
"""
