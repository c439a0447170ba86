"""The operators a design may use, and how the host calls one of them.

A white list, by aten name and overload: element-wise arithmetic, reductions, selection and scattering,
shapes. Nothing that reads files, calls back into Python, allocates by data, or keeps state. The list covers
every operator seen in the paper's public designs, with room around it. Random operators are allowed (the
paper's engine maps designs with `randomness="different"`): each step draws from the simulation's own seeded
generator, and such a design runs on the torch engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from evolake.designs.model.graph import RANDOM_OPERATORS, Constant, Dtype, Node, Power, Reference, Symbol

if TYPE_CHECKING:
    import torch


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


UNARY = _words(
    """
    abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sigmoid tanh relu sin cos tan asin acos atan sinh
    cosh asinh acosh atanh erf erfc floor ceil round trunc frac sign sgn logical_not isnan isinf isfinite softplus silu gelu elu
    leaky_relu hardtanh hardsigmoid hardswish mish logit nan_to_num positive bitwise_not softshrink hardshrink threshold relu6
    log_sigmoid_forward celu selu deg2rad rad2deg sinc
    """  # noqa: E501
)
BINARY = _words(
    """
    maximum minimum fmax fmin atan2 hypot logaddexp logaddexp2 logical_and logical_or logical_xor heaviside
    """
)
_SHAPE = _words(
    """
    view _unsafe_view reshape unsqueeze expand repeat permute t clone detach alias lift_fresh_copy lift_fresh cat stack flip roll
    index_select gather take scatter_add index_add index_put index_copy select_scatter slice_scatter constant_pad_nd tril triu
    zeros_like ones_like full_like mm mv dot bmm addmm topk sort argsort cumsum cumprod amax amin argmax argmin logsumexp _softmax
    _log_softmax aminmax kthvalue _to_copy contiguous outer
    """  # noqa: E501
)
_OVERLOADS = _words(
    """
    add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode
    rsub.Tensor rsub.Scalar pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar remainder.Tensor remainder.Scalar fmod.Tensor
    fmod.Scalar floor_divide.default floor_divide.Scalar copysign.Tensor copysign.Scalar xlogy.Tensor xlogy.Scalar_Self
    xlogy.Scalar_Other eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar
    ge.Tensor ge.Scalar bitwise_and.Tensor bitwise_and.Scalar bitwise_or.Tensor bitwise_or.Scalar bitwise_xor.Tensor
    bitwise_xor.Scalar where.self where.ScalarSelf where.ScalarOther where.Scalar clamp.default clamp.Tensor clamp_min.default
    clamp_min.Tensor clamp_max.default clamp_max.Tensor lerp.Scalar lerp.Tensor addcmul.default addcdiv.default max.other
    min.other sum.default sum.dim_IntList mean.default mean.dim nansum.default max.default max.dim min.default min.dim
    prod.default prod.dim_int any.default any.dim any.dims all.default all.dim all.dims var.correction std.correction
    var_mean.correction std_mean.correction var.default std.default linalg_vector_norm.default norm.Scalar norm.ScalarOpt_dim
    median.default median.dim nanmedian.default sort.stable argsort.stable count_nonzero.default count_nonzero.dim_IntList
    squeeze.default squeeze.dim squeeze.dims transpose.int select.int slice.Tensor split.Tensor split_with_sizes.default
    unbind.int index.Tensor scatter.src scatter.value scatter.reduce scatter.value_reduce scatter_reduce.two masked_fill.Scalar
    masked_fill.Tensor index_fill.int_Scalar repeat_interleave.self_int zeros.default ones.default full.default arange.default
    arange.start arange.start_step scalar_tensor.default new_zeros.default new_ones.default new_full.default linspace.default
    eye.default empty.memory_format empty_like.default new_empty.default rand.default randn.default rand_like.default
    randn_like.default uniform.default normal_functional.default randint.default randint.low bernoulli.p bernoulli.default
    """  # noqa: E501
)

ALLOWED = frozenset([*(f"{name}.default" for name in UNARY + BINARY + _SHAPE), *_OVERLOADS, "round.decimals"])
PSEUDO = frozenset({"input", "constant", "getitem"})
EMPTY = frozenset({"empty.memory_format", "empty_like.default", "new_empty.default"})
VIEWS = frozenset({"view.default", "_unsafe_view.default"})
"""Run as reshape: how memory was in the trace does not matter."""
RANDOM = RANDOM_OPERATORS
_FACTORIES = frozenset(
    _words(
        """
        zeros.default ones.default full.default arange.default arange.start arange.start_step scalar_tensor.default
        linspace.default eye.default
        """  # noqa: E501
    )
)
DTYPES = (
    "real",
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
)


@dataclass
class Setting:
    """Where and how nodes are evaluated: the real type, the sizes, the device, and the generator of random
    operators."""

    real: torch.dtype
    batch: int
    n: int
    m: int
    device: str = "cpu"
    generator: torch.Generator | None = None

    def dtype(self, name: str) -> torch.dtype:
        """Return torch's element type of that name; `real` is the setting's."""
        import torch

        return self.real if name == "real" else getattr(torch, name)

    def argument(self, value: Any, values: Any) -> Any:
        """Return a graph argument as what the operator takes."""
        match value:
            case Reference(index):
                return values[index]
            case Symbol():
                return value.at(self.batch, self.n, self.m)
            case Power():
                return value.at(self.n, self.m)
            case Dtype(name):
                return self.dtype(name)
            case tuple():
                return [self.argument(item, values) for item in value]
        return value

    def constant(self, value: Constant) -> torch.Tensor:
        """Return a constant as a tensor."""
        import torch

        return torch.tensor(value.data, dtype=self.dtype(value.dtype), device=self.device).reshape(
            value.shape
        )


@cache
def resolve(operator: str) -> Any:
    """Return the torch function of a listed operator. KeyError for one that is not on the list."""
    import torch

    if operator not in ALLOWED:
        raise KeyError(operator)
    name, overload = operator.split(".")
    return getattr(getattr(torch.ops.aten, name), overload)


def exists(operator: str) -> bool:
    """Return whether this build of torch has the listed operator."""
    try:
        resolve(operator)
    except (AttributeError, KeyError):
        return False
    return True


def evaluate(node: Node, values: list[Any], setting: Setting) -> Any:
    """Return the value of one node (not an input) from the values of the nodes before it. Uninitialised
    tensors are zeros."""
    if node.operator == "constant":
        return setting.constant(node.args[0])
    if node.operator == "getitem":
        return values[node.args[0].index][node.args[1]]
    args = [setting.argument(arg, values) for arg in node.args]
    kwargs = {key: setting.argument(value, values) for key, value in node.kwargs}
    return call(node.operator, args, kwargs, setting)


def call(operator: str, args: list[Any], kwargs: dict[str, Any], setting: Setting) -> Any:
    """Return one operator on real arguments."""
    import torch

    if operator in VIEWS:
        return torch.reshape(args[0], args[1])
    if operator in EMPTY:
        return _zeros(operator, args, kwargs, setting)
    if operator in RANDOM:
        return _random(operator, args, kwargs, setting)
    if operator in _FACTORIES:
        if "dtype" not in kwargs and operator in (
            "zeros.default",
            "ones.default",
            "linspace.default",
            "eye.default",
            "scalar_tensor.default",
        ):
            kwargs = kwargs | {"dtype": setting.real}
        if operator == "full.default" and "dtype" not in kwargs and isinstance(args[1], float):
            kwargs = kwargs | {"dtype": setting.real}
        if (
            operator.startswith("arange")
            and "dtype" not in kwargs
            and any(isinstance(arg, float) for arg in args)
        ):
            kwargs = kwargs | {"dtype": setting.real}
        return resolve(operator)(*args, **kwargs, device=torch.device(setting.device))
    if operator == "round.decimals" and "decimals" not in kwargs:
        return torch.round(*args)
    result = resolve(operator)(*args, **kwargs)
    if (
        setting.real == torch.get_default_dtype()
        or "dtype" in kwargs
        or not _made_real(result, [args, kwargs.values()])
    ):
        return result
    return _in_real_type(operator, args, kwargs, setting)


def _made_real(result: Any, arguments: Any) -> bool:
    """Return whether an operator made reals of truth values and whole numbers alone: torch then takes its
    default type, not the run's."""
    import torch

    results = result if isinstance(result, list | tuple) else [result]
    made = any(isinstance(item, torch.Tensor) and item.dtype == torch.get_default_dtype() for item in results)
    return made and not any(item.is_floating_point() for item in _tensors(arguments))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif not isinstance(value, str | bytes) and isinstance(value, Iterable):
        for item in value:
            yield from _tensors(item)


def _in_real_type(operator: str, args: list[Any], kwargs: dict[str, Any], setting: Setting) -> Any:
    """Return the operator on its arguments as reals of the run's type; a condition stays one."""
    import torch

    def real(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(setting.real)
        return [real(item) for item in value] if isinstance(value, list) else value

    if operator.startswith("where."):
        sides = [
            real(side)
            if isinstance(side, torch.Tensor)
            else torch.tensor(side, dtype=setting.real, device=setting.device)
            for side in args[1:]
        ]
        return torch.where(args[0], *sides)
    return resolve(operator)(
        *(real(arg) for arg in args), **{key: real(value) for key, value in kwargs.items()}
    )


def _zeros(operator: str, args: list[Any], kwargs: dict[str, Any], setting: Setting) -> torch.Tensor:
    import torch

    dtype = kwargs.get("dtype")
    if operator == "empty.memory_format":
        return torch.zeros(args[0], dtype=dtype or setting.real, device=setting.device)
    if operator == "empty_like.default":
        return torch.zeros_like(args[0], dtype=dtype)
    return args[0].new_zeros(args[1], dtype=dtype)


def _random(operator: str, args: list[Any], kwargs: dict[str, Any], setting: Setting) -> torch.Tensor:
    """Draws in row-major order from the setting's generator; on the meta device only the shape matters."""
    import torch

    if setting.device not in ("cpu", "meta"):
        here = Setting(setting.real, setting.batch, setting.n, setting.m, "cpu", setting.generator)
        local = [arg.cpu() if isinstance(arg, torch.Tensor) else arg for arg in args]
        return _random(operator, local, kwargs, here).to(setting.device)
    generator, device = setting.generator, setting.device
    like = args[0] if isinstance(args[0], torch.Tensor) else None
    shape = tuple(like.shape) if like is not None else None
    dtype = kwargs.get("dtype") or (like.dtype if like is not None else None)
    options: dict[str, Any] = {"dtype": dtype or setting.real, "device": device, "generator": generator}
    extent: Any = shape if shape is not None else args[0]
    match operator:
        case "rand.default" | "rand_like.default":
            return torch.rand(extent, **options)
        case "randn.default" | "randn_like.default":
            return torch.randn(extent, **options)
        case "uniform.default":
            low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
            return torch.rand(shape or (), **options) * (
                kwargs.get("to", high) - kwargs.get("from", low)
            ) + kwargs.get("from", low)
        case "normal_functional.default":
            mean, std = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
            return torch.randn(shape or (), **options) * kwargs.get("std", std) + kwargs.get("mean", mean)
        case "randint.default" | "randint.low":
            low, high, size = (0, *args) if operator == "randint.default" else args
            return torch.randint(
                low, high, size, dtype=dtype or torch.int64, device=device, generator=generator
            )
        case "bernoulli.p" | "bernoulli.default":
            chance = args[1] if operator == "bernoulli.p" else args[0]
            assert like is not None
            return (
                torch.rand(like.shape, dtype=setting.real, device=device, generator=generator) < chance
            ).to(like.dtype)
    raise KeyError(operator)
