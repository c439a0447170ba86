"""From a design file to a checked graph: the jail traces, the host checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evolake.designs.model.boundary import alone, shown
from evolake.designs.model.contract import (
    DEFAULT_LEARNING_RATE,
    MAX_SOURCE_BYTES,
    Blocked,
    Hyper,
    HyperValue,
    TracedDesign,
    Variable,
    identity,
)
from evolake.designs.model.graph_check import Fits, check_all, check_gradient, check_initial
from evolake.designs.model.spec import MAX_ENTRIES, checked_hyper, checked_variable, outside
from evolake.errors import InputError

if TYPE_CHECKING:
    from evolake.jail import Limits, Outcome

LARGEST_RATE = 1e300
DRIVER = "evolake.designs.tracing.driver:trace"
PRELOAD = ("torch", "numpy", "evolake.designs.tracing.preload")
"""What a pool should preload to trace quickly: `open_pool(preload=PRELOAD)`."""


def default_limits() -> Limits:
    """Of one trace: 20 s of cpu, 40 s of wall, 4 GiB, 8 MB of reply."""
    from evolake.jail import Limits

    return Limits(cpu_s=20.0, wall_s=40.0, memory_mb=4096, output_bytes=8_000_000)


def trace(
    source: str,
    *,
    pool: Any,
    hyper: dict[str, HyperValue] | None = None,
    dtype: str = "float32",
    size: tuple[int, int] | None = None,
    limits: Limits | None = None,
    fits: Fits = check_all,
) -> TracedDesign | Blocked:
    """Trace a design in the jail and check what comes back.

    Args:
        source: the text of the file. pool: an open pool of evolake.jail (best opened with `preload=PRELOAD`).
        hyper: values that replace defaults; each must be in its range.
        dtype: "float32", as in the paper's framework, or "float64".
        size: (N, M) to fall back on for a design whose graph has no common form for all sizes; the result
            then holds for that size only.
        fits: where shapes are worked out, which needs torch.

    Raises:
        InputError: an unknown hyperparameter or a value outside its range, an unknown dtype.
        MachineryError: the jail itself failed.
    """
    if dtype not in ("float32", "float64"):
        raise InputError("a design cannot be traced in this type", wanted="float32 or float64", got=dtype)
    if len(source.encode(errors="backslashreplace")) > MAX_SOURCE_BYTES:
        return Blocked(f"the file is larger than {MAX_SOURCE_BYTES} bytes", "load")
    hyper = dict(hyper or {})
    payload = {"hyper": hyper, "dtype": dtype, "size": None}
    result = _attempt(source, pool, payload, limits or default_limits(), fits)
    if isinstance(result, Blocked) and result.gate == "size" and size is not None:
        payload["size"] = list(size)
        result = _attempt(source, pool, payload, limits or default_limits(), fits)
    return result


def _attempt(
    source: str, pool: Any, payload: dict[str, Any], limits: Limits, fits: Fits
) -> TracedDesign | Blocked:
    outcome = pool.call(driver=DRIVER, source=source, payload=payload, limits=limits)
    if outcome.status != "ok":
        return _blocked_by_jail(outcome)
    reply = outcome.value
    if (
        not isinstance(reply, dict)
        or not isinstance(reply.get("status"), str)
        or reply["status"] not in ("traced", "blocked")
    ):
        return Blocked("the reply is not that of a trace", "jail")
    if reply["status"] == "blocked":
        return Blocked(str(reply.get("reason", ""))[:500], str(reply.get("gate", "trace"))[:20])
    size = tuple(payload["size"]) if payload["size"] else None
    return accept(reply, payload["hyper"], payload["dtype"], size, fits)


def _blocked_by_jail(outcome: Outcome) -> Blocked:
    if outcome.status == "error":
        return Blocked(f"tracing raised {outcome.reason}"[:500], "trace")
    return Blocked(f"{outcome.status}: {outcome.reason}"[:500], "jail")


def accept(
    reply: Any, hyper: dict[str, HyperValue], dtype: str, size: tuple[int, int] | None, fits: Fits = check_all
) -> TracedDesign | Blocked:
    """Return the design in a driver's reply, if it passes the host's checks; `hyper` are the values
    that were asked for.

    The reply may be anything that JSON can say. What reading it raises is the design's fault, a block.

    Raises:
        InputError: a value of `hyper` that the design does not take.
    """
    return alone(
        lambda: _accepted(reply, hyper, dtype, size, fits),
        lambda reason: Blocked(reason, "contract"),
        passing=(InputError,),
    )


def _accepted(
    reply: Any, hyper: dict[str, HyperValue], dtype: str, size: tuple[int, int] | None, fits: Fits
) -> TracedDesign | Blocked:
    try:
        variables = tuple(_variable(item) for item in reply["variables"])
        hypers = tuple(_hyper(item) for item in reply["hypers"])
        graphs = reply["graph"]
        raw_gradient, raw_initial = graphs["gradient"], dict(graphs["initial"])
    except (KeyError, TypeError, ValueError) as error:
        return Blocked(f"{error}"[:500], "contract")
    if (
        len(variables) > MAX_ENTRIES
        or len(hypers) > MAX_ENTRIES
        or len({item.name for item in hypers}) != len(hypers)
    ):
        return Blocked(f"more than {MAX_ENTRIES} entries, or two of one name", "contract")
    if len({item.name for item in variables}) != len(variables) or not any(
        item.name == "v" and item.shape == ("B", "N") for item in variables
    ):
        return Blocked("the variables are not those of a design", "contract")
    values = _values(hypers, hyper)
    rate = values.get("lr", DEFAULT_LEARNING_RATE)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not abs(rate) <= LARGEST_RATE:
        return Blocked(f"the learning rate lr is {shown(rate)}, wanted a finite number", "contract")
    gradient = check_gradient(raw_gradient, variables, size, fits)
    if isinstance(gradient, Blocked):
        return gradient
    initial = {}
    for variable in variables:
        graph = check_initial(raw_initial.get(variable.name), variable, size, fits)
        if isinstance(graph, Blocked):
            return Blocked(f"init of {variable.name!r}: {graph.reason}", graph.gate)
        initial[variable.name] = graph.to_json()
    checked = {"gradient": gradient.to_json(), "initial": initial}
    return TracedDesign(variables, hypers, values, checked, identity(variables, checked, values), dtype, size)


def _entry(item: Any, length: int) -> list[Any]:
    if not isinstance(item, list) or len(item) != length:
        raise ValueError("an entry of the reply is not of its form")
    return item


def _variable(item: Any) -> Variable:
    name, shape, low, high = _entry(item, 4)
    return checked_variable(name, shape, (low, high))


def _hyper(item: Any) -> Hyper:
    name, kind, default, low, high, choices = _entry(item, 6)
    return checked_hyper(name, kind, default, low, high, choices)


def _values(hypers: tuple[Hyper, ...], wanted: dict[str, HyperValue]) -> dict[str, HyperValue]:
    known = {hyper.name: hyper for hyper in hypers}
    for name, value in wanted.items():
        if name not in known:
            raise InputError(
                f"no hyperparameter {name!r}",
                wanted=f"one of {', '.join(sorted(known)) or 'none'}",
                do="correct the name",
            )
        problem = outside(known[name], value)
        if problem:
            raise InputError(f"hyperparameter {name!r}: {problem}", do="choose a value in its range")
    return {hyper.name: wanted.get(hyper.name, hyper.default) for hyper in hypers}
