"""What a design file must be and what a step of it costs: the same words for planner, designer, session and repair.

Every line is a rule that a gate checks, a fact of the engine, or a count of `evolake.designs.work`.
"""

CONTRACT = """\
A design is a Python file with three parts:
- `VARIABLES_SPEC`: name -> dict(init=function of a shape, shape=tuple of "B" (first), "N" (variables), "M" (clauses) or numbers, \
bounds=(low, high)). `v` of shape ("B", "N") with bounds (-1.0, 1.0) is required: its signs are the assignment.
- `HYPER_SPACE`: name -> dict(type="uniform" | "log_uniform" | "int", default=, low=, high=), or type="categorical" with `choices`. `lr`, the step \
size, is required.
- `_grad_single(vars, idx, sgn, hp)`: the negative time derivative of every variable of ONE instance (no batch axis). `vars`: tensors; `idx` (M, 3): \
the variables of each clause; `sgn` (M, 3): +1 or -1; `hp`: the parameters as attributes. Returns a dict with the keys of `vars`. The engine does \
`vars[k] -= hp.lr * grad[k]`, clamps to the bounds and checks the clauses.

Rules, each checked by a gate:
- Only `torch` and `math` may be imported (Python 3). No input, output or global state.
- The function is traced once to a graph of tensor operators: no branch on values of tensors, at most 5,000 operators, and the same graph at every N.
- Applying the state's own update several times in one step is blocked.
- A design whose first steps leave the finite numbers, or that computes what a known one computes, is blocked.

Facts:
- The baseline divides all derivatives by the largest |dv| (at least 1e-6), so that lr is the largest move of a step. Another time scale is allowed.
- Cost is work: median steps times the cost of a step, the baseline's step being 1. All limits are limits of work.
- A simple operation on (N,) adds about 0.15 % to a step, on (M,) 0.65 %, on (M, 3) 2 %. Against a simple operation a division or square root counts \
5, an element gathered 7 or scattered 6, exp, log or tanh 36, a power 110 (write v * v). Equal expressions count once, views nothing.\
"""
