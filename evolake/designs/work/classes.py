"""Sorts operators into classes of about equal cost an element, for expressions of a kernel and for operators
of torch.

simple    one arithmetic operation, comparison or choice      divide    a division or square root
function  exp, log, tanh and the like                         power     one number to the power of another
gather    the value of a literal's variable                   scatter   one literal's share added to its variable
reduce    one element of a sum or maximum over all            state     a number of the state read and written
turn      one element of a loop over variables or clauses, next to what is computed there
sort      one element in one of the log2(n) rounds of a sort  scan      one element of a running sum
product   one multiplication with its addition in a product of matrices
draw      one random number                                   move      one number copied
free      no work: a view, a name, a constant
"""  # noqa: E501

from __future__ import annotations

from typing import Literal

from evolake.designs.model.graph import RANDOM_OPERATORS

CostClass = Literal[
    "simple",
    "divide",
    "function",
    "power",
    "gather",
    "scatter",
    "reduce",
    "state",
    "turn",
    "sort",
    "scan",
    "product",
    "draw",
    "move",
    "free",
]

_EXPRESSIONS: dict[str, CostClass] = {
    "div": "divide",
    "sqrt": "divide",
    "pow": "power",
    "gather": "gather",
    "scatter": "scatter",
    "reduce": "reduce",
    **dict.fromkeys(("exp", "log", "log1p", "expm1", "sigmoid", "tanh"), "function"),
    **dict.fromkeys(("literal", "slot", "external", "state", "index", "sign"), "free"),
}
"""Of `evolake.designs.compiler.expression`; all others are simple. A state is counted where it is moved."""


def _names(text: str, kind: CostClass) -> dict[str, CostClass]:
    return dict.fromkeys(text.split(), kind)


_TORCH: dict[str, CostClass] = {
    **_names(
        "input constant getitem view _unsafe_view reshape unsqueeze squeeze expand permute transpose t "
        "detach alias select slice split split_with_sizes unbind positive contiguous arange eye linspace "
        "scalar_tensor zeros ones full empty",
        "free",
    ),
    **_names(
        "clone lift_fresh lift_fresh_copy cat stack flip roll repeat repeat_interleave tril triu "
        "constant_pad_nd select_scatter slice_scatter masked_fill index_fill zeros_like ones_like "
        "full_like new_zeros new_ones new_full new_empty empty_like _to_copy",
        "move",
    ),
    **_names("div reciprocal sqrt rsqrt floor_divide remainder fmod addcdiv", "divide"),
    **_names(
        "exp exp2 expm1 log log2 log10 log1p sigmoid tanh sin cos tan asin acos atan sinh cosh asinh "
        "acosh atanh erf erfc softplus silu gelu elu hardswish mish logit log_sigmoid_forward celu selu "
        "sinc atan2 logaddexp logaddexp2 xlogy _softmax _log_softmax logsumexp",
        "function",
    ),
    **_names("pow", "power"),
    **_names("index index_select gather take", "gather"),
    **_names("scatter scatter_add scatter_reduce index_add index_put index_copy", "scatter"),
    **_names(
        "sum mean nansum max min amax amin prod any all argmax argmin var std var_mean linalg_vector_norm "
        "norm count_nonzero aminmax",
        "reduce",
    ),
    **_names("sort topk argsort kthvalue median nanmedian", "sort"),
    **_names("cumsum cumprod", "scan"),
    **_names("mm mv dot bmm addmm outer", "product"),
    **{name.partition(".")[0]: "draw" for name in RANDOM_OPERATORS},
}
"""Of aten, by name without the overload; all others are simple."""


def class_of_expression(operator: str) -> CostClass:
    """Return the class of an expression's operator."""
    return _EXPRESSIONS.get(operator, "simple")


def class_of_torch(operator: str) -> CostClass:
    """Return the class of an aten operator. Its overload does not matter. A maximum of two tensors is simple,
    that of one is a reduction."""
    name, _, overload = operator.partition(".")
    return "simple" if name in ("max", "min") and overload == "other" else _TORCH.get(name, "simple")
