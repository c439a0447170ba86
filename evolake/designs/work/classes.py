"""Sorts operators into classes of about equal cost an element (`prices.toml`).

Of expressions of a kernel: simple (one arithmetic operation, comparison or choice), divide, root, whole (a
rounding), functions by their name, power, gather (the value of a literal's variable), scatter (one literal's
share added to its variable), reduce (one element of a sum or maximum over all), state (a number of the state
read and written), turn (one element of a loop over variables or clauses, next to what is computed there),
free (a name, a constant).

Of operators of torch: simple, divide, function, power, gather, scatter, reduce; sort (one element in one of
the log2(n) rounds of a sort), pick (a median), few (the largest few), scan (a running sum), product (one
multiplication with its addition), draw (a random number), move (a number copied), free (a view).
"""

from __future__ import annotations

from evolake.designs.model.graph import RANDOM_OPERATORS

_EXPRESSIONS: dict[str, str] = {
    "div": "divide",
    "sqrt": "root",
    "pow": "power",
    **{name: name for name in ("gather", "scatter", "reduce", "exp", "expm1", "tanh", "sigmoid", "log")},
    "log1p": "log",
    **dict.fromkeys(("floor", "ceil", "trunc"), "whole"),
    **dict.fromkeys(("literal", "slot", "external", "state", "index", "sign"), "free"),
}
"""Of `evolake.designs.compiler.expression`; all others are simple. A state is counted where it is moved."""


def _names(text: str, kind: str) -> dict[str, str]:
    return dict.fromkeys(text.split(), kind)


_TORCH: dict[str, str] = {
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
        "sinc atan2 hypot logaddexp logaddexp2 xlogy _softmax _log_softmax logsumexp",
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
    **_names("sort argsort", "sort"),
    **_names("kthvalue median nanmedian", "pick"),
    "topk": "few",
    **_names("cumsum cumprod", "scan"),
    **_names("mm mv dot bmm addmm outer", "product"),
    **{name.partition(".")[0]: "draw" for name in RANDOM_OPERATORS},
}
"""Of aten, by name without the overload; all others are simple."""


def class_of_expression(operator: str) -> str:
    """Return the class of an expression's operator."""
    return _EXPRESSIONS.get(operator, "simple")


def class_of_torch(operator: str) -> str:
    """Return the class of an aten operator. Its overload does not matter. A maximum of two tensors is simple,
    that of one is a reduction."""
    name, _, overload = operator.partition(".")
    return "simple" if name in ("max", "min") and overload == "other" else _TORCH.get(name, "simple")
