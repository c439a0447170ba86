"""The kernels' own exp, log and kin, against longer numbers, over their whole range."""

import ctypes

import llvmlite.binding as llvm
import numpy as np
import pytest

from evolake.designs.compiler.kernel_build import _machine, compiled
from evolake.designs.compiler.kernel_emit import _declarations
from evolake.designs.compiler.kernel_math import definitions
from evolake.designs.compiler.kernel_text import TYPES

ENGINES = []


def caller(name: str, dtype: str, arguments: int = 1):
    """The vector function as one on arrays whose length is a multiple of the lanes."""
    types = TYPES[dtype]
    pointers = ", ".join(f"ptr %p{place}" for place in range(arguments))
    loads = "".join(
        f"  %a{place} = getelementptr {types.real}, ptr %p{place}, i64 %i\n  %x{place} = load "
        f"{types.vector}, ptr %a{place}, align 4\n"
        for place in range(arguments)
    )
    inside = ", ".join(f"{types.vector} %x{place}" for place in range(arguments))
    text = (
        "\n".join(_declarations(dtype))
        + definitions(types)
        + f"""
define void @go({pointers}, ptr %out, i64 %n) {{
entry:
  br label %top
top:
  %i = phi i64 [ 0, %entry ], [ %next, %top ]
{loads}  %y = call {types.vector} @v_{name}({inside})
  %o = getelementptr {types.real}, ptr %out, i64 %i
  store {types.vector} %y, ptr %o, align 4
  %next = add i64 %i, {types.lanes}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %top, label %end
end:
  ret void
}}
"""
    )
    machine = _machine()
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(""), machine["target"].create_target_machine(**machine["options"])
    )
    engine.add_object_file(llvm.ObjectFileRef.from_data(compiled(text)))
    engine.finalize_object()
    ENGINES.append(engine)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arguments + 1), ctypes.c_int64)(
        engine.get_function_address("go")
    )

    def run(*arrays: np.ndarray) -> np.ndarray:
        given = [np.ascontiguousarray(array, dtype=dtype) for array in arrays]
        out = np.zeros_like(given[0])
        function(*(array.ctypes.data for array in given), out.ctypes.data, len(out))
        return out

    return run


def ulps(got: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units in the last place of the result."""
    rounded = exact.astype(got.dtype)
    size = np.maximum(np.abs(rounded), np.finfo(got.dtype).tiny)
    return float(np.max(np.abs(got.astype(np.longdouble) - exact) / np.spacing(size).astype(np.longdouble)))


def points(low: float, high: float, count: int = 160_000) -> np.ndarray:
    return np.random.default_rng(0).uniform(low, high, count)


RANGES = {
    "exp": (np.exp, points(-87, 88.5), 1.5),
    "log": (np.log, np.exp(points(-85, 85)), 2.0),
    "expm1": (np.expm1, points(-20, 80), 4.0),
    "log1p": (np.log1p, np.concatenate([points(-0.99, 4), np.exp(points(-20, 80))]), 4.0),
    "tanh": (np.tanh, points(-12, 12), 4.0),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), points(-79, 100), 3.0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RANGES)
def test_errors_stay_within_a_few_units_in_the_last_place(name, dtype):
    function, at, most = RANGES[name]
    x = at.astype(dtype)
    assert ulps(caller(name, dtype)(x), function(x.astype(np.longdouble))) < most


def test_float32_powers_are_good_to_two_units():
    base, exponent = (
        np.exp(points(-8, 8)).astype(np.float32),
        np.random.default_rng(1).uniform(-8, 8, 160_000).astype(np.float32),
    )
    exact = base.astype(np.longdouble) ** exponent.astype(np.longdouble)
    assert ulps(caller("pow", "float32", 2)(base, exponent), exact) < 2.0


def test_float64_powers_are_good_to_a_trillionth():
    base, exponent = np.exp(points(-8, 8)), np.random.default_rng(1).uniform(-8, 8, 160_000)
    assert np.max(np.abs(caller("pow", "float64", 2)(base, exponent) / base**exponent - 1)) < 1e-12


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -2.0, 2.0, 1e-40, 3e38, -3e38, 0.5, 0.3, 120.0, -120.0]
)


@pytest.mark.parametrize("name", ["exp", "log", "expm1", "log1p", "tanh"])
def test_special_values_come_out_as_numpy_has_them(name):
    x = SPECIAL.astype(np.float32)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    assert np.allclose(caller(name, "float32")(x), expected, rtol=1e-6, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.7, 1.7, np.nan])
def test_special_powers_come_out_as_numpy_has_them(exponent, dtype):
    x = SPECIAL.astype(dtype)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), float(np.dtype(dtype).type(exponent))).astype(dtype)
    got = caller("pow", dtype, 2)(x, np.full_like(x, exponent))
    assert np.allclose(np.abs(got), np.abs(expected), rtol=1e-6, atol=1e-37, equal_nan=True)
    assert (
        np.array_equal(
            np.signbit(got) & (got != 0), np.signbit(expected) & (expected != 0) & ~np.isnan(expected)
        )
        or np.isnan(expected).any()
    )
